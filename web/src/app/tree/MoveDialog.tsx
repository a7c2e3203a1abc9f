/** Moves the conversation to another place: what is asked before, and what it tells after. */
import { useEffect, useId, useRef, useState } from "react";
import type { EventID, Moved, SkippedFile } from "../../protocol/index";
import { handOver } from "../composer/handover";
import { codeOf, sentence, useAction, useClient, useLive, useSession } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { announce, tell } from "../parts/tell";
import { useWords } from "../words/index";
import { messageOf } from "./message";
import { type TreeWords, treeWords } from "./words";
import "./move.css";

export interface Move {
  title: string;
  /** The new leaf; null is the beginning of the conversation. */
  target: EventID | null;
  /** The target is on the current branch, and one to rewind to: files can be taken back. */
  rewind: boolean;
  /** Something is left behind, which a model can summarise. */
  leaves: boolean;
  /** The message of a person whose text and attachments go to the message box. */
  edit?: EventID;
}

/** The most bytes of instructions for a summary. */
const maxInstructions = 8192;

type Summary = "none" | "plain" | "instructed";

/** Asks how to move, moves, and calls onMoved; onClose when it was only looked at. */
export default function MoveDialog({ move, onClose, onMoved }: { move: Move; onClose(): void; onMoved?(): void }) {
  const w = useWords(treeWords);
  const client = useClient();
  const { sessionId } = useSession();
  const leaf = useLive((l) => l.leafId);
  const turnId = useLive((l) => l.turnId);
  const running = useLive((l) => l.running);
  const [files, setFiles] = useState(false);
  const [summary, setSummary] = useState<Summary>("none");
  const [words, setWords] = useState("");
  const [skipped, setSkipped] = useState<SkippedFile[]>();
  const [wasRunning, setWasRunning] = useState(false);
  const shown = useRef(true);
  const moved = useRef(false);
  const name = useId();
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
      // After the dialog has given the focus back to where it was.
      if (moved.current) setTimeout(() => setTimeout(() => document.getElementById("composer")?.focus()));
    };
  }, []);

  const finish = () => {
    onClose();
    onMoved?.();
  };
  const act = useAction(async (stopFirst: boolean) => {
    setWasRunning(running);
    try {
      const given = move.edit && (await messageOf(client, sessionId, move.edit));
      if (move.edit && !given) throw new Error(w.gone);
      const rest = {
        ...(leaf ? { expectedLeafId: leaf } : {}),
        ...(stopFirst && turnId ? { cancelFirst: turnId } : {}),
        ...(summary === "none" ? {} : { summarise: "yes" }),
        ...(summary === "instructed" && words.trim() ? { instructions: words.trim() } : {}),
      };
      const to: Moved =
        move.rewind || move.target === null
          ? await client.call("rewind_to", { targetEventId: move.target, ...(files ? { restoreFiles: true } : {}), ...rest }, { sessionId })
          : await client.call("branch_to", { leafEventId: move.target, ...rest }, { sessionId });
      moved.current = true;
      announce(w.moved);
      tellFiles(to, w);
      if (given) handOver(sessionId, given);
      if (to.skipped?.length && shown.current) setSkipped(to.skipped);
      else finish();
    } catch (e) {
      if (!shown.current) tell(sentence(e));
      throw e;
    }
  });
  const force = useAction(async () => {
    const paths = (skipped ?? []).filter((s) => s.offered).map((s) => s.path);
    tellFiles(await client.call("rewind_to", { targetEventId: move.target, restoreFiles: true, files: paths }, { sessionId }), w);
    finish();
  });
  const stop = useAction(async () => {
    if (turnId) await client.call("cancel", { turnId }, { sessionId });
  });

  if (skipped) {
    return (
      <Dialog open onClose={finish} title={w.skippedTitle}>
        <ul className="movefiles">
          {skipped.map((s) => (
            <li key={`${s.path} ${s.why}`}>
              <span className="mono">{s.path || w.aFile}</span>
              <span className="t3">{s.why}</span>
            </li>
          ))}
        </ul>
        <ErrorLine error={force.error} />
        <div className="acts">
          {skipped.some((s) => s.offered) && (
            <Button no disabled={force.busy} onClick={() => void force.run()}>
              {w.takeBack}
            </Button>
          )}
          <Button look="ink" onClick={finish}>
            {w.keep}
          </Button>
        </div>
      </Dialog>
    );
  }
  const busyTurn = codeOf(act.error) === "runtime_busy" && turnId !== undefined && turnId !== "";
  return (
    <Dialog
      open
      onClose={onClose}
      title={move.title}
      about={[move.edit ? w.editAbout : w.moveAbout, move.leaves ? w.stays : ""].filter(Boolean).join(" ")}
    >
      <form
        className="moveform"
        onSubmit={(e) => {
          e.preventDefault();
          e.stopPropagation(); // it is drawn in a form of the page, if not in its markup
          void act.run(false);
        }}
      >
        {move.rewind && move.leaves && (
          <label className="check">
            <input type="checkbox" checked={files} onChange={(e) => setFiles(e.target.checked)} />
            {w.withFiles}
          </label>
        )}
        {move.leaves && (
          <fieldset>
            <legend>{w.left}</legend>
            {(
              [
                ["none", w.noSummary],
                ["plain", w.summarise],
                ["instructed", w.instructed],
              ] as const
            ).map(([id, text]) => (
              <label key={id} className="check">
                <input type="radio" name={name} checked={summary === id} onChange={() => setSummary(id)} />
                {text}
              </label>
            ))}
            {summary === "instructed" && (
              <textarea
                className="input"
                rows={3}
                aria-label={w.instructions}
                placeholder={w.instructions}
                maxLength={maxInstructions / 4}
                value={words}
                onChange={(e) => setWords(e.target.value)}
              />
            )}
          </fieldset>
        )}
        {act.busy && summary !== "none" && !wasRunning && (
          <p className="movebusy" role="status">
            <span className="note live" />
            <span className="grow">{w.summarising}</span>
            {running && turnId && (
              <Button small onClick={() => void stop.run()} disabled={stop.busy}>
                {w.stop}
              </Button>
            )}
          </p>
        )}
        <ErrorLine error={act.error} {...(busyTurn ? { action: w.stopFirst, onAction: () => void act.run(true) } : {})} />
        <ErrorLine error={stop.error} />
        <div className="acts">
          <Button onClick={onClose}>{w.cancel}</Button>
          <Button look="ink" type="submit" disabled={act.busy}>
            {move.edit ? w.goEdit : w.go}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function tellFiles(moved: Moved, w: TreeWords): void {
  const said = [
    moved.restored?.length ? w.restored(moved.restored.length) : "",
    moved.removed?.length ? w.removed(moved.removed.length) : "",
  ].filter(Boolean);
  if (said.length > 0) tell(said.join(" "), { bad: false });
}
