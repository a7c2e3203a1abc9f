import { Command } from "cmdk";
import { useState } from "react";
import { useAnswer } from "../host/context";
import { Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { short } from "../words/format";
import { useWords } from "../words/index";
import { startWords } from "./startwords";

/** Models that are drawn; typing narrows the list. */
const maxShown = 100;

/** Picks a model among those that can be called. */
export default function ModelPicker({ current, onPick, onClose }: { current: string; onPick(ref: string): void; onClose(): void }) {
  const w = useWords(startWords);
  const models = useAnswer("list_models", {});
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (models.data?.models ?? []).filter((m) => m.hasKey && words.every((x) => m.ref.toLowerCase().includes(x)));
  return (
    <Dialog open onClose={onClose} title={w.chooseModel}>
      <Command shouldFilter={false} label={w.chooseModel} defaultValue={current}>
        <Command.Input className="input" placeholder={w.findModel} value={text} onValueChange={setText} />
        <ErrorLine error={models.error} />
        <Command.List className="folders">
          {found.slice(0, maxShown).map((m) => (
            <Command.Item key={m.ref} value={m.ref} className="mi" onSelect={() => onPick(m.ref)}>
              <span className="mono trunc">{m.ref}</span>
              <span className="t3 right num">{m.contextWindow > 0 && short(m.contextWindow)}</span>
            </Command.Item>
          ))}
        </Command.List>
        {models.data && found.length === 0 && <p className="t3">{w.noModelFound}</p>}
      </Command>
    </Dialog>
  );
}
