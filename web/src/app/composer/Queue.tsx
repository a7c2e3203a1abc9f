import { ArrowUp, Pencil, X } from "lucide-react";
import type { LiveQueue, QueueItem } from "../../protocol/index";
import { textOf } from "../conversation/rows";
import { useAction, useClient, useLive, useSession } from "../host/context";
import { Button, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { composerWords } from "./words";

/** The messages that wait, next first: each can be moved up, taken back into the editor, or removed. */
export function Queue({ onEdit }: { onEdit(text: string): void }) {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const queues = useLive((l) => l.queues) ?? [];
  const waiting = queues.flatMap((q) => (q.items ?? []).map((item, i) => ({ q, item, i })));
  const rewrite = useAction(async (q: LiveQueue, items: QueueItem[]) => {
    await client.call("rewrite_queue", { queue: q.queue, items, ...(q.updateId ? { replaces: q.updateId } : {}) }, { sessionId });
  });
  const resume = useAction(() => client.call("resume_queue", {}, { sessionId }));
  if (waiting.length === 0) return <ErrorLine error={rewrite.error} />;
  const without = (q: LiveQueue, item: QueueItem) => (q.items ?? []).filter((o) => o.id !== item.id);
  return (
    <>
      <ul className="queue" aria-label={w.queued(waiting.length)}>
        {waiting.map(({ q, item, i }, n) => (
          <li key={item.id}>
            <span className="src num">{n + 1}</span>
            <span className="trunc">{textOf(item.content)}</span>
            <span className="src">{n === 0 ? w.next : ""}</span>
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
