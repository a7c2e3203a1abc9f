import { ArrowUp, Square } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useAction, useClient, useLive, useMay, useSession } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { composerWords } from "./words";
import "./composer.css";

/** Where a person writes. */
export function Composer() {
  const w = useWords(composerWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const running = useLive((l) => l.running);
  const turnId = useLive((l) => l.turnId);
  const [text, setText] = useState("");
  const send = useAction(async (said: string) => {
    await client.call("send_message", { content: [{ type: "text", text: said }] }, { sessionId });
  });
  const stop = useAction(async () => {
    if (turnId) await client.call("cancel", { turnId }, { sessionId });
  });
  const submit = async (e?: FormEvent) => {
    e?.preventDefault();
    const said = text.trim();
    if (said === "") return;
    setText("");
    if (!(await send.run(said))) setText((t) => t || said);
  };
  const key = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing) return;
    e.preventDefault();
    void submit();
  };
  if (!may) return <p className="comp ro">{w.watching}</p>;
  return (
    <form className="comp" onSubmit={submit}>
      <textarea
        id="composer"
        className="ta"
        aria-label={w.message}
        placeholder={w.placeholder}
        rows={1}
        value={text}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={key}
      />
      <ErrorLine error={send.error ?? stop.error} />
      <div className="tools">
        <span className="grow" />
        {running && (
          <Button look="plain" onClick={() => void stop.run()} disabled={stop.busy}>
            <Icon of={Square} small /> {w.stop}
          </Button>
        )}
        <Button look="ink" type="submit" disabled={text.trim() === ""}>
          {running ? w.queue : w.send} <Icon of={ArrowUp} small />
        </Button>
      </div>
    </form>
  );
}
