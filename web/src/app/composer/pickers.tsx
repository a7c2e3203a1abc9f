import { BellOff, ChevronDown, Hand, Lightbulb, type LucideIcon, Map as MapIcon, PencilLine, ShieldOff } from "lucide-react";
import { ClosedByBack } from "../parts/back";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { sentence, useClient, useLive, useSession } from "../host/context";
import { Icon, Menu, MenuItem } from "../parts/controls";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import type { InForce } from "./inforce";
import type { Picking } from "./own";
import { composerWords } from "./words";
import { lazy } from "../parts/lazy";

const ModelPicker = lazy(
  () => import("./ModelPicker"),
  (props) => props.children,
);

/** What the next turns are answered with. Which list is open is the composer's: commands open them, too. */
export function Pickers({ inForce, open, onOpen }: { inForce: InForce; open: Picking | undefined; onOpen(p: Picking | undefined): void }) {
  const toggle = (p: Picking) => (on: boolean) => onOpen(on ? p : undefined);
  return (
    <>
      <ModePicker open={open === "mode"} onOpen={toggle("mode")} />
      <ModelButton model={inForce.model} open={open === "model"} onOpen={toggle("model")} />
      {inForce.levels.length > 0 && (
        <ThinkingPicker level={inForce.thinking} levels={inForce.levels} open={open === "thinking"} onOpen={toggle("thinking")} />
      )}
    </>
  );
}

interface Opened {
  open: boolean;
  onOpen(on: boolean): void;
}

/** The permission mode of the session's next calls. */
function ModePicker({ open, onOpen }: Opened) {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const mode = useLive((l) => l.mode) || "default";
  const modes: { id: string; icon: LucideIcon; name: string; about: string }[] = [
    { id: "default", icon: Hand, name: w.modeDefault, about: w.modeDefaultAbout },
    { id: "acceptEdits", icon: PencilLine, name: w.modeAcceptEdits, about: w.modeAcceptEditsAbout },
    { id: "plan", icon: MapIcon, name: w.modePlan, about: w.modePlanAbout },
    { id: "dontAsk", icon: BellOff, name: w.modeDontAsk, about: w.modeDontAskAbout },
    { id: "bypassPermissions", icon: ShieldOff, name: w.modeBypass, about: w.modeBypassAbout },
  ];
  const current = modes.find((m) => m.id === mode) ?? modes[0];
  if (!current) return null;
  return (
    <Menu
      label={w.mode}
      open={open}
      onOpen={onOpen}
      trigger={
        <button type="button" className={`pick whole ${current.id}`} aria-label={`${w.mode}: ${current.name}`}>
          <Icon of={current.icon} />
          <span className="pickname">{current.name}</span>
          <Icon of={ChevronDown} />
        </button>
      }
    >
      {modes.map((m) => (
        <MenuItem
          key={m.id}
          of={m.icon}
          onSelect={() => client.call("set_mode", { mode: m.id }, { sessionId }).catch((e) => tell(sentence(e)))}
        >
          <span>
            {m.name}
            <span className="t3 about">{m.about}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}

/** The model of the session's next turns. The list is loaded when it is opened. */
function ModelButton({ model, open, onOpen }: Opened & { model: string }) {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const face: ReactNode = (
    <button
      type="button"
      className="pick"
      aria-label={`${w.model}: ${model || w.noModel}`}
      aria-haspopup="dialog"
      aria-expanded={open}
      title={model}
      onClick={() => onOpen(!open)}
    >
      <span className="trunc">{model ? (model.split("/").at(-1) ?? model) : w.model}</span>
      <Icon of={ChevronDown} />
    </button>
  );
  if (!open) return face;
  const pick = (ref: string) => void client.call("update_info", { changes: { model: ref } }, { sessionId }).catch((e) => tell(sentence(e)));
  return (
    <ModelPicker current={model} onPick={pick} onClose={() => onOpen(false)}>
      {face}
    </ModelPicker>
  );
}

/** How much the model of the session thinks. */
function ThinkingPicker({ level, levels, open, onOpen }: Opened & { level: string; levels: readonly string[] }) {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const pick = (l: string) =>
    void client.call("update_info", { changes: { thinkingLevel: l } }, { sessionId }).catch((e) => tell(sentence(e)));
  return (
    <DropdownMenu.Root modal={false} open={open} onOpenChange={onOpen}>
      <DropdownMenu.Trigger asChild>
        <button type="button" className="pick whole" aria-label={w.thinkingLevel(level || w.thinkingOwn)} title={w.thinking}>
          <Icon of={Lightbulb} />
          <span className="pickname">{level || w.thinking}</span>
          <Icon of={ChevronDown} />
        </button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu levels" align="start" sideOffset={4} collisionPadding={8} aria-label={w.thinking}>
          <ClosedByBack onClose={() => onOpen(false)} />
          <DropdownMenu.RadioGroup value={level} onValueChange={pick}>
            {levels.map((l) => (
              <DropdownMenu.RadioItem key={l} value={l} className="mi">
                {l}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
