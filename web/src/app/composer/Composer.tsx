import { ArrowUp, Paperclip, Square, X } from "lucide-react";
import { type ClipboardEvent, type DragEvent, type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { upload } from "../../client/index";
import type { Block } from "../../protocol/index";
import { useAction, useClient, useLive, useMay, useSession, useStatus } from "../host/context";
import { Button, Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { draftOf, keepDraft } from "./drafts";
import { useHandedOver } from "./handover";
import { ModePicker, ModelPicker } from "./pickers";
import { Queue } from "./Queue";
import { composerWords } from "./words";
import "./composer.css";

/** The largest file that is attached, in bytes. */
const maxFile = 20_000_000;

/** Where a person writes. What was written is kept until the host has taken it. */
export function Composer() {
  const w = useWords(composerWords);
  const client = useClient();
  const status = useStatus();
  const { sessionId } = useSession();
  const may = useMay("control");
  const running = useLive((l) => l.running);
  const turnId = useLive((l) => l.turnId);
  const [text, setTextNow] = useState(() => draftOf(sessionId));
  const [files, setFiles] = useState<File[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const setText = (t: string) => {
    setTextNow(t);
    keepDraft(sessionId, t);
  };
  useHandedOver(sessionId, (given) => {
    setText(text ? `${text}\n${given.text}` : given.text);
    setFiles((all) => [...all, ...given.files]);
  });
  const send = useAction(async (said: string, attached: File[], now: boolean) => {
    const content: Block[] = said === "" ? [] : [{ type: "text", text: said }];
    for (const f of attached) {
      const ref = await upload(client, new Uint8Array(await f.arrayBuffer()));
      const base = { mediaType: f.type || "application/octet-stream", ...(ref.sha256 ? { blob: ref.sha256 } : {}) };
      content.push(f.type.startsWith("image/") ? { type: "image", ...base } : { type: "file", name: f.name, ...base });
    }
    await client.call(now ? "steer" : "send_message", { content }, { sessionId });
  });
  const stop = useAction(async () => {
    if (turnId) await client.call("cancel", { turnId }, { sessionId });
  });
  const submit = async (now = false) => {
    const said = text.trim();
    if ((said === "" && files.length === 0) || send.busy) return;
    const attached = files;
    setTextNow(""); // the draft is kept until the host has the message
    setFiles([]);
    if (await send.run(said, attached, now)) {
      setTextNow((t) => {
        keepDraft(sessionId, t);
        return t;
      });
    } else {
      setTextNow((t) => (t ? `${said}\n${t}` : said));
      setFiles((f) => [...attached, ...f]);
    }
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "Escape" && running) {
      e.preventDefault();
      void stop.run();
    }
    if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing) return;
    if (matchMedia("(pointer: coarse)").matches && !e.ctrlKey && !e.metaKey) return; // a phone has a button
    e.preventDefault();
    void submit((e.ctrlKey || e.metaKey) && running);
  };
  const take = (list: Iterable<File>) => {
    for (const f of list) {
      if (f.size > maxFile) tell(w.tooLarge(f.name));
      else setFiles((all) => [...all, f]);
    }
  };
  const paste = (e: ClipboardEvent) => {
    if (e.clipboardData.files.length === 0) return;
    e.preventDefault();
    take(e.clipboardData.files);
  };
  const drop = (e: DragEvent) => {
    e.preventDefault();
    take(e.dataTransfer.files);
  };
  if (!may) return <p className="comp ro ta">{w.watching}</p>;
  const empty = text.trim() === "" && files.length === 0;
  return (
    <>
      <Queue onEdit={(t) => setText(text ? `${text}\n${t}` : t)} />
      <form
        className="comp"
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          void submit();
        }}
        onDragOver={(e) => e.preventDefault()}
        onDrop={drop}
      >
        {files.length > 0 && (
          <ul className="files">
            {files.map((f, i) => (
              <li key={`${i} ${f.name}`} className="chip">
                {f.name}
                <IconButton of={X} name={w.attached(f.name)} small onClick={() => setFiles(files.filter((o) => o !== f))} />
              </li>
            ))}
          </ul>
        )}
        <textarea
          id="composer"
          className="ta"
          aria-label={w.message}
          placeholder={w.placeholder}
          rows={1}
          value={text}
          onChange={(e) => setText(e.target.value)}
          onKeyDown={key}
          onPaste={paste}
        />
        {send.error && <ErrorLine error={`${w.unsent} ${send.error.message}`} />}
        {send.busy && status.state !== "connected" && (
          <p className="errline" role="status">
            {w.kept}
          </p>
        )}
        <ErrorLine error={stop.error} />
        <div className="tools">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={(e) => {
              take(e.target.files ?? []);
              e.target.value = "";
            }}
          />
          <IconButton of={Paperclip} name={w.attach} onClick={() => picker.current?.click()} />
          <ModePicker />
          <ModelPicker />
          <span className="grow" />
          {running && (
            <Button look="plain" onClick={() => void stop.run()} disabled={stop.busy}>
              <Icon of={Square} small /> {w.stop} <kbd className="hint">Esc</kbd>
            </Button>
          )}
          {running && !empty && (
            <Button look="plain" onClick={() => void submit(true)} disabled={send.busy}>
              {w.sendNow} <kbd className="hint">Ctrl ↵</kbd>
            </Button>
          )}
          <Button look="ink" type="submit" disabled={empty || send.busy}>
            {running ? w.queue : w.send} <Icon of={ArrowUp} small />
          </Button>
        </div>
      </form>
    </>
  );
}
