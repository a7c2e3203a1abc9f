import { expect, test } from "vitest";
import type { SessionChanged, SessionList, SessionSummary } from "../protocol/index";
import { SessionIndex } from "./sessions";

const summary = (id: string, updatedAt: number) => ({ sessionId: id, meta: {}, createdAt: 1, updatedAt }) as unknown as SessionSummary;
const change = (s: SessionSummary, deleted = false): SessionChanged => ({
  type: "session_changed",
  summary: s,
  ...(deleted && { deleted: true }),
});

test("a late list replaces nothing that came after it was asked for", async () => {
  const index = new SessionIndex();
  let answer: (l: SessionList) => void = () => {};
  const loaded = index.load(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  index.changed({ sessions: [change(summary("a", 9)), change(summary("b", 9), true)] });
  answer({ sessions: [summary("a", 1), summary("b", 1), summary("c", 1)] });
  await loaded;
  expect(index.list().map((s) => [s.sessionId, s.updatedAt])).toEqual([
    ["a", 9],
    ["c", 1],
  ]);
  await index.load(async () => ({ sessions: [summary("a", 10)] })); // what is asked for now is newer
  expect(index.get("a" as never)?.updatedAt).toBe(10);
});

test("a list is asked for again when more has changed meanwhile than is remembered", async () => {
  const index = new SessionIndex();
  let asked = 0;
  await index.load(async () => {
    asked++;
    if (asked === 1) index.changed({ sessions: Array.from({ length: 2000 }, (_, i) => change(summary(`s${i}`, 1))) });
    return { sessions: [summary("x", asked)] };
  });
  expect(asked).toBe(2);
  expect(index.get("x" as never)?.updatedAt).toBe(2);
});
