import { Copy, Download, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { fetchBlob } from "../../client/index";
import type { SessionID, SessionSummary } from "../../protocol/index";
import { sentence, useAction, useClient, useMay } from "../host/context";
import { Button, Dialog, Divider, IconButton, Menu, MenuItem } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { save as saveFile } from "../parts/save";
import { announce, tell } from "../parts/tell";
import { go, parseRoute } from "../route";
import { useWords } from "../words/index";
import { titleOf } from "./summary";
import { placesWords } from "./words";

/** The formats of export_session, with the ends of the names of their files. */
const formats = { html: "html", markdown: "md", jsonl: "jsonl", bundle: "tgz" } as const;

/** What can be done with a session, in the list and at its head; children are further items. */
export function SessionMenu({
  s,
  tabIndex,
  className,
  children,
}: {
  s: SessionSummary;
  tabIndex?: number;
  className?: string;
  children?: ReactNode;
}) {
  const w = useWords(placesWords);
  const client = useClient();
  const may = useMay("control");
  const [asks, setAsks] = useState<"rename" | "delete">();
  const name = titleOf(s) || w.untitled;
  const save = async (format: keyof typeof formats) => {
    try {
      const ref = await client.call("export_session", { format }, { sessionId: s.sessionId });
      const parts: Blob[] = [];
      for (const { sha256 } of ref.sha256 ? [ref] : (ref.parts ?? []))
        if (sha256) parts.push(new Blob([await fetchBlob(client, s.sessionId, sha256)]));
      const file = `${fileName(name)}.${formats[format]}`;
      saveFile(new Blob(parts), file);
      tell([w.exported(file), ...(ref.notices ?? [])].join(" "), { bad: false });
    } catch (e) {
      tell(e instanceof Error ? e.message : String(e));
    }
  };
  return (
    <>
      <Menu
        label={w.sessionMenu(name)}
        trigger={<IconButton className={className ?? ""} of={Ellipsis} name={w.sessionMenu(name)} tabIndex={tabIndex ?? 0} />}
      >
        {may && (
          <MenuItem of={Pencil} onSelect={() => setAsks("rename")}>
            {w.rename}
          </MenuItem>
        )}
        {children}
        <MenuItem of={Copy} onSelect={() => void copy(s.sessionId, w.copied, w.notCopied(s.sessionId))}>
          {w.copyId}
        </MenuItem>
        <Divider />
        {(Object.keys(formats) as (keyof typeof formats)[]).map((f) => (
          <MenuItem key={f} of={Download} onSelect={() => void save(f)}>
            {w.exportAs}: {w[f]}
          </MenuItem>
        ))}
        {may && (
          <>
            <Divider />
            <MenuItem of={Trash2} no onSelect={() => setAsks("delete")}>
              {w.remove}
            </MenuItem>
          </>
        )}
      </Menu>
      {asks === "rename" && <Rename id={s.sessionId} name={s.meta.name || titleOf(s)} onClose={() => setAsks(undefined)} />}
      {asks === "delete" && <Delete id={s.sessionId} name={name} onClose={() => setAsks(undefined)} />}
    </>
  );
}

function Rename({ id, name, onClose }: { id: SessionID; name: string; onClose(): void }) {
  const w = useWords(placesWords);
  const client = useClient();
  const [text, setText] = useState(name);
  const action = useAction(() => client.call("update_info", { changes: { name: text.trim() } }, { sessionId: id }));
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (await action.run()) onClose();
  };
  return (
    <Dialog open onClose={onClose} title={w.renameTitle}>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="session-name">{w.name}</label>
          <input id="session-name" className="input" value={text} maxLength={200} onChange={(e) => setText(e.target.value)} />
        </div>
        <ErrorLine error={action.error} />
        <div className="acts">
          <Button onClick={onClose}>{w.cancel}</Button>
          <Button look="ink" type="submit" disabled={action.busy || text.trim() === ""}>
            {w.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Delete({ id, name, onClose }: { id: SessionID; name: string; onClose(): void }) {
  const w = useWords(placesWords);
  const client = useClient();
  const action = useAction(async () => {
    const at = parseRoute(location.hash);
    if (at.at === "session" && at.id === id) {
      // The host deletes no session that is open: this page leaves it first.
      go({ at: "home" }, { replace: true });
      await client.leave(id);
    }
    try {
      const gone = await client.call("delete_session", {}, { sessionId: id });
      for (const n of gone.notices ?? []) tell(n);
    } catch (e) {
      if (parseRoute(location.hash).at !== at.at) {
        tell(sentence(e)); // this dialog may be gone with the session
        go(at, { replace: true });
      }
      throw e;
    }
    announce(w.removed(name));
  });
  return (
    <Dialog open onClose={onClose} title={w.removeTitle(name)} about={w.removeAbout}>
      <ErrorLine error={action.error} />
      <div className="acts">
        <Button onClick={onClose}>{w.cancel}</Button>
        <Button no disabled={action.busy} onClick={async () => (await action.run()) && onClose()}>
          {w.removeNow}
        </Button>
      </div>
    </Dialog>
  );
}

async function copy(text: string, done: string, failed: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(done, { bad: false });
  } catch {
    tell(failed);
  }
}

/** A name for a file, from a title: without what systems refuse. */
function fileName(title: string): string {
  const clean = [...title].map((c) => (c < " " || '\\/:*?"<>|'.includes(c) ? "-" : c)).join("");
  return clean.slice(0, 60).trim().replace(/^\.+/, "") || "session";
}
