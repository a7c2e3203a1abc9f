import type { Block, EventID, PersistentEvent } from "../../protocol/index";
import { itemOf } from "../../display/index";
import { useLive, usePath, useSession, useVersion } from "../host/context";
import { Button } from "../parts/controls";
import { Markdown } from "../text/Markdown";
import { useWords } from "../words/index";
import { conversationWords } from "./words";
import "./conversation.css";

/** What was said and done: the events of the path, and what is running. */
export function Conversation({ event: _event }: { event?: EventID | undefined }) {
  const w = useWords(conversationWords);
  const session = useSession();
  const path = usePath();
  const more = useLive((_, s) => s.projection.more);
  return (
    <section className="scroll" aria-label={w.conversation}>
      <div className="flow">
        {more && (
          <Button look="plain" onClick={() => session.older(200)}>
            {w.older}
          </Button>
        )}
        {path.map((e) => (
          <Event key={e.id} event={e} />
        ))}
        <Running />
      </div>
    </section>
  );
}

function Event({ event }: { event: PersistentEvent }) {
  if (event.type === "message") {
    const m = event.message;
    const text = typeof m.content === "string" ? m.content : textOf(m.content);
    if (m.role === "user")
      return (
        <div className="said">
          <p>{text}</p>
        </div>
      );
    return m.role === "assistant" ? <Markdown text={text} /> : <pre className="term">{text}</pre>;
  }
  const item = itemOf(event);
  if (!item || item.kind === "hidden" || !item.title) return null;
  return <p className="marker">{item.title}</p>;
}

function Running() {
  useVersion();
  const { live } = useSession().projection;
  return (
    <>
      {live.messages?.map((m) => (
        <Markdown
          key={m.eventId}
          streaming
          text={(m.blocks ?? [])
            .filter((b) => b.type === "text")
            .map((b) => b.text)
            .join("")}
        />
      ))}
      {live.tools?.map((t) => (
        <pre key={t.eventId} className="term">
          {t.outputTail}
        </pre>
      ))}
    </>
  );
}

function textOf(blocks: readonly Block[] | null): string {
  return (blocks ?? [])
    .map((b) => (b.type === "text" ? b.text : b.type === "tool_use" ? `${b.name ?? ""} ${JSON.stringify(b.input)}` : ""))
    .join("\n");
}
