import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../protocol/index";
import { typed, unframed } from "./framed";
import { layRows } from "./layout";
import { movesOf } from "./moves";
import { TreeBuilder, type TreeNode } from "./nodes";
import { place } from "./Score";
import { treeWords } from "./words";

/** A log in which events are written with few words. */
class Log {
  readonly events: SessionEvent[] = [];
  private seq = 0;
  leaf: string | null = null;

  private put(e: object): string {
    const id = `e${++this.seq}`;
    this.events.push({ id, seq: this.seq, ts: this.seq * 60_000, parentId: this.leaf, ...e } as unknown as SessionEvent);
    return id;
  }

  said(text: string): string {
    this.leaf = this.put({ type: "message", message: { role: "user", content: text } });
    return this.leaf;
  }

  answered(text: string, calls = 0): string {
    const content = [{ type: "text", text }, ...Array.from({ length: calls }, (_, i) => ({ type: "tool_use", id: `${i}`, name: "Read" }))];
    this.leaf = this.put({ type: "message", message: { role: "assistant", content, usage: {} } });
    for (let i = 0; i < calls; i++) {
      this.leaf = this.put({ type: "message", message: { role: "tool_result", toolCallId: `${i}`, content: [], isError: false } });
    }
    return this.leaf;
  }

  rewind(to: string | null): void {
    this.put({ type: "rewind", control: true, targetEventId: to });
    this.leaf = to;
  }

  name(event: string, label: string | null): void {
    this.put({ type: "label", control: true, targetEventId: event, label });
  }

  tree(): TreeBuilder {
    const b = new TreeBuilder();
    b.add(this.events);
    return b;
  }
}

const rowsOf = (b: TreeBuilder, options: { folds?: Map<string, boolean>; shows?: (n: TreeNode) => boolean; unfolded?: boolean } = {}) =>
  layRows({
    nodes: b.nodes,
    active: b.active(),
    shows: options.shows ?? (() => true),
    folds: options.folds ?? new Map(),
    unfolded: options.unfolded ?? false,
  }).rows;
const drawn = (b: TreeBuilder, options: Parameters<typeof rowsOf>[1] = {}) =>
  rowsOf(b, options).map((r) => `${"  ".repeat(r.depth)}${r.node.text}${r.folded ? ` +${r.more}` : ""}`);

/** Two branches that were left, one of them with a branch of its own. */
function forked() {
  const log = new Log();
  log.said("why");
  const found = log.answered("found", 2);
  log.said("clamp it");
  const clamped = log.answered("clamped", 1);
  log.said("ask the database");
  log.answered("it sees the past");
  log.rewind(clamped);
  log.said("keep the guard");
  log.answered("kept");
  log.rewind(found);
  log.said("count days");
  log.answered("all four count days");
  return { log, found, clamped };
}

describe("the tree of a session", () => {
  test("has an answer with all its steps as one row, and folds branches that were left to where they part", () => {
    const b = forked().log.tree();
    expect(drawn(b)).toEqual(["why", "found", "  clamp it +5", "count days", "all four count days"]);
    expect(b.nodes[1]?.steps).toBe(2);
    expect(b.nodeOf(b.leaf)?.text).toBe("all four count days");
  });

  test("unfolds a branch, whose newest way goes straight down", () => {
    const b = forked().log.tree();
    const head = b.nodes.find((n) => n.text === "clamp it");
    expect(drawn(b, { folds: new Map([[head?.id ?? "", false]]) })).toEqual([
      "why",
      "found",
      "  clamp it",
      "  clamped",
      "    ask the database +1",
      "  keep the guard",
      "  kept",
      "count days",
      "all four count days",
    ]);
  });

  test("hangs what a filter lets through on the nearest that is seen, and folds nothing then", () => {
    const b = forked().log.tree();
    expect(drawn(b, { shows: (n) => n.kind === "said", unfolded: true })).toEqual([
      "why",
      "  clamp it",
      "    ask the database",
      "  keep the guard",
      "count days",
    ]);
  });

  test("draws the lines of branches from where they part to where their parents go on", () => {
    const rows = rowsOf(forked().log.tree());
    expect(rows.map((r) => [r.depth, r.head, r.up, r.down, r.rails])).toEqual([
      [0, false, false, true, 0],
      [0, false, true, true, 0],
      [1, true, true, false, 1],
      [0, false, true, true, 0],
      [0, false, true, false, 0],
    ]);
    expect(rows[2]?.railActive).toBe(true);
  });

  test("follows rewinds, names and what is added, each event once", () => {
    const { log, found } = forked();
    const b = log.tree();
    log.name(found, "cause");
    log.rewind(found);
    b.add(log.events);
    expect(b.nodeOf(b.leaf)?.text).toBe("found");
    expect([...b.names().values()].map((n) => n.name)).toEqual(["cause"]);
    log.name(found, null);
    log.said("another way");
    b.add(log.events);
    expect(b.names().size).toBe(0);
    expect(drawn(b)).toEqual(["why", "found", "  clamp it +5", "  count days +1", "another way"]);
  });

  test("shows all beginnings beside each other when the conversation is at its beginning", () => {
    const log = new Log();
    log.said("one");
    log.answered("first");
    log.rewind(null);
    const b = log.tree();
    expect(b.active().size).toBe(0);
    expect(drawn(b)).toEqual(["  one +1"]);
    expect(rowsOf(b)[0]?.up).toBe(false);
  });

  test("offers to go to the end of another branch, to go on from a place, and to edit a message", () => {
    const { log, found } = forked();
    const b = log.tree();
    const of = (text: string) => {
      const node = b.nodes.find((n) => n.text === text) as TreeNode;
      return movesOf(b, node, b.active().has(node), treeWords.en).map((m) => [m.title, m.target, m.rewind, m.leaves]);
    };
    expect(of("all four count days")).toEqual([]);
    expect(of("found")).toEqual([["Continue from here", found, true, true]]);
    expect(of("clamp it").map((m) => m[0])).toEqual([
      "Go to the end of this branch",
      "Edit and send again",
      "Continue from after this message",
    ]);
    expect(of("clamp it")[0]?.slice(1)).toEqual([b.nodes.find((n) => n.text === "kept")?.last, false, true]);
    expect(of("kept").map((m) => m[0])).toEqual(["Go to the end of this branch"]);
    expect(of("count days")[0]).toEqual(["Edit and send again", found, true, true]);
    log.rewind(found);
    b.add(log.events);
    expect(of("all four count days")[0]?.[3]).toBe(false); // on the way there nothing is left behind
  });

  test("is laid out at once with 10,000 messages and 500 branches", () => {
    const log = new Log();
    let fork = "";
    for (let i = 0; i < 10_000; i++) {
      if (i % 20 === 10) log.rewind(fork);
      log.said(`message ${i}`);
      const a = log.answered("answer");
      if (i % 20 === 5) fork = a;
    }
    const b = log.tree();
    expect(b.nodes.length).toBe(20_000);
    const rows = rowsOf(b);
    expect(rows.filter((r) => r.folded).length).toBe(500);
    expect(rows.length).toBeLessThan(20_000);
  });

  test("has a score of the newest nodes, in which no two heads are at the same place", () => {
    const { log } = forked();
    for (let i = 0; i < 30; i++) {
      const at = log.leaf;
      log.said(`way ${i}`);
      log.answered("a", 3);
      if (i % 3 === 0) log.rewind(at);
    }
    const { all, staves } = place(log.tree().nodes);
    expect(staves).toBe(4);
    expect(new Set(all.map((p) => `${p.x} ${p.y}`)).size).toBe(all.length);
  });
});

describe("the frame of a command", () => {
  test.each([
    ['<mcp-prompt name="mcp__notes__greet" args="Bob" server="notes">\nGreet Bob.\n</mcp-prompt>', "/mcp__notes__greet Bob\nGreet Bob."],
    [
      '<project-command name="git:commit" args="my \\u003cb\\u003e\\"message\\"" path="/p">\nDo.\n</project-command>\nx',
      '/git:commit my <b>"message"\nDo.\nx',
    ],
    ['<project-command name="a" path="/p', '<project-command name="a" path="/p'],
    ["<mcp-prompt>", "<mcp-prompt>"],
    ['<mcp-prompt server="x">\na\n</mcp-prompt>', '<mcp-prompt server="x">\na\n</mcp-prompt>'],
    ['Hello <mcp-prompt name="a">', 'Hello <mcp-prompt name="a">'],
  ])("is read as the command that was typed: %s", (text, want) => {
    expect(unframed(text)).toBe(want);
    expect(typed(text)).toBe(text === want ? text : want.split("\n")[0]);
  });
});
