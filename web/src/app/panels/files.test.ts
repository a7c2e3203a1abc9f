import { describe, expect, test } from "vitest";
import { treeOf } from "./tree";
import { cacheShare, groupParts, steps } from "./usage";

const usage = (inputTokens: number, costUSD = 0) => ({ inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, costUSD });

describe("what the panels draw", () => {
  test("paths become folders by name, folders before files, each path once", () => {
    const root = treeOf(["b.go", "a/x10.go", "a/x9.go", "a/c/d.go", "b.go"]);
    expect(root.files).toEqual(["b.go"]);
    expect(root.folders.map((f) => f.path)).toEqual(["a"]);
    expect(root.folders[0]?.files).toEqual(["a/x9.go", "a/x10.go"]);
    expect(root.folders[0]?.folders[0]?.files).toEqual(["a/c/d.go"]);
  });

  test("the last step is the total, and what is not on the path is in the first one", () => {
    const message = (n: number) => ({ type: "message", ts: n, message: { role: "assistant", content: [], usage: usage(n) } });
    const path = [message(10), { type: "compact", ts: 2 }, message(5)] as never[];
    expect(steps(path, usage(20), (u) => u.inputTokens)).toEqual([
      { at: 10, value: 15 },
      { at: 5, value: 20 },
    ]);
    expect(steps([], usage(20), (u) => u.inputTokens)).toEqual([]);
  });

  test("parts of the context are summed up in groups, and the cache is a share of what was sent", () => {
    const parts = [
      { name: "system", tokens: 5, count: 1 },
      { name: "memory", tokens: 2, count: 1 },
      { name: "calls", tokens: 3, count: 1 },
      { name: "of a newer host", tokens: 1, count: 1 },
    ] as never[];
    expect(groupParts(parts)).toEqual({ instructions: 8, toolTexts: 0, conversation: 0, results: 3 });
    expect(cacheShare({ ...usage(1), cacheReadTokens: 3 })).toBe(0.75);
    expect(cacheShare(usage(0))).toBe(0);
  });
});
