import { describe, expect, test } from "vitest";
import { lines } from "./ansi";
import { pieces } from "./blocks";
import { countDiff, parseDiff } from "./diff";
import { safeHref } from "./links";

describe("a text that grows", () => {
  const text = "# Title\n\nOne.\n\n- a\n- b\n\n  more of b\n\nTwo `x`.\n\n```go\nf()\n\ng()\n```\n\nThree.\n";

  test("is cut only where a block has ended for good", () => {
    expect(pieces(text)).toEqual([
      "# Title\n\n",
      "One.\n\n- a\n- b\n\n  more of b\n\n",
      "Two `x`.\n\n",
      "```go\nf()\n\ng()\n```\n\n",
      "Three.\n",
    ]);
  });

  test("keeps all pieces but the last, whatever comes", () => {
    let parsed = 0;
    let before: string[] = [];
    for (let n = 1; n <= text.length; n++) {
      const now = pieces(text.slice(0, n));
      expect(now.join("")).toBe(text.slice(0, n));
      expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      parsed += now.filter((p, i) => p !== before[i]).reduce((sum, p) => sum + p.length, 0);
      before = now;
    }
    expect(parsed).toBeLessThan((text.length * text.length) / 3); // parsing all each time is a half
  });

  test("is one piece when it names references, which count everywhere", () => {
    expect(pieces("See [a].\n\nMore.\n\n[a]: https://a.example\n")).toHaveLength(1);
  });
});

describe("links", () => {
  test("lead to the web and to mail only", () => {
    for (const bad of [
      "javascript:alert(1)",
      "JAVASCRIPT:x",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
      "//evil.example",
      "/path",
      "blob:x",
      " java\nscript:x",
    ]) {
      expect(safeHref(bad)).toBeUndefined();
    }
    expect(safeHref("https://go.dev/doc")).toBe("https://go.dev/doc");
    expect(safeHref("mailto:a@b.example")).toBe("mailto:a@b.example");
  });
});

describe("a difference", () => {
  const diff =
    "--- a/x\n+++ b/x\n@@ -46,3 +46,4 @@ func next()\n \ta\n-\tnext = last.Add(24 * time.Hour)\n+\t// A civil day.\n+\tnext = last.AddDate(0, 0, 1)\n \tb\n";

  test("has the numbers of its lines", () => {
    expect(parseDiff(diff).map((r) => [r.kind, r.before, r.after])).toEqual([
      ["hunk", 0, 0],
      ["same", 46, 46],
      ["del", 47, 0],
      ["add", 0, 47],
      ["add", 0, 48],
      ["same", 48, 49],
    ]);
    expect(countDiff(diff)).toEqual({ added: 2, removed: 1 });
  });

  test("marks the words of a line that was replaced by one", () => {
    const [, del, add] = parseDiff("@@ -1 +1 @@\n-x = last.Add(1)\n+x = last.AddDate(1)\n");
    expect(del?.text.slice(...(del.word ?? [0, 0]))).toBe("");
    expect(add?.text.slice(...(add.word ?? [0, 0]))).toBe("Date");
  });
});

describe("output of a program", () => {
  test("has its colours, what was written over is gone, and nothing else acts", () => {
    const { lines: shown } = lines("\x1b[32mok\x1b[0m  a\n10%\r99%\r\x1b[2J\x1b]0;title\x07\x1b[1;31mFAIL\x1b[m \u202etxt\x07\n");
    expect(shown).toEqual([
      [
        { text: "ok", color: 2, bold: false },
        { text: "  a", color: -1, bold: false },
      ],
      [
        { text: "FAIL", color: 1, bold: true },
        { text: " txt", color: -1, bold: false },
      ],
    ]);
  });

  test("is bounded, and says how much is left out", () => {
    const { lines: shown, omitted } = lines(Array.from({ length: 2000 }, (_, i) => `${i}\n`).join(""));
    expect([shown.length, omitted, shown[0]?.[0]?.text]).toEqual([500, 1500, "1500"]);
  });
});
