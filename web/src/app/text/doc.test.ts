import type { Nodes, Root } from "mdast";
import { describe, expect, test } from "vitest";
import { Blocks, maxBlock } from "./blocks";
import { Doc } from "./doc";
import { mend } from "./mend";
import { parse } from "./parse";

/** What is read of a tree: kinds and words, without places. */
function outline(nodes: readonly unknown[]): unknown[] {
  return nodes.map((n) => {
    const { type, value, children, url, depth, ordered, start, checked, lang, align } = n as Record<string, unknown> & {
      children?: unknown[];
    };
    return JSON.parse(
      JSON.stringify({ type, value, url, depth, ordered, start, checked, lang, align, children: children && outline(children) }),
    );
  });
}

/** The outline of all blocks of a text, one after the other. */
function whole(doc: Doc, text: string): unknown[] {
  return doc.read(text, true, Number.POSITIVE_INFINITY).blocks.flatMap(({ block, tree }) => {
    if (block.kind === "code") return outline([{ type: "code", value: block.text, lang: block.language || null }]);
    return outline(tree?.children ?? []);
  });
}

const sentence = "Some **bold** words and `code`, with [a link](https://example.org/a) in a line that is long enough.\n";

/** Text as a model writes it, of about so many characters. */
function answer(length: number): string {
  const parts: string[] = [];
  for (let size = 0, i = 0; size < length; i++) {
    const part = [
      `## Part ${i}\n\n`,
      `${sentence.repeat(3)}\n`,
      `- one of ${i}\n- two\n  - inner\n\n  more of two\n- three\n\n`,
      `1. first\n\n2. second\n   \`\`\`go\n   func f() {\n\n   }\n   \`\`\`\n3. third\n\n`,
      `\`\`\`ts\nconst a = ${i};\n\n// an empty line before\n\`\`\`\n\n`,
      "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\n",
      "> quoted\n> twice\n\nand after\n\n",
      "Formula: $x_1$ and\n\n$$\na\n+ b\n$$\n\n",
      "- [x] done\n- [ ] open\n\n---\n\n",
    ][i % 9] as string;
    parts.push(part);
    size += part.length;
  }
  return parts.join("");
}

describe("blocks of Markdown", () => {
  test("parsed one by one say what the whole text says", () => {
    const text = answer(8000);
    const doc = new Doc(parse);
    expect(whole(doc, text)).toEqual(outline(parse(text).children));
    expect(doc.read(text, true).blocks.length).toBeGreaterThan(20);
  });

  test("that have ended stay the same objects while the text grows, and end as if it had come at once", () => {
    const text = answer(6000);
    const growing = new Blocks();
    let before: readonly { start: number }[] = [];
    for (let at = 1; at <= text.length; at += 7) {
      const now = growing.read(text.slice(0, at), false);
      for (const [i, block] of before.slice(0, -1).entries()) expect(now[i], `block ${i} at ${at}`).toBe(block);
      before = now;
    }
    expect(growing.read(text, true)).toEqual(new Blocks().read(text, true));
  });

  test.each([
    ["a line", "x".repeat(1 << 20)],
    ["lines", "x y\n".repeat(1 << 18)],
    ["a list", "- a\n".repeat(1 << 17)],
    ["a table", `|a|b|\n|-|-|\n${"|1|2|\n".repeat(1 << 17)}`],
    ["quotes", `${">".repeat(10_000)}\n`.repeat(40)],
    ["lists in lists", Array.from({ length: 1500 }, (_, i) => `${" ".repeat(i * 2)}- a\n`).join("")],
    ["code in a list", `- \`\`\`\n${"  x\n".repeat(1 << 17)}`],
    ["headings", "# a\n".repeat(1 << 17)],
  ])("have a bound, and are not too many, in a megabyte that is %s", (_, text) => {
    const blocks = new Blocks().read(text, true);
    for (const b of blocks) if (b.kind === "markdown") expect(b.text.length).toBeLessThanOrEqual(maxBlock + 100);
    expect(blocks.length).toBeLessThan(5000);
    const all = blocks.filter((b) => b.kind !== "code").map((b) => b.text);
    if (!text.startsWith("|") && !text.startsWith("- `")) expect(all.join("")).toBe(text);
  });

  test("of a list and of a table go on with the one that was begun", () => {
    const list = new Blocks().read("- a member of the list\n".repeat(200), true);
    expect(list.length).toBeGreaterThan(2);
    expect(list.slice(1).every((b) => b.goesOn === "list")).toBe(true);
    const table = new Blocks().read(`| a | b |\n|---|---|\n${"| one | two |\n".repeat(400)}`, true);
    expect(table.slice(1).every((b) => b.goesOn === "table" && b.text.startsWith("| a | b |\n|---|---|\n| one"))).toBe(true);
  });
});

/** Where only the characters that are parsed are counted. */
const counting = (): Root => ({ type: "root", children: [] });

describe("a text that grows", () => {
  test("is parsed by a bounded number of characters for each frame, whatever its length", () => {
    const text = answer(100_000);
    const doc = new Doc(counting);
    // 1,000 deltas of 4 characters a second at 60 frames a second
    const perFrame = Math.round((1000 * 4) / 60);
    let frames = 0;
    let most = 0;
    for (let at = perFrame; at < text.length; at += perFrame, frames++) {
      const before = doc.parsed;
      doc.read(text.slice(0, at), false);
      most = Math.max(most, doc.parsed - before);
    }
    doc.read(text, true);
    expect(most).toBeLessThan(4000);
    expect(doc.parsed / frames).toBeLessThan(700);
  });

  test.each([
    ["a list", "- a member of the list with **some** words\n", 2500],
    ["a table", "| one | two |\n", 2500],
    ["code", "const a = 1;\n", 100],
    ["paragraphs", `${sentence}\n`, 2500],
  ])("is parsed by a bounded number of characters when it is 100 KB of %s", (kind, line, bound) => {
    const head = kind === "a table" ? "| a | b |\n|---|---|\n" : kind === "code" ? "```ts\n" : "";
    const text = head + line.repeat(Math.ceil(100_000 / line.length));
    const doc = new Doc(counting);
    let frames = 0;
    for (let at = 67; at < text.length; at += 67, frames++) doc.read(text.slice(0, at), false);
    expect(doc.parsed / frames).toBeLessThan(bound);
  });

  test("resolves links and footnotes that are defined later, in other blocks", () => {
    const text = `See [the page][p], and this.[^n]\n\n${sentence.repeat(5)}\n[p]: https://example.org/p\n\n[^n]: A note.\n`;
    const doc = new Doc(parse);
    for (let at = 1; at < text.length; at += 11) doc.read(text.slice(0, at), false);
    const shown = doc.read(text, true);
    expect(shown.references.links.get("p")).toBe("https://example.org/p");
    expect([...shown.references.notes.keys()]).toEqual(["n"]);
    const types = new Set<string>();
    const visit = (n: Nodes) => {
      types.add(n.type);
      if ("children" in n) for (const c of n.children) visit(c);
    };
    for (const b of shown.blocks) if (b.tree) visit(b.tree as Root);
    expect(types).toContain("linkReference");
    expect(types).toContain("footnoteReference");
  });

  test("that is replaced by another is read from its beginning", () => {
    const doc = new Doc(parse);
    doc.read("# One\n\n[a]: https://a.example\n", true);
    const shown = doc.read("Two\n", true);
    expect(outline(shown.blocks.flatMap((b) => b.tree?.children ?? []))).toEqual(outline(parse("Two\n").children));
    expect(shown.references.links.size).toBe(0);
  });

  test("that is long is parsed in pieces", () => {
    const text = answer(150_000);
    const doc = new Doc(counting);
    expect(doc.read(text, true).waiting).toBe(true);
    expect(doc.parsed).toBeLessThan(70_000);
    for (let i = 0; i < 100 && doc.read(text, true, 8192).waiting; i++);
    expect(doc.read(text, true).blocks.every((b) => b.tree || b.block.kind !== "markdown")).toBe(true);
  });
});

describe("the end of a text that still comes in", () => {
  test.each([
    ["a **bol", "a **bol**"],
    ["a **bold*", "a **bold**"],
    ["a **bold**", "a **bold**"],
    ["a **", "a "],
    ["a `co", "a `co`"],
    ["a `", "a "],
    ["a [link](https://exa", "a link"],
    ["a [lin", "a lin"],
    ["a\n-", "a\n"],
    ["a\n===", "a\n"],
    ["a\n1.", "a\n"],
    ["| a | b |", "| a | b |\n|-|-|"],
    ["| a | b |\n|--", "| a | b |\n|-|-|"],
    ["```\na **b", "```\na **b"],
    ["snake_case_na", "snake_case_na"],
    ["2 * 3 and 4", "2 * 3 and 4"],
    ["a *b **c", "a *b **c***"],
    ["a\n\nb ~~c", "a\n\nb ~~c~~"],
  ])("%j is completed", (text, mended) => {
    expect(mend(text)).toBe(mended);
  });
});
