import { useState } from "react";
import { useClient, useStatus } from "../host/context";
import { Button } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { hrefOf } from "../route";
import { Bars, DayBars } from "../settings/Bars";
import { Table } from "../settings/parts";
import { byDay, byModel, bySession, cacheShare, dayOf, sent, tokensOf, type Use, useUsage } from "../settings/usage";
import { usageWords } from "../settings/usagewords";
import { pageWords } from "../settings/words";
import { count, money, short } from "../words/format";
import { useWords } from "../words/index";

const kinds = ["cost", "tokens"] as const;
type Kind = (typeof kinds)[number];
/** Rows of a chart; the rest is in the numbers. */
const maxBars = 8;
const maxDays = 30;

/** What the newest sessions have used: by day, by model, by session, each with its numbers. */
export default function UsagePage() {
  const w = useWords(usageWords);
  const page = useWords(pageWords);
  const client = useClient();
  const { state } = useStatus();
  const usage = useUsage(client, state === "connected");
  const [chosen, setKind] = useState<Kind>();
  const { uses, done, all, error, more } = usage;
  // Models whose price is not known have tokens alone.
  const kind = chosen ?? (uses.length > 0 && uses.every((u) => !u.total.costUSD) ? "tokens" : "cost");
  const total = uses.reduce((n, u) => n + (kind === "cost" ? (u.total.costUSD ?? 0) : tokensOf(u.total)), 0);
  const value = (n: number) => (kind === "cost" ? money(n) : short(n));
  const of = (u: Use["total"]) => (kind === "cost" ? (u.costUSD ?? 0) : tokensOf(u));
  const days = byDay(uses, maxDays);
  const models = byModel(uses);
  const sessions = bySession(uses, of);
  const name = (u: Use) => u.title || w.untitled;
  const ins = uses.reduce((n, u) => n + sent(u.total), 0);
  const hits = uses.reduce((n, u) => n + u.total.cacheReadTokens, 0);
  const head = (first: string) => [
    { name: first },
    { name: w.cost, right: true },
    { name: w.read, right: true },
    { name: w.cached, right: true },
    { name: w.written, right: true },
    { name: w.calls, right: true },
  ];
  const cells = (u: Use["total"], calls: number) => (
    <>
      <td className="r">{money(u.costUSD ?? 0)}</td>
      <td className="r">{count(sent(u))}</td>
      <td className="r">{w.percent(cacheShare(u))}</td>
      <td className="r">{count(u.outputTokens)}</td>
      <td className="r">{count(calls)}</td>
    </>
  );
  return (
    <>
      <p className="lead">{w.about}</p>
      <ErrorLine error={error} action={page.again} onAction={usage.again} />
      {done < all && (
        <p className="t3" role="status">
          {w.counting(done, all)}
        </p>
      )}
      {all === 0 && !error && done === all && <p className="empty">{usage.starting ? page.loading : w.none}</p>}
      {all > 0 && (
        <>
          <div className="kpis">
            <div>
              <b>{value(total)}</b>
              <span>{kind === "cost" ? w.cost : w.tokens}</span>
            </div>
            <div>
              <b>{count(all)}</b>
              <span>{w.sessions}</span>
            </div>
            <div>
              <b>{w.percent(ins > 0 ? hits / ins : 0)}</b>
              <span>{w.fromCache}</span>
            </div>
          </div>
          <p className="inline said">
            <span className="field">
              <label htmlFor="usage-kind">{w.show}</label>
              <select id="usage-kind" className="input" value={kind} onChange={(e) => setKind(e.target.value as Kind)}>
                {kinds.map((k) => (
                  <option key={k} value={k}>
                    {w[k]}
                  </option>
                ))}
              </select>
            </span>
            {more && <Button onClick={usage.older}>{w.older}</Button>}
          </p>

          <h2 className="h2">{w.byDay}</h2>
          <p className="t3">{w.dayAbout}</p>
          <DayBars days={days.map((d) => ({ day: d.day, value: of(d.total) }))} tick={value} label={w.byDay} today={w.today} />
          <details>
            <summary>{page.numbers}</summary>
            <Table label={w.byDay} head={head(w.day)}>
              {days
                .filter((d) => d.calls > 0)
                .reverse()
                .map((d) => (
                  <tr key={d.day}>
                    <td>{dayOf(d.day)}</td>
                    {cells(d.total, d.calls)}
                  </tr>
                ))}
            </Table>
          </details>

          <h2 className="h2">{w.byModel}</h2>
          <Bars
            rows={models.slice(0, maxBars).map((m) => ({ id: m.model, name: m.model || w.unknown, value: of(m.total) }))}
            tick={value}
            label={w.byModel}
          />
          <details>
            <summary>{page.numbers}</summary>
            <Table label={w.byModel} head={head(w.model)}>
              {models.map((m) => (
                <tr key={m.model}>
                  <td className="mono">{m.model || w.unknown}</td>
                  {cells(m.total, m.calls)}
                </tr>
              ))}
            </Table>
          </details>

          <h2 className="h2">{w.bySession}</h2>
          <Bars
            rows={sessions.slice(0, maxBars).map((u) => ({ id: u.id, name: name(u), value: of(u.total) }))}
            tick={value}
            label={w.bySession}
          />
          <details>
            <summary>{page.numbers}</summary>
            <Table label={w.bySession} head={head(w.session)}>
              {sessions.map((u) => (
                <tr key={u.id}>
                  <td>
                    <a href={hrefOf({ at: "session", id: u.id })}>{name(u)}</a>
                  </td>
                  {cells(u.total, u.calls)}
                </tr>
              ))}
            </Table>
          </details>
        </>
      )}
    </>
  );
}
