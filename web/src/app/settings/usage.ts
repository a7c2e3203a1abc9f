/** What sessions have used, gathered session by session and summed by day, model and session. */
import { useCallback, useEffect, useState } from "react";
import type { Client } from "../../client/index";
import type { SessionID, SessionSummary, Usage, UsageReport } from "../../protocol/index";
import { titleOf } from "../places/summary";
import { dateOnly } from "../words/format";

/** Sessions that are counted at first, and with each step further back. */
const step = 100;
const most = 1000;
/** Requests at a time: each reads the log of a session. */
const atOnce = 4;
/** Answers are shown in groups, so that charts are not drawn for each. */
const showEachMs = 250;

export interface Use {
  id: SessionID;
  title: string;
  at: number;
  total: Usage;
  calls: number;
  models: { model: string; total: Usage; calls: number }[];
}

export interface Sum {
  total: Usage;
  calls: number;
}

export const nothing: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function add(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    costUSD: (a.costUSD ?? 0) + (b.costUSD ?? 0),
  };
}

/** What a model was sent: new, written to the cache, and read from it. */
export function sent(u: Usage): number {
  return u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
}

export function tokensOf(u: Usage): number {
  return sent(u) + u.outputTokens;
}

/** How much of what a model was sent came from its provider's cache, 0 to 1. */
export function cacheShare(u: Usage): number {
  return sent(u) > 0 ? u.cacheReadTokens / sent(u) : 0;
}

export function countedOf(s: SessionSummary, r: UsageReport): Use {
  const rows = r.rows ?? [];
  return {
    id: s.sessionId,
    title: titleOf(s),
    at: s.updatedAt,
    total: r.total,
    calls: rows.reduce((n, row) => n + row.calls, 0),
    models: rows.map((row) => ({ model: row.model ?? "", total: row.usage, calls: row.calls })),
  };
}

/** The first moment of the day of a time. */
export function startOf(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** The newest days up to today, oldest first; days without a session are there too. */
export function byDay(uses: readonly Use[], days: number, now: number = Date.now()): (Sum & { day: number })[] {
  const sums = new Map<number, Sum>();
  for (const u of uses) {
    const day = startOf(u.at);
    const s = sums.get(day) ?? { total: nothing, calls: 0 };
    sums.set(day, { total: add(s.total, u.total), calls: s.calls + u.calls });
  }
  const today = new Date(now);
  return Array.from({ length: days }, (_, i) => {
    const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1 - i)).getTime();
    return { day, ...(sums.get(day) ?? { total: nothing, calls: 0 }) };
  });
}

/** Sums by model, the costliest first. */
export function byModel(uses: readonly Use[]): (Sum & { model: string })[] {
  const sums = new Map<string, Sum>();
  for (const m of uses.flatMap((u) => u.models)) {
    const s = sums.get(m.model) ?? { total: nothing, calls: 0 };
    sums.set(m.model, { total: add(s.total, m.total), calls: s.calls + m.calls });
  }
  return [...sums]
    .map(([model, s]) => ({ model, ...s }))
    .sort((a, b) => (b.total.costUSD ?? 0) - (a.total.costUSD ?? 0) || tokensOf(b.total) - tokensOf(a.total));
}

/** The sessions that have used something, those that used most first. */
export function bySession(uses: readonly Use[], of: (u: Usage) => number): Use[] {
  return uses.filter((u) => u.calls > 0).sort((a, b) => of(b.total) - of(a.total) || b.at - a.at);
}

export function dayOf(day: number): string {
  return dateOnly(day);
}

export interface Counted {
  uses: readonly Use[];
  done: number;
  all: number;
  starting: boolean;
  /** There are older sessions than those that are counted. */
  more: boolean;
  error: Error | undefined;
  older(): void;
  again(): void;
}

/** Counts the newest sessions, a few at a time; what is not needed any more is not asked. */
export function useUsage(client: Client, connected: boolean): Counted {
  const [limit, setLimit] = useState(step);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<Omit<Counted, "older" | "again">>({
    uses: [],
    done: 0,
    all: 0,
    starting: true,
    more: false,
    error: undefined,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: turn asks again
  useEffect(() => {
    if (!connected) return;
    const abort = new AbortController();
    const { signal } = abort;
    let timer: ReturnType<typeof setTimeout> | undefined;
    void (async () => {
      const uses: Use[] = [];
      let done = 0;
      try {
        const { sessions, more } = await listed(client, limit, signal);
        const show = () => {
          timer = undefined;
          if (signal.aborted) return;
          setState({ uses: [...uses], done, all: sessions.length, starting: false, more: more && limit < most, error: undefined });
        };
        const waiting = [...sessions];
        const work = async () => {
          for (let s = waiting.shift(); s && !signal.aborted; s = waiting.shift()) {
            const report = await client.call("get_usage", {}, { sessionId: s.sessionId, signal }).catch((e: unknown) => {
              if (signal.aborted) throw e;
              return undefined; // a session that was deleted meanwhile, or that cannot be read
            });
            if (report) uses.push(countedOf(s, report));
            done++;
            timer ??= setTimeout(show, showEachMs);
          }
        };
        show();
        await Promise.all(Array.from({ length: atOnce }, work));
        clearTimeout(timer);
        show();
      } catch (e) {
        if (!signal.aborted) setState((s) => ({ ...s, starting: false, error: e instanceof Error ? e : new Error(String(e)) }));
      }
    })();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [client, connected, limit, turn]);
  return {
    ...state,
    older: useCallback(() => setLimit((n) => n + step), []),
    again: useCallback(() => setTurn((n) => n + 1), []),
  };
}

async function listed(client: Client, limit: number, signal: AbortSignal): Promise<{ sessions: SessionSummary[]; more: boolean }> {
  const sessions: SessionSummary[] = [];
  let more = true;
  while (more && sessions.length < limit) {
    const last = sessions.at(-1);
    const page = await client.call(
      "list_sessions",
      { limit: Math.min(step, limit - sessions.length), ...(last ? { before: last.sessionId, beforeTime: last.updatedAt } : {}) },
      { signal },
    );
    sessions.push(...(page.sessions ?? []));
    more = page.more === true && (page.sessions ?? []).length > 0;
  }
  return { sessions, more };
}
