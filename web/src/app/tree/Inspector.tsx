/** The message that is selected in the tree: what it is, and where one can go from it. */
import { ArrowRightLeft, ChevronsDownUp, ChevronsUpDown, CornerDownRight, GitBranch, MessagesSquare, Pencil, Tag, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { newSessionID } from "../../client/index";
import type { EventID } from "../../protocol/index";
import { useAction, useClient, useMay, useSession } from "../host/context";
import { Button, Dialog, Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { go } from "../route";
import { count, fullTime } from "../words/format";
import { useWords } from "../words/index";
import { askMove } from "./asked";
import type { TreeRow } from "./layout";
import { movesOf } from "./moves";
import type { TreeBuilder } from "./nodes";
import { lineOf } from "./line";
import { treeWords } from "./words";

export function Inspector({
  row,
  builder,
  active,
  name,
  onName,
  onFold,
  onHide,
}: {
  row: TreeRow;
  builder: TreeBuilder;
  active: boolean;
  name: string;
  onName(): void;
  onFold(): void;
  /** Hides it, where it covers a part of the list. */
  onHide(): void;
}) {
  const w = useWords(treeWords);
  const client = useClient();
  const session = useSession();
  const { sessionId } = session;
  const may = useMay("control");
  const { node } = row;
  const moves = movesOf(builder, node, active, w);
  const isHere = node === builder.nodeOf(builder.leaf);
  const inView = active && node.kind === "said" && session.projection.path.some((e) => e.id === node.id);
  const clone = useAction(async () => {
    const id = newSessionID();
    const made = await client.call(
      "clone_session",
      { fromSessionId: sessionId, fromEventId: node.kind === "said" ? node.id : node.last },
      { sessionId: id },
    );
    for (const n of made.notices ?? []) tell(n);
    go({ at: "session", id });
  });
  const facts: [string, string][] = [
    [w.when, fullTime(node.at)],
    [w.branch, active ? w.current : w.other],
    ...(node.steps > 0 ? [[w.stepsOf, count(node.steps)] as [string, string]] : []),
    ...(node.model ? [[w.model, node.model.split("/").at(-1) ?? node.model] as [string, string]] : []),
    ...(name ? [[w.name, name] as [string, string]] : []),
  ];
  return (
    <aside className="insp" aria-label={w.selected}>
      <header>
        <h2>{lineOf(node, w)}</h2>
        <IconButton className="insphide" of={X} name={w.unselect} onClick={onHide} />
      </header>
      <dl>
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ErrorLine error={clone.error} />
      {isHere && <p className="t3">{w.isHere}</p>}
      <div className="acts">
        {may &&
          moves.map((m, i) => (
            <Button key={m.title} look={i === 0 ? "ink" : "edge"} onClick={() => askMove(m)}>
              <Icon of={m.edit ? Pencil : active ? CornerDownRight : ArrowRightLeft} small /> {m.title}
            </Button>
          ))}
        {row.more > 0 && (
          <Button look="plain" onClick={onFold}>
            <Icon of={row.folded ? ChevronsUpDown : ChevronsDownUp} small /> {row.folded ? w.unfold(row.more) : w.fold}
          </Button>
        )}
        {inView && (
          <Button look="plain" onClick={() => go({ at: "session", id: sessionId, event: node.id })}>
            <Icon of={MessagesSquare} small /> {w.inConversation}
          </Button>
        )}
        {may && (
          <>
            <Button look="plain" disabled={clone.busy} onClick={() => void clone.run()}>
              <Icon of={GitBranch} small /> {w.newSession}
            </Button>
            <Button look="plain" onClick={onName}>
              <Icon of={Tag} small /> {name ? w.rename : w.nameIt}
            </Button>
          </>
        )}
      </div>
    </aside>
  );
}

/** The longest name of a place, in bytes. */
const maxName = 200;

/** Names an event, for all who look at the session. */
export function NameDialog({ event, name, onClose }: { event: EventID; name: string; onClose(): void }) {
  const w = useWords(treeWords);
  const client = useClient();
  const { sessionId } = useSession();
  const [text, setText] = useState(name);
  const save = useAction(async (label: string | null) => {
    if (label && new TextEncoder().encode(label).length > maxName) throw new Error(w.tooLong);
    await client.call("set_label", { targetEventId: event, label }, { sessionId });
    onClose();
  });
  return (
    <Dialog open onClose={onClose} title={w.nameTitle}>
      <form
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          void save.run(text.trim());
        }}
      >
        <div className="field">
          <label htmlFor="place-name">{w.name}</label>
          <input id="place-name" className="input" value={text} maxLength={maxName} onChange={(e) => setText(e.target.value)} />
        </div>
        <ErrorLine error={save.error} />
        <div className="acts">
          {name && (
            <Button no disabled={save.busy} onClick={() => void save.run(null)}>
              {w.removeName}
            </Button>
          )}
          <Button onClick={onClose}>{w.cancel}</Button>
          <Button look="ink" type="submit" disabled={save.busy || text.trim() === ""}>
            {w.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
