import { BellOff, ChevronDown, Hand, type LucideIcon, Map as MapIcon, PencilLine, ShieldOff } from "lucide-react";
import { sentence, useAnswer, useClient, useLive, useSession } from "../host/context";
import { Icon, Menu, MenuItem } from "../parts/controls";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { composerWords } from "./words";

/** The permission mode of the session's next calls. */
export function ModePicker() {
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
      trigger={
        <button type="button" className={`pick ${current.id}`} aria-label={`${w.mode}: ${current.name}`}>
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

/** The model of the session's next turns: those that can be used first. */
export function ModelPicker() {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const chosen = useLive((l) => l.meta.model ?? "");
  const { data } = useAnswer("list_models", {});
  const models = [...(data?.models ?? [])].sort((a, b) => Number(b.hasKey) - Number(a.hasKey));
  if (models.length === 0 && chosen === "") return null;
  const short = (ref: string) => ref.split("/").at(-1) ?? ref;
  return (
    <Menu
      label={w.model}
      trigger={
        <button type="button" className="pick" aria-label={`${w.model}: ${chosen || w.noModel}`}>
          <span className="trunc">{chosen ? short(chosen) : w.model}</span>
          <Icon of={ChevronDown} />
        </button>
      }
    >
      {models.map((m) => (
        <MenuItem
          key={m.ref}
          disabled={!m.hasKey}
          onSelect={() => client.call("update_info", { changes: { model: m.ref } }, { sessionId }).catch((e) => tell(sentence(e)))}
        >
          <span className="grow trunc">{m.ref}</span>
          {!m.hasKey && <span className="t3">{w.noKey}</span>}
        </MenuItem>
      ))}
    </Menu>
  );
}
