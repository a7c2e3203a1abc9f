import { useState } from "react";
import type { ProjectID, TrustItem, TrustReport } from "../../protocol/index";
import { codeOf, useAction, useAnswer, useClient } from "../host/context";
import { Button, Dialog } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { startWords } from "./startwords";
import "./start.css";

/** The words of the states of files. */
const statuses: Record<string, "isTrusted" | "isChanged" | "isNew" | "isUntrusted" | undefined> = {
  trusted: "isTrusted",
  changed: "isChanged",
  new: "isNew",
  untrusted: "isUntrusted",
};

/** MCP servers that can be left out one by one. */
const maxServers = 20;

/**
 * Asks whether the files of a project that could act may do so, item by item what they could do.
 * onDone is told the hash of what a person has decided to work without.
 */
export default function Trust({ projectId, onDone }: { projectId: ProjectID; onDone(without?: string): void }) {
  const w = useWords(startWords);
  const client = useClient();
  const report = useAnswer("get_trust", { projectId });
  const [out, setOut] = useState<ReadonlySet<string>>(new Set());
  const [again, setAgain] = useState(false);
  const act = useAction(async (r: TrustReport, trusted: boolean) => {
    try {
      await client.call("trust_project", {
        projectId,
        trusted,
        ...(trusted ? { hash: r.hash ?? "", withoutServers: [...out] } : {}),
      });
      onDone();
    } catch (e) {
      if (codeOf(e) !== "conflict") throw e;
      setAgain(true);
      report.reload();
    }
  });
  const r = report.data;
  const trusted = r?.state === "trusted";
  const nothing = r?.state === "none";
  return (
    <Dialog
      open
      onClose={() => onDone(r?.hash ?? "")}
      title={trusted ? w.trustedTitle : w.trustTitle}
      about={nothing ? w.trustNothing : w.trustAbout}
    >
      {r && (
        <div className="trust">
          <p className="mono">{r.root}</p>
          {again && <ErrorLine error={w.trustChanged} />}
          <ErrorLine error={r.problem} />
          <ul>
            {r.items?.map((it) => (
              <Item key={`${it.kind} ${it.name}`} it={it} />
            ))}
          </ul>
          {!trusted && !r.problem && (r.servers?.length ?? 0) > 0 && (
            <fieldset>
              <legend>{w.servers}</legend>
              {r.servers?.slice(0, maxServers).map((name) => (
                <label key={name} className="check">
                  <input
                    type="checkbox"
                    checked={!out.has(name)}
                    onChange={(e) => {
                      const next = new Set(out);
                      if (e.target.checked) next.delete(name);
                      else next.add(name);
                      setOut(next);
                    }}
                  />
                  {name}
                </label>
              ))}
            </fieldset>
          )}
          {r.notices?.map((n) => (
            <p key={n} className="t3">
              {n}
            </p>
          ))}
        </div>
      )}
      <ErrorLine error={report.error ?? act.error} />
      <div className="acts">
        {nothing || !r ? (
          <Button onClick={() => onDone()}>{w.close}</Button>
        ) : trusted ? (
          <>
            <Button no disabled={act.busy} onClick={() => void act.run(r, false)}>
              {w.trustEnd}
            </Button>
            <Button onClick={() => onDone()}>{w.trustKeep}</Button>
          </>
        ) : (
          <>
            <Button onClick={() => onDone(r.hash ?? "")}>{w.trustNo}</Button>
            {!r.problem && (
              <Button look="lamp" disabled={act.busy} onClick={() => void act.run(r, true)}>
                {w.trustYes}
              </Button>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}

function Item({ it }: { it: TrustItem }) {
  const w = useWords(startWords);
  const status = (of: string) => {
    const word = statuses[of];
    return word ? w[word] : of;
  };
  return (
    <li>
      <p>
        <b>{it.kind}</b> {it.name} <span className={it.status === "trusted" ? "t3" : "warn"}>{status(it.status)}</span>
      </p>
      <ErrorLine error={it.problem} />
      {it.does?.map((d) => (
        <p key={d}>{d}</p>
      ))}
      {it.files?.map((f) => (
        <p key={f.name} className="mono t3">
          {f.name}
          {f.target && ` → ${f.target}`}
          {f.change && ` (${status(f.change)})`}
        </p>
      ))}
      {it.gone?.map((g) => (
        <p key={g} className="mono t3">
          {g} ({w.gone})
        </p>
      ))}
    </li>
  );
}
