import { Copy, Download, Ellipsis, FoldVertical, Pencil, Trash2 } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { fetchBlob } from "../../client/index";
import { sentence, useAction, useClient, useLive, useMay, useSession } from "../host/context";
import { Button, Dialog, Divider, IconButton, Menu, MenuItem } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { go } from "../route";
import { clock } from "../words/format";
import { useWords } from "../words/index";
import { conversationWords } from "./words";

/** How the session stands, beside its title. */
export function HeaderState() {
  const w = useWords(conversationWords);
  const waits = useLive((l) => (l.permissions?.length ?? 0) + (l.ui?.length ?? 0) > 0);
  const running = useLive((l) => l.running);
  const turn = useLive((l) => l.turnId);
  const workDir = useLive((l) => l.meta.workDir ?? "");
  return (
    <>
      <span className="crumb">{workDir.split("/").at(-1)}</span>
      {(waits || running) && (
        <span className="live">
          <span className={waits ? "note wait" : "note live"} />
          {waits ? w.waits : w.working}
          {!waits && <Clock key={turn} />}
        </span>
      )}
    </>
  );
}

/** Counts the seconds since this page saw the turn begin. */
function Clock() {
  const [began] = useState(Date.now);
  const [now, setNow] = useState(began);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="num">{clock(now - began)}</span>;
}

/** What can be done with the session as a whole. */
export function HeaderActions() {
  const w = useWords(conversationWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const [asking, setAsking] = useState<"rename" | "remove">();
  const failed = (e: unknown) => tell(sentence(e));
  const exported = async () => {
    const ref = await client.call("export_session", { format: "markdown" }, { sessionId });
    const data = await fetchBlob(client, sessionId, ref.sha256 ?? "");
    const url = URL.createObjectURL(new Blob([data as BlobPart], { type: "text/markdown" }));
    const a = document.createElement("a");
    a.href = url;
    a.download = `${sessionId}.md`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <>
      <Menu label={w.more} trigger={<IconButton of={Ellipsis} name={w.more} />}>
        {may && (
          <>
            <MenuItem of={Pencil} onSelect={() => setAsking("rename")}>
              {w.rename}
            </MenuItem>
            <MenuItem of={FoldVertical} onSelect={() => client.call("compact_session", {}, { sessionId }).catch(failed)}>
              {w.compact}
            </MenuItem>
          </>
        )}
        <MenuItem
          of={Copy}
          onSelect={() =>
            navigator.clipboard.writeText(sessionId).then(
              () => tell(w.copied, { bad: false }),
              () => tell(w.notCopied),
            )
          }
        >
          {w.copyID}
        </MenuItem>
        {may && (
          <>
            <MenuItem of={Download} onSelect={() => exported().catch(failed)}>
              {w.exportMarkdown}
            </MenuItem>
            <Divider />
            <MenuItem of={Trash2} no onSelect={() => setAsking("remove")}>
              {w.remove}
            </MenuItem>
          </>
        )}
      </Menu>
      <Rename open={asking === "rename"} onClose={() => setAsking(undefined)} />
      <Remove open={asking === "remove"} onClose={() => setAsking(undefined)} />
    </>
  );
}

function Rename({ open, onClose }: { open: boolean; onClose(): void }) {
  const w = useWords(conversationWords);
  const client = useClient();
  const { sessionId } = useSession();
  const now = useLive((l) => l.meta.name ?? "");
  const [name, setName] = useState(now);
  useEffect(() => setName(now), [now]);
  const save = useAction(() => client.call("update_info", { changes: { name } }, { sessionId }));
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void save.run().then((ok) => ok && onClose());
  };
  return (
    <Dialog open={open} onClose={onClose} title={w.rename}>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="session-name">{w.name}</label>
          <input id="session-name" className="input" value={name} onChange={(e) => setName(e.target.value)} />
        </div>
        <ErrorLine error={save.error} />
        <div className="acts">
          <Button look="plain" onClick={onClose}>
            {w.cancel}
          </Button>
          <Button look="ink" type="submit" disabled={save.busy}>
            {w.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Remove({ open, onClose }: { open: boolean; onClose(): void }) {
  const w = useWords(conversationWords);
  const client = useClient();
  const { sessionId } = useSession();
  const remove = useAction(async () => {
    await client.call("delete_session", {}, { sessionId });
    tell(w.removed, { bad: false });
    go({ at: "home" });
  });
  return (
    <Dialog open={open} onClose={onClose} title={w.remove} about={w.removeAbout}>
      <ErrorLine error={remove.error} />
      <div className="acts">
        <Button look="plain" onClick={onClose}>
          {w.cancel}
        </Button>
        <Button no onClick={() => void remove.run()} disabled={remove.busy}>
          {w.remove}
        </Button>
      </div>
    </Dialog>
  );
}
