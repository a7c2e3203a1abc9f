import { describe, expect, test } from "vitest";
import { addedTo, Screen } from "./ansi";
import { changedWords, countDiff, type Line, pairsOf, parseDiff, rowsOf } from "./diff";
import { colour, ready } from "./highlight";
import { languageOf, languageOfPath } from "./languages";
import { otherHost, safeHref } from "./links";
import cases from "../../display/literal.json" with { type: "json" };
import { exactText, literalText, safeText } from "./safe";

describe("links", () => {
  test.each([
    "javascript:alert(1)",
    "JAVASCRIPT:x",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example",
    "/path",
    "blob:x",
    " java\nscript:x",
    "http:evil.example",
    "https://user:password@evil.example/",
  ])("%j is text", (address) => {
    expect(safeHref(address)).toBeUndefined();
  });

  test("lead to the web and to mail", () => {
    expect(safeHref("https://go.dev/doc")).toBe("https://go.dev/doc");
    expect(safeHref("mailto:a@b.example")).toBe("mailto:a@b.example");
  });

  test("whose text names another host say where they lead", () => {
    expect(otherHost("https://bank.example/login", "https://evil.example/")).toBe("evil.example");
    expect(otherHost("bank.example", "https://evil.example/")).toBe("evil.example");
    expect(otherHost("www.go.dev", "https://go.dev/")).toBe("");
    expect(otherHost("the documentation", "https://go.dev/")).toBe("");
  });
});

describe("text", () => {
  test("shows what hides or reorders it", () => {
    expect(safeText("a\u202eb\u200b")).toBe("a[U+202E]b[U+200B]");
    expect(safeText("plain — 中文 🙂\n\tx")).toBe("plain — 中文 🙂\n\tx");
    expect(safeText("half \ud83d")).toBe("half \ufffd");
  });
});

describe("what is decided about", () => {
  test.each(cases)("is shown as by the host: $literal", ({ in: text, exact, literal }) => {
    expect(exactText(text)).toBe(exact);
    expect(literalText(text)).toBe(literal);
  });
});

describe("a difference", () => {
  const diff =
    "--- a/x\n+++ b/x\n@@ -46,3 +46,4 @@ func next()\n \ta\n-\tnext = last.Add(24 * time.Hour)\n+\t// A civil day.\n+\tnext = last.AddDate(0, 0, 1)\n \tb\n";

  test("has the numbers of its lines", () => {
    expect(parseDiff(diff).lines.map((l) => [l.op, l.old, l.new])).toEqual([
      ["hunk", 0, 0],
      ["same", 46, 46],
      ["del", 47, 0],
      ["add", 0, 47],
      ["add", 0, 48],
      ["same", 48, 49],
    ]);
    expect(countDiff(diff)).toEqual({ added: 2, removed: 1 });
  });

  test("pairs a line with the one that replaced it, past a line that is new", () => {
    const [, , del, first, second] = parseDiff(diff).lines;
    const marked = (l: Line | undefined) => l?.words?.map(([from, to]) => l.text.slice(from, to));
    expect(marked(del)).toEqual(["Add(24 * time.Hour"]);
    expect(marked(first)).toBeUndefined();
    expect(marked(second)).toEqual(["AddDate(0, 0, 1"]);
  });

  test("marks no words of lines that share too little", () => {
    expect(changedWords("return nil", "func main() {}")).toBeUndefined();
    expect(changedWords("a".repeat(10), "a".repeat(10))).toBeUndefined();
  });

  test("says how many lines are left out before a hunk", () => {
    const { lines } = parseDiff("@@ -1 +1 @@\n-a\n+b\n@@ -10 +10 @@ f()\n-c\n+d\n");
    expect(lines.filter((l) => l.op === "hunk").map((l) => [l.skipped, l.text])).toEqual([[8, "f()"]]);
  });

  test("folds long runs of unchanged lines but the three next to a change, until they are opened", () => {
    const same = Array.from({ length: 20 }, (_, i) => ` ${i}\n`).join("");
    const { lines } = parseDiff(`@@ -1,22 +1,22 @@\n-a\n+b\n${same}-c\n+d\n`);
    const rows = rowsOf(lines, new Set());
    expect(rows.length).toBe(2 + 3 + 1 + 3 + 2);
    const fold = rows.find((r) => "folded" in r);
    expect(fold && "folded" in fold && [fold.from, fold.folded.length]).toEqual([5, 14]);
    expect(rowsOf(lines, new Set([5])).flatMap((r) => ("line" in r ? [r.line] : []))).toEqual(lines);
  });

  test("side by side has what was removed beside what was added", () => {
    const pairs = pairsOf(rowsOf(parseDiff(diff).lines, new Set()));
    expect(pairs.map((p) => ("row" in p ? "across" : [p.before?.old ?? 0, p.after?.new ?? 0]))).toEqual([
      "across",
      [46, 46],
      [47, 47],
      [0, 48],
      [48, 49],
    ]);
  });

  test("of any text is within its bounds", () => {
    for (const text of ["", "no diff at all", "@@ -1,999999999 +1,999999999 @@\n+a", "+\n-\n", "@@ -0,0 +1 @@\n+x"]) parseDiff(text);
    const long = parseDiff(`@@ -1,9000 +1,9000 @@\n${"-old words\n+new words\n".repeat(9000)}`);
    expect([long.lines.length, long.rest]).toEqual([5000, 13_000]);
  });
});

describe("output of a program", () => {
  const texts = (s: Screen, text: string) => s.show(text).map((l) => l.runs.map((r) => r.text).join(""));

  test("has its colours, and what was written over is gone", () => {
    const shown = new Screen().show("\x1b[32mok\x1b[0m  a\n10%\r99%\n\x1b[1;38;5;196mF\x1b[38;2;1;2;3mG\x1b[m.\n");
    expect(shown.map((l) => l.runs)).toEqual([
      [
        { text: "ok", look: { fg: 2 } },
        { text: "  a", look: {} },
      ],
      [{ text: "99%", look: {} }],
      [
        { text: "F", look: { bold: true, fg: "#ff0000" } },
        { text: "G", look: { bold: true, fg: "#010203" } },
        { text: ".", look: {} },
      ],
    ]);
  });

  test("shows what might hide something by its number", () => {
    expect(texts(new Screen(), "a\x1b]0;title\x07 \u202etxt\n")).toEqual(["a[U+001B]]0;title [U+202E]txt"]);
  });

  test("has tabs and wide characters in their columns", () => {
    expect(texts(new Screen(), "a\tb\n宽\t|\n")).toEqual(["a       b", "宽      |"]);
    const [line] = new Screen().show("宽x\rab\n");
    expect(line?.runs.map((r) => r.text).join("")).toBe("abx");
  });

  test("erases to the end of a line, and moves within it", () => {
    expect(texts(new Screen(), "long line\rshort\x1b[K\nabc\x1b[2Dx\n")).toEqual(["short", "axc"]);
  });

  test("is read once, however it is cut, also within a sequence and a character", () => {
    const text = "\x1b[31mred\x1b[0m 🙂 宽\n10%\r\x1b[1;4m20%\n\ttab\n".repeat(20);
    const whole = new Screen().show(text);
    const grown = new Screen();
    for (let at = 1; at < text.length; at++) grown.show(text.slice(0, at));
    expect(grown.show(text)).toEqual(whole);
  });

  test("goes on when its beginning was cut off", () => {
    const text = Array.from({ length: 300 }, (_, i) => `line ${i}\n`).join("");
    const s = new Screen();
    for (let at = 40; at < text.length; at += 40) s.show(text.slice(Math.max(0, at - 500), at));
    expect(texts(s, text.slice(-500))).toEqual(text.trimEnd().split("\n"));
    expect(addedTo("abc", "xyz")).toBeUndefined();
  });

  test("keeps its newest lines, and says how many it left out", () => {
    const s = new Screen();
    const lines = s.show(Array.from({ length: 5000 }, (_, i) => `${i}\n`).join(""));
    expect(lines.length).toBeLessThanOrEqual(2100);
    expect(s.leftOut + lines.length).toBe(5000);
    expect([lines[0]?.number, lines[0]?.runs[0]?.text]).toEqual([s.leftOut, `${s.leftOut}`]);
  });
});

describe("code", () => {
  test("has a language by its names and ends, and none by names of JavaScript itself", () => {
    expect([languageOf("JS"), languageOf("golang"), languageOfPath("a/b.test.ts"), languageOfPath("Dockerfile")]).toEqual([
      "tsx",
      "go",
      "typescript",
      "docker",
    ]);
    for (const name of ["", "__proto__", "constructor", "toString", "klingon"]) expect(languageOf(name)).toBeUndefined();
  });

  test("is coloured by classes, and goes on from where it was", async () => {
    await ready("go");
    const code = "/* a\ncomment */ func f() string {\n\treturn `raw\ntext` // done\n}";
    const whole = colour(code, "go", undefined).tokens;
    const parts = [];
    let between: ReturnType<typeof colour>["state"];
    for (const line of code.split("\n")) {
      const part = colour(line, "go", between);
      between = part.state;
      parts.push(...part.tokens);
    }
    expect(parts).toEqual(whole);
    const classes = new Set(whole.flat().map(([, c]) => c));
    for (const c of ["hl-c", "hl-k", "hl-f", "hl-s"]) expect(classes).toContain(c);
    expect(whole.map((l) => l.map(([t]) => t).join("")).join("\n")).toBe(code);
  });
});
