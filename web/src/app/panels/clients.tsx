import { Plus, QrCode } from "lucide-react";
import { useState } from "react";
import { type Entry, type Grant, grantValues, type PushState } from "../../protocol/index";
import { useAction, useAnswer, useClient, useHost, useMay } from "../host/context";
import { Button, Dialog, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useNow } from "../places/hooks";
import { clientsWords } from "../settings/clientwords";
import { Waiting } from "../settings/Waiting";
import { Answered, OnlyLooks, Sure } from "../settings/parts";
import { pageWords } from "../settings/words";
import { ago, fullTime } from "../words/format";
import { useWords } from "../words/index";
import { lazy } from "../parts/lazy";

const Invite = lazy(() => import("../settings/Invite"));

/** The browsers and devices that may come in: who waits, who is here, what each may do, and who comes next. */
export default function ClientsPanel() {
  const w = useWords(clientsWords);
  const may = useMay("control");
  const entries = useAnswer("list_entries", {}, { again: (c) => c.entries || c.clients.length > 0, enabled: may });
  const [invites, setInvites] = useState<"lan" | "here">();
  if (!may) return <OnlyLooks hidden />;
  return (
    <>
      <p className="lead">{w.about}</p>
      <p className="inline">
        <Button onClick={() => setInvites("lan")}>
          <Icon of={QrCode} small />
          {w.invite}
        </Button>
        <Button onClick={() => setInvites("here")}>
          <Icon of={Plus} small />
          {w.inviteHere}
        </Button>
      </p>
      <Answered of={entries}>{(list) => <Entries all={list.entries ?? []} />}</Answered>
      {invites && <Invite lan={invites === "lan"} onClose={() => setInvites(undefined)} />}
    </>
  );
}

function Entries({ all }: { all: readonly Entry[] }) {
  const w = useWords(clientsWords);
  const waiting = all.filter((e) => e.pending);
  const known = all.filter((e) => !e.pending);
  return (
    <>
      {waiting.length > 0 && (
        <section aria-label={w.waiting}>
          <h2 className="h2">{w.waiting}</h2>
          <p className="t3">{w.waitingAbout}</p>
          <ul className="rows">
            {waiting.map((e) => (
              <Waiting key={e.clientId} entry={e} />
            ))}
          </ul>
        </section>
      )}
      {known.length === 0 ? (
        <p className="empty">{w.none}</p>
      ) : (
        <ul className="rows" aria-label={w.about}>
          {known.map((e) => (
            <Known key={e.clientId} entry={e} />
          ))}
        </ul>
      )}
    </>
  );
}

function Known({ entry: e }: { entry: Entry }) {
  const w = useWords(clientsWords);
  const client = useClient();
  const now = useNow();
  const own = useHost().clientId === e.clientId;
  const [asks, setAsks] = useState<"rename" | "remove">();
  const done = () => setAsks(undefined);
  const { clientId } = e;
  const grant = useAction((g: Grant) => client.call("set_grant", { clientId, grant: g }));
  const revoke = useAction(() => client.call("revoke_entry", { clientId }));
  const pushed: Record<PushState, string> = { on: w.pushOn, gone: w.pushGone, refused: w.pushRefused, unreachable: w.pushUnreachable };
  const named: Partial<Record<Grant, string>> = { view: w.view, answer: w.answer, control: w.control };
  return (
    <li>
      <span className="main-of">
        <b>{e.label}</b> {own && <span className="t3">({w.here})</span>}
        <br />
        {e.online ? (
          <span className="state ok">
            <span className="health" />
            {w.online}
          </span>
        ) : (
          <span className="t3">
            {w.seen}: {e.lastSeen ? <time title={fullTime(e.lastSeen)}>{ago(e.lastSeen, now)}</time> : w.never}
          </span>
        )}{" "}
        <span className="t3">
          · {w.added(fullTime(e.addedAt))}
          {e.push && ` · ${pushed[e.push]}`}
        </span>
      </span>
      <span className="acts">
        <select
          className="input grant"
          aria-label={w.grant(e.label)}
          title={own ? w.lastControl : undefined}
          value={e.grant}
          disabled={own || grant.busy}
          onChange={(ev) => void grant.run(ev.target.value as Grant)}
        >
          {grantValues
            .filter((g) => named[g])
            .map((g) => (
              <option key={g} value={g}>
                {named[g]}
              </option>
            ))}
        </select>
        <Button small look="plain" aria-label={`${w.rename}: ${e.label}`} onClick={() => setAsks("rename")}>
          {w.rename}
        </Button>
        <Button small look="plain" no aria-label={`${w.remove}: ${e.label}`} onClick={() => setAsks("remove")}>
          {w.remove}
        </Button>
      </span>
      <ErrorLine error={grant.error} />
      {asks === "rename" && <Rename entry={e} onClose={done} />}
      {asks === "remove" && (
        <Sure
          title={`${w.removeOf(e.label)}?`}
          about={own ? w.removeSelf : w.removeAbout}
          yes={w.remove}
          {...(own ? { name: e.label } : {})}
          busy={revoke.busy}
          error={revoke.error}
          onYes={() => void revoke.run().then((ok) => ok && done())}
          onClose={done}
        />
      )}
    </li>
  );
}

function Rename({ entry: e, onClose }: { entry: Entry; onClose(): void }) {
  const w = useWords(clientsWords);
  const page = useWords(pageWords);
  const client = useClient();
  const [label, setLabel] = useState(e.label);
  const rename = useAction(async () => {
    await client.call("rename_entry", { clientId: e.clientId, label: label.trim() });
    onClose();
  });
  return (
    <Dialog open onClose={onClose} title={w.renameOf(e.label)}>
      <form
        onSubmit={(ev) => {
          ev.preventDefault();
          void rename.run();
        }}
      >
        <div className="field">
          <label htmlFor="client-name">{w.name}</label>
          <input id="client-name" className="input" value={label} onChange={(ev) => setLabel(ev.target.value)} required />
        </div>
        <ErrorLine error={rename.error} />
        <div className="acts">
          <Button onClick={onClose}>{page.cancel}</Button>
          <Button look="ink" type="submit" disabled={rename.busy || label.trim() === ""}>
            {w.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
