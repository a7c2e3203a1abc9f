/** What the charts of a session are made of; nothing here draws. */
import type { ContextPart, ContextPartName, ContextView, PersistentEvent, Usage } from "../../protocol/index";
import type { Step } from "./charts";

/** The parts of the context as the bar shows them: few enough to be told apart. */
export const groups = ["instructions", "toolTexts", "conversation", "results"] as const;
export type Group = (typeof groups)[number];

const groupOf: Record<ContextPartName, Group> = {
  system: "instructions",
  memory: "instructions",
  skills: "instructions",
  notes: "instructions",
  tools: "toolTexts",
  summary: "conversation",
  user: "conversation",
  assistant: "conversation",
  thinking: "conversation",
  calls: "results",
  toolResults: "results",
};

/** Tokens by group. A part that a newer host has counts with the instructions. */
export function groupParts(parts: readonly ContextPart[]): Record<Group, number> {
  const sum: Record<Group, number> = { instructions: 0, toolTexts: 0, conversation: 0, results: 0 };
  for (const p of parts) sum[groupOf[p.name] ?? "instructions"] += p.tokens;
  return sum;
}

/** Where the place begins that is kept free for the answer. */
export function dueAt(c: ContextView): number {
  return c.window - c.reserved;
}

export function allTokens(u: Usage): number {
  return u.inputTokens + u.outputTokens + u.cacheReadTokens + u.cacheWriteTokens;
}

/** How much of what models were sent came from their providers' caches, 0 to 1. */
export function cacheShare(u: Usage): number {
  const sent = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
  return sent > 0 ? u.cacheReadTokens / sent : 0;
}

/** The newest steps that a chart has room for. */
const maxSteps = 60;

/**
 * The total after each answer of the path, the newest at the end. What was used beside the
 * answers that are shown (older ones, summaries, sub-agents) is in the first step, so that the
 * last one is the total.
 */
export function steps(path: readonly PersistentEvent[], total: Usage, of: (u: Usage) => number): Step[] {
  const own: Step[] = [];
  for (const e of path) {
    if (e.type !== "message" || e.message.role !== "assistant") continue;
    const value = of(e.message.usage);
    if (value > 0) own.push({ at: e.ts, value });
  }
  const shown = own.slice(-maxSteps);
  let sum = Math.max(0, of(total) - shown.reduce((n, s) => n + s.value, 0));
  return shown.map((s) => {
    sum += s.value;
    return { at: s.at, value: sum };
  });
}
