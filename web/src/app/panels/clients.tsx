import { useState } from "react";
import { grantValues, type Entry, type Grant } from "../../protocol/index";
import { useAction, useAnswer, useClient, useHost, useMay } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { ago, fullTime } from "../words/format";
import { useWords, words } from "../words/index";

const clientsWords = words(
  {
    about: "Who may come in with a key of their own. Another browser is let in from a terminal: scorel web, for a phone scorel web --lan.",
    name: "Name",
    may: "May",
    seen: "Last seen",
    never: "never",
    here: "this browser",
    online: "here now",
    waits: (from: string) => `waits to be let in, from ${from}`,
    letIn: "Let in",
    remove: "Send away",
    removeAbout: (name: string) => `${name} is disconnected and needs a new code to come again.`,
    cancel: "Cancel",
    grant: (name: string) => `What ${name} may do`,
    view: "look",
    answer: "answer",
    control: "control everything",
    refused: "Only who has control sees who may come in.",
  },
  {
    about: "这些客户端可以用自己的密钥进入。其他浏览器从终端登记：scorel web，手机用 scorel web --lan。",
    name: "名称",
    may: "权限",
    seen: "最近",
    never: "从未",
    here: "此浏览器",
    online: "在线",
    waits: (from: string) => `等待允许，来自 ${from}`,
    letIn: "允许",
    remove: "移除",
    removeAbout: (name: string) => `${name} 会断开，需要新的代码才能再次进入。`,
    cancel: "取消",
    grant: (name: string) => `${name} 的权限`,
    view: "查看",
    answer: "回答",
    control: "全部控制",
    refused: "只有有控制权的人可以查看。",
  },
);

/** The browsers and devices that may come in: what each may do, who waits to be let in, and who is sent away. */
export default function ClientsPanel() {
  const w = useWords(clientsWords);
  const may = useMay("control");
  const { data, error } = useAnswer("list_entries", {}, { again: (c) => c.entries || c.clients.length > 0, enabled: may });
  if (!may) return <p className="lead">{w.refused}</p>;
  return (
    <div className="lead">
      <p>{w.about}</p>
      <ErrorLine error={error} />
      <table className="tbl">
        <thead>
          <tr>
            <th>{w.name}</th>
            <th>{w.may}</th>
            <th>{w.seen}</th>
            <th>
              <span className="sr">{w.remove}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data?.entries?.map((e) => (
            <Row key={e.clientId} entry={e} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ entry: e }: { entry: Entry }) {
  const w = useWords(clientsWords);
  const client = useClient();
  const own = useHost().clientId === e.clientId;
  const [asking, setAsking] = useState(false);
  const { clientId } = e;
  const grant = useAction((g: Grant) => client.call("set_grant", { clientId, grant: g }));
  const confirm = useAction(() => client.call("confirm_entry", { clientId }));
  const revoke = useAction(() => client.call("revoke_entry", { clientId }));
  const named: Partial<Record<Grant, string>> = { view: w.view, answer: w.answer, control: w.control };
  return (
    <tr>
      <td>
        {e.label} {own && <span className="t3">({w.here})</span>}
        {e.pending && <span className="acc about">{w.waits(e.address ?? "")}</span>}
        <ErrorLine error={grant.error ?? confirm.error ?? revoke.error} />
      </td>
      <td>
        {e.pending ? (
          <Button small look="lamp" onClick={() => void confirm.run()} disabled={confirm.busy}>
            {w.letIn}
          </Button>
        ) : (
          <select
            className="input"
            aria-label={w.grant(e.label)}
            value={e.grant}
            disabled={own}
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
        )}
      </td>
      <td>{e.online ? w.online : e.lastSeen ? <time title={fullTime(e.lastSeen)}>{ago(e.lastSeen)}</time> : w.never}</td>
      <td>
        {!own && (
          <Button small look="plain" no onClick={() => setAsking(true)}>
            {w.remove}
          </Button>
        )}
        <Dialog open={asking} onClose={() => setAsking(false)} title={w.remove} about={w.removeAbout(e.label)}>
          <div className="acts">
            <Button look="plain" onClick={() => setAsking(false)}>
              {w.cancel}
            </Button>
            <Button no onClick={() => void revoke.run().then(() => setAsking(false))} disabled={revoke.busy}>
              {w.remove}
            </Button>
          </div>
        </Dialog>
      </td>
    </tr>
  );
}
