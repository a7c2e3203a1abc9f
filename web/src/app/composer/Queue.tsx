import { ArrowUp, GripVertical, Pencil, X } from "lucide-react";
import { useRef } from "react";
import type { LiveQueue, QueueItem } from "../../protocol/index";
import { textOf } from "../conversation/rows";
import { useAction, useClient, useLive, useOutbox, useSession, useStatus, useUnsent } from "../host/context";
import type { Unsent } from "../host/outbox";
import { Button, Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { announce } from "../parts/tell";
import { useReorder } from "./useReorder";
import { type ComposerWords, composerWords } from "./words";

/**
 * The messages that wait, next first: each can be moved, taken back into the editor, or removed.
 * Below them are those that the host has not acknowledged; what it may have is not to be taken back.
 */
export function Queue({ onEdit, onTake }: { onEdit(text: string): void; onTake(m: Unsent): void }) {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const queues = useLive((l) => l.queues) ?? [];
  // What goes into the turn comes before all that waits for its end.
  const ordered = [...queues].sort((a, b) => Number(b.queue === "steer") - Number(a.queue === "steer"));
  const waiting = ordered.flatMap((q) => (q.items ?? []).map((item, i) => ({ q, item, i })));
  const rewrite = useAction(async (q: LiveQueue, items: QueueItem[]) => {
    await client.call("rewrite_queue", { queue: q.queue, items, ...(q.updateId ? { replaces: q.updateId } : {}) }, { sessionId });
  });
  const list = useRef<HTMLUListElement>(null);
  const groupOf = (id: string) => ordered.find((q) => q.items?.some((o) => o.id === id));
  const { handle, place } = useReorder(
    waiting.map(({ item }) => item.id),
    async (id, to) => {
      const q = groupOf(id);
      const items = [...(q?.items ?? [])];
      const at = items.findIndex((o) => o.id === id);
      const [moved] = items.splice(at, 1);
      if (!q || !moved) return false;
      items.splice(to, 0, moved);
      const ok = await rewrite.run(q, items);
      if (ok) announce(w.movedTo(to + 1, items.length));
      return ok;
    },
  );
  const resume = useAction(() => client.call("resume_queue", {}, { sessionId }));
  const outbox = useOutbox();
  const connected = useStatus().state === "connected";
  const unsent = useUnsent().filter((m) => m.late || !connected);
  if (waiting.length + unsent.length === 0) return <ErrorLine error={rewrite.error} />;
  const without = (q: LiveQueue, item: QueueItem) => (q.items ?? []).filter((o) => o.id !== item.id);
  return (
    <>
      <ul className="queue" ref={list} aria-label={w.queued(waiting.length + unsent.length)}>
        {waiting.map(({ q, item, i }, n) => (
          <li key={item.id} data-queue={q.queue} {...place(item.id, i, q.items?.map((o) => o.id) ?? [])}>
            {(q.items?.length ?? 0) > 1 ? (
              <button
                type="button"
                className="grip"
                aria-label={w.move(n + 1)}
                {...handle(item.id, i, q.items?.length ?? 0, () => [
                  ...(list.current?.querySelectorAll(`[data-queue="${q.queue}"]`) ?? []),
                ])}
              >
                <Icon of={GripVertical} small />
                <span className="src num">{n + 1}</span>
              </button>
            ) : (
              <span className="src num">{n + 1}</span>
            )}
            <span className="trunc">{textOf(item.content)}</span>
            <span className="src">{q.queue === "steer" ? w.atStep : i > 0 ? "" : n === 0 ? w.next : w.afterTurn}</span>
            <span>
              {i > 0 && (
                <IconButton
                  of={ArrowUp}
                  name={w.up}
                  small
                  onClick={() => {
                    const items = [...(q.items ?? [])];
                    const [moved] = items.splice(i, 1);
                    if (moved) items.splice(i - 1, 0, moved);
                    void rewrite.run(q, items);
                  }}
                />
              )}
              <IconButton
                of={Pencil}
                name={w.edit}
                small
                onClick={() => void rewrite.run(q, without(q, item)).then((ok) => ok && onEdit(textOf(item.content)))}
              />
              <IconButton of={X} name={w.remove} small onClick={() => void rewrite.run(q, without(q, item))} />
            </span>
          </li>
        ))}
        {unsent.map((m, n) => (
          <li key={m.requestId}>
            <span className="src num">{waiting.length + n + 1}</span>
            <span className="trunc">{m.typed || m.files.map((f) => f.name).join(", ")}</span>
            <span className="src">{stateOf(m, connected, w)}</span>
            <span>
              {!m.left && (
                <>
                  <IconButton
                    of={Pencil}
                    name={w.edit}
                    small
                    onClick={() => {
                      const taken = outbox.takeBack(m.requestId);
                      if (taken) onTake(taken);
                    }}
                  />
                  <IconButton of={X} name={w.remove} small onClick={() => outbox.takeBack(m.requestId)} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      <ErrorLine error={rewrite.error ?? resume.error} />
      {queues.some((q) => q.paused) && (
        <div className="banner warn">
          <span className="grow">{w.paused}</span>
          <Button small onClick={() => void resume.run()} disabled={resume.busy}>
            {w.resume}
          </Button>
        </div>
      )}
    </>
  );
}

/** How far a message has come that the host has not acknowledged. */
function stateOf(m: Unsent, connected: boolean, w: ComposerWords): string {
  if (connected) return w.sending;
  return m.left ? w.unconfirmed : w.waits;
}
