import type { UsageKind } from "../../protocol/index";
import { useAnswer, useLive, usePath, useSession } from "../host/context";
import { count, money, short, time } from "../words/format";
import { useWords } from "../words/index";
import { Numbers, StackedBar, StepLine, Swatch } from "./charts";
import { Answered, Pane, useOnChange } from "./pane";
import { allTokens, cacheShare, dueAt, groupParts, groups, steps } from "./usage";
import { panelWords } from "./words";

/** How often what a turn changes is asked for again while it runs, in ms: the whole context comes with it. */
const contextEvery = 10_000;

const percent = (share: number) => `${Math.round(share * 100)}%`;

/** What fills the window of the model. */
export function ContextPane() {
  const w = useWords(panelWords);
  const { sessionId } = useSession();
  const answer = useAnswer("get_context", {}, { sessionId });
  const leaf = useLive((l) => l.leafId ?? "");
  const model = useLive((l) => l.meta.model ?? "");
  useOnChange(`${leaf} ${model}`, contextEvery, answer.reload);
  const c = answer.data;
  const parts = c?.parts ?? [];
  const sums = groupParts(parts);
  return (
    <Pane title={w.context} value={c && w.of(short(c.tokens), short(c.window))}>
      <Answered of={answer}>
        {(c) => (
          <>
            <StackedBar
              label={w.tokensOf(count(c.tokens), count(c.window))}
              parts={groups.map((g) => ({ name: g, value: sums[g] }))}
              whole={Math.max(c.window, c.tokens)}
              mark={dueAt(c)}
            />
            <ul className="legend">
              {groups.map((g, i) => (
                <li key={g}>
                  <Swatch of={i} />
                  <span>{w[g]}</span>
                  <span>{short(sums[g])}</span>
                  <span>{c.window > 0 ? percent(sums[g] / c.window) : ""}</span>
                </li>
              ))}
            </ul>
            {(c.olderMessages ?? 0) > 0 && <p className="quiet">{w.olderLeftOut(c.olderMessages ?? 0)}</p>}
            <Numbers
              label={w.context}
              head={[w.part, w.pieces, w.tokens]}
              rows={[
                ...parts.map((p) => [w[p.name] ?? p.name, count(p.count), count(p.tokens)]),
                [w.free, "", count(c.free)],
                [w.reserved, "", count(c.reserved)],
              ]}
            />
          </>
        )}
      </Answered>
    </Pane>
  );
}

const kinds: Record<UsageKind, "kindConversation" | "kindSummary" | "kindAside" | "kindSubagent"> = {
  conversation: "kindConversation",
  summary: "kindSummary",
  aside: "kindAside",
  subagent: "kindSubagent",
};

/** What the session has cost over its answers; where no price is known, the tokens. */
export function CostPane() {
  const w = useWords(panelWords);
  const { sessionId } = useSession();
  const path = usePath();
  const total = useLive((l) => l.usage);
  const cost = total.costUSD ?? 0;
  const inMoney = cost > 0;
  const of = inMoney ? (u: typeof total) => u.costUSD ?? 0 : allTokens;
  const all = of(total);
  const line = steps(path, total, of);
  const show = inMoney ? money : short;
  const report = useAnswer("get_usage", {}, { sessionId, enabled: all > 0 });
  useOnChange(all, contextEvery, report.reload);
  const title = inMoney ? w.cost : w.used;
  if (all === 0) {
    return (
      <Pane title={title}>
        <p className="quiet">{w.noUsage}</p>
      </Pane>
    );
  }
  const share = cacheShare(total);
  return (
    <Pane title={title} value={[show(all), share > 0 && w.fromCache(percent(share))].filter(Boolean).join(" · ")}>
      {line.length > 0 && (
        <StepLine
          steps={line}
          label={inMoney ? w.costBy(show(all)) : w.tokensBy(show(all))}
          tick={(v) => show(v).replace(/\.0(?=[kM]$)/, "")}
          from={time(line[0]?.at ?? 0)}
          to={w.now}
        />
      )}
      {!inMoney && <p className="quiet">{w.noPrice}</p>}
      <Numbers
        label={title}
        head={[w.when, w.more, w.soFar]}
        rows={line.map((s, i) => [time(s.at), show(s.value - (line[i - 1]?.value ?? 0)), show(s.value)])}
      />
      <Answered of={report}>
        {(r) => (
          <details className="numbers">
            <summary>{w.byModel}</summary>
            <ul className="rows">
              {(r.rows ?? []).map((row) => (
                <li key={`${row.kind} ${row.model} ${row.agent}`}>
                  <span className="trunc">{row.agent || row.model || w[kinds[row.kind]]}</span>
                  <span className="t3">{(row.usage.costUSD ?? 0) > 0 ? money(row.usage.costUSD ?? 0) : short(allTokens(row.usage))}</span>
                  <small className="t3">
                    {w[kinds[row.kind]]} · {w.callsCount} {count(row.calls)} · {w.input} {short(row.usage.inputTokens)} · {w.cached}{" "}
                    {short(row.usage.cacheReadTokens)} · {w.output} {short(row.usage.outputTokens)}
                  </small>
                </li>
              ))}
            </ul>
          </details>
        )}
      </Answered>
    </Pane>
  );
}
