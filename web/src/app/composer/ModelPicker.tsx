import { Command } from "cmdk";
import { ClosedByBack } from "../parts/back";
import { Popover } from "radix-ui";
import { type ReactNode, useState } from "react";
import type { ModelInfo } from "../../protocol/index";
import { useAnswer } from "../host/context";
import { ErrorLine } from "../parts/ErrorLine";
import { hrefOf } from "../route";
import { money, short } from "../words/format";
import { useWords } from "../words/index";
import { composerWords } from "./words";

/** Models that are drawn of each group; typing narrows the list. */
const maxShown = 60;

/** Picks a model: those that can be used first; the others are found by typing, and what they need is said. Children is the button that it belongs to. */
export default function ModelPicker({
  current,
  onPick,
  onClose,
  children,
}: {
  current: string;
  onPick(ref: string): void;
  onClose(): void;
  children: ReactNode;
}) {
  const w = useWords(composerWords);
  const models = useAnswer("list_models", {});
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (models.data?.models ?? []).filter((m) => words.every((x) => m.ref.toLowerCase().includes(x)));
  const named = found.filter((m) => m.hasKey && !m.ref.includes("/"));
  const ready = found.filter((m) => m.hasKey && m.ref.includes("/"));
  const keyless = found.filter((m) => !m.hasKey);
  const shownKeyless = words.length > 0 ? keyless.slice(0, maxShown) : [];
  const pick = (ref: string) => {
    onClose();
    onPick(ref);
  };
  return (
    <Popover.Root open onOpenChange={(on) => !on && onClose()}>
      <Popover.Anchor asChild>{children}</Popover.Anchor>
      <Popover.Portal>
        <Popover.Content
          className="menu modelpop"
          side="top"
          align="start"
          sideOffset={6}
          collisionPadding={8}
          aria-label={w.model}
          onCloseAutoFocus={toBox}
        >
          <ClosedByBack onClose={onClose} />
          <Command shouldFilter={false} vimBindings={false} label={w.model} defaultValue={current} loop>
            <Command.Input className="input" placeholder={w.findModel} value={text} onValueChange={setText} />
            <ErrorLine error={models.error} />
            <Command.List className="modellist">
              <Group heading={w.named} models={named.slice(0, maxShown)} current={current} onPick={pick} />
              <Group heading={w.ready} models={ready.slice(0, maxShown)} current={current} onPick={pick} />
              <Group heading={w.needKey} models={shownKeyless} current={current} onPick={pick} />
            </Command.List>
            {models.data && found.length === 0 && <p className="t3 note2">{w.noModelFound}</p>}
            {keyless.length > shownKeyless.length && <p className="t3 note2">{w.moreModels(keyless.length - shownKeyless.length)}</p>}
            {keyless.length > 0 && (
              <p className="note2">
                <a href={hrefOf({ at: "panel", panel: "settings", section: "models" })}>{w.addKey}</a>
              </p>
            )}
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** It may have been opened by a command, so the focus goes where a person goes on. */
function toBox(e: Event): void {
  e.preventDefault();
  document.getElementById("composer")?.focus();
}

function Group({
  heading,
  models,
  current,
  onPick,
}: {
  heading: string;
  models: readonly ModelInfo[];
  current: string;
  onPick(ref: string): void;
}) {
  const w = useWords(composerWords);
  if (models.length === 0) return null;
  return (
    <Command.Group heading={heading}>
      {models.map((m) => {
        const usd = m.price && w.price(money(m.price.input), money(m.price.output));
        const about = m.hasKey ? [usd, m.images && w.images, m.thinking && w.thinks].filter(Boolean).join(" · ") : w.noKey;
        return (
          <Command.Item key={m.ref} value={m.ref} disabled={!m.hasKey} className="mi" aria-current={m.ref === current} onSelect={onPick}>
            <span className="grow">
              <span className="mono trunc modelname">{m.ref}</span>
              {about && <span className="t2 modelabout">{about}</span>}
            </span>
            <span className="t3 num">{m.contextWindow > 0 && short(m.contextWindow)}</span>
          </Command.Item>
        );
      })}
    </Command.Group>
  );
}
