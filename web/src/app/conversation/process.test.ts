import { describe, expect, test } from "vitest";
import type { ProcessEvent } from "../../protocol/index";
import { eventsOf, stepsOf } from "./process";

const at = (s: number) => new Date(Date.UTC(2026, 10, 26, 10, 0, s)).toISOString();
const event = (s: number, stage: string, more: Partial<ProcessEvent> = {}): ProcessEvent => ({
  version: 1,
  operationId: "tool-1",
  targetType: "skill",
  source: "skill",
  stage,
  status: "running",
  level: "info",
  message: stage,
  timestamp: at(s),
  sequence: s,
  ...more,
});

describe("the progress of a call", () => {
  test("is a step for each stage, which lasts until the next one begins", () => {
    const steps = stepsOf(
      [event(0, "read"), event(1, "read", { message: "file 2", percent: 50 }), event(4, "write"), event(6, "write", { status: "failed" })],
      true,
    );
    expect(steps.map((s) => [s.text, s.state, s.to - s.from])).toEqual([
      ["read: file 2", "done", 4000],
      ["write", "failed", 2000],
    ]);
    expect(steps[0]?.share).toBe(0.5);
  });

  test("of two operations at once is told apart", () => {
    const steps = stepsOf([event(0, "a"), event(1, "b", { operationId: "part" }), event(2, "c", { operationId: "part" })], false);
    expect(steps.map((s) => [s.text, s.state])).toEqual([
      ["a", "running"],
      ["b", "done"],
      ["c", "running"],
    ]);
  });

  test("has no characters that a terminal would take for orders, and leaves out what has no time", () => {
    expect(
      stepsOf([event(0, "a\u001b[2Jb\u202e"), event(0, "x", { timestamp: "soon" })], true).map((s) => s.text.includes("\u001b")),
    ).toEqual([false]);
    expect(
      stepsOf(
        Array.from({ length: 500 }, (_, i) => event(i % 60, `s${i}`)),
        true,
      ).length,
    ).toBeLessThan(100);
  });

  test("is read from results of any shape", () => {
    for (const wrong of [undefined, null, 3, "x", {}, { events: 4 }, { events: [] }]) expect(eventsOf(wrong)).toEqual([]);
    expect(eventsOf({ latest: event(0, "a") })).toHaveLength(1);
  });
});
