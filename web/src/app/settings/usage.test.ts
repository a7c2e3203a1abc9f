import { expect, test } from "vitest";
import type { SessionID, Usage } from "../../protocol/index";
import { byDay, byModel, bySession, cacheShare, startOf, tokensOf, type Use } from "./usage";
import { roundUp } from "./Bars";

const usage = (input: number, cost: number): Usage => ({
  inputTokens: input,
  outputTokens: 10,
  cacheReadTokens: input,
  cacheWriteTokens: 0,
  costUSD: cost,
});
const use = (id: string, at: number, cost: number, model: string): Use => ({
  id: id as SessionID,
  title: id,
  at,
  total: usage(100, cost),
  calls: 2,
  models: [{ model, total: usage(100, cost), calls: 2 }],
});
const now = new Date(2026, 2, 30, 15).getTime();
const hour = 3_600_000;

test("a session counts on the day of its last use, and days without one are there, over a change of clocks", () => {
  const days = byDay([use("a", now, 1, "m"), use("b", now - hour, 2, "m"), use("c", now - 48 * hour, 4, "n")], 4, now);
  expect(days.map((d) => d.total.costUSD ?? 0)).toEqual([0, 4, 0, 3]);
  expect(days.map((d) => new Date(d.day).getHours())).toEqual([0, 0, 0, 0]);
  expect(days.at(-1)?.day).toBe(startOf(now));
});

test("models are summed over sessions, the costliest first", () => {
  const sums = byModel([use("a", now, 1, "m"), use("b", now, 5, "n"), use("c", now, 1, "m")]);
  expect(sums.map((s) => [s.model, s.total.costUSD, s.calls])).toEqual([
    ["n", 5, 2],
    ["m", 2, 4],
  ]);
});

test("sessions without a call are left out", () => {
  expect(bySession([{ ...use("a", now, 1, "m"), calls: 0 }, use("b", now, 0, "m")], tokensOf).map((u) => u.id)).toEqual(["b"]);
});

test("the share of the cache is of all that was sent", () => {
  expect(cacheShare(usage(100, 0))).toBe(0.5);
  expect(cacheShare({ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 })).toBe(0);
});

test("an axis ends at a round number", () => {
  expect([0, 0.03, 1, 1.1, 7, 640].map(roundUp)).toEqual([1, 0.05, 1, 2, 10, 1000]);
});
