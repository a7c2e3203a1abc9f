import { expect, test } from "vitest";
import { foldAt } from "./fold";

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join("\n");

test("a message is folded after 40 lines, unless one more line is all that would be hidden", () => {
  expect(foldAt("one")).toBeUndefined();
  expect(foldAt(lines(40))).toBeUndefined();
  expect(foldAt(lines(41))).toBeUndefined();
  expect(foldAt(`${lines(41)}\n\n`)).toBeUndefined();
  const text = lines(42);
  expect(foldAt(text)).toEqual({ at: text.indexOf("line 41"), more: 2 });
  expect(foldAt(lines(5000))?.more).toBe(4960);
});
