import { describe, expect, test } from "vitest";
import type { PersistentEvent } from "../../protocol/index";
import { fileOf } from "../../display/files";
import files from "../../display/files.json" with { type: "json" };
import { joined, liveRows, parted, rowsOf, shownText, titleOf, toolOf } from "./rows";

const event = (id: string, ts: number, message: object) => ({ type: "message", id, ts, message }) as unknown as PersistentEvent;
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const call = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (id: string, ts: number, toolCallId: string, text: string, details: object = {}, isError = false) =>
  event(id, ts, { role: "tool_result", toolCallId, content: [{ type: "text", text }], isError, details });

describe("the rows of a path", () => {
  test("are what was said, thought, done and answered, a call with its result", () => {
    const rows = rowsOf(
      [
        event("a", 1000, { role: "user", content: "Fix it", meta: { source: "schedule" } }),
        event("b", 2000, {
          role: "assistant",
          usage,
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "I look." },
            call("1", "Bash", { command: "go test" }),
            call("2", "Edit", { path: "a.go" }),
          ],
        }),
        result("c", 5000, "1", "ok\n", { exitCode: 1 }),
        result("d", 6000, "2", "no", { denied: { reason: "not now" } }, true),
        event("e", 7000, { role: "assistant", usage, content: [{ type: "text", text: "Done." }] }),
      ],
      false,
    );
    expect(rows.map((r) => r.kind)).toEqual(["said", "thinking", "prose", "step", "step", "prose"]);
    expect(rows[0]).toMatchObject({ text: "Fix it", from: "schedule" });
    expect(rows[3]).toMatchObject({ name: "Bash", state: "failed", output: "ok\n", duration: 3000 });
    expect(rows[4]).toMatchObject({ name: "Edit", state: "denied", duration: 0 });
  });

  test("have no output of a call that printed nothing, and keep what says more", () => {
    const outputOf = (text: string) =>
      rowsOf([event("b", 1, { role: "assistant", usage, content: [call("1", "Bash", {})] }), result("c", 2, "1", text)], false).map((r) =>
        "output" in r ? r.output : "",
      );
    expect(outputOf("[no output; exit code 0]")).toEqual([""]);
    expect(outputOf("(no output)")).toEqual([""]);
    expect(outputOf("(no output)\n")).toEqual(["(no output)\n"]); // a command has printed it
    expect(outputOf("[no output; exit code 1]")).toEqual(["[no output; exit code 1]"]);
  });

  test("leave a call out that has no result yet, and say why an answer has ended", () => {
    const rows = rowsOf(
      [event("b", 1, { role: "assistant", usage, content: [call("1", "Bash", {})], errorMessage: "The key was refused." })],
      true,
    );
    expect(rows).toEqual([{ kind: "failed", key: "b error", text: "The key was refused." }]);
  });

  test("have a call without a result once nothing can bring one", () => {
    const asks = (id: string, of: string) =>
      event(id, 1, { role: "assistant", usage, content: [call(of, "Bash", { command: `make ${of}` })] });
    const states = (path: PersistentEvent[], running: boolean) => rowsOf(path, running).map((r) => ("state" in r ? r.state : r.kind));
    const killed = asks("a", "1");
    expect(states([killed], true)).toEqual([]);
    expect(states([killed], false)).toEqual(["lost"]);
    expect(states([killed], true)).toEqual([]);
    const path = [killed, event("b", 2, { role: "user", content: "and now?" }), asks("c", "2")];
    expect(states(path, true)).toEqual(["lost", "said"]);
    expect(states([...path, result("d", 3, "2", "ok")], true)).toEqual(["lost", "said", "done"]);
  });
});

describe("an answer that the output limit has cut", () => {
  const part = (id: string, text: string, more = true) =>
    event(id, 1, { role: "assistant", usage, content: [{ type: "text", text }], stopReason: more ? "max_tokens" : "end_turn" });
  const first = part("a", "```\nhalf a wo");
  const path = [first, part("b", "rd\n"), part("c", "```\nDone.", false)];

  test("is one row, the same one as long as its pieces are", () => {
    const rows = rowsOf(path, false);
    expect(rows).toMatchObject([{ kind: "prose", event: "a", first: true, also: ["b", "c"], text: "```\nhalf a word\n```\nDone." }]);
    expect(rows[0]).not.toHaveProperty("goesOn");
    expect(rowsOf(path, false)[0]).toBe(rows[0]);
  });

  test("ends where somebody says something, and where the next message begins with a thought", () => {
    const said = event("u", 2, { role: "user", content: "Go on" });
    expect(rowsOf([first, said, part("c", "Other.", false)], false).map((r) => ("text" in r ? r.text : ""))).toEqual([
      "```\nhalf a wo",
      "Go on",
      "Other.",
    ]);
    const thought = event("t", 2, {
      role: "assistant",
      usage,
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "rd" },
      ],
    });
    expect(rowsOf([first, thought], false).map((r) => r.kind)).toEqual(["prose", "thinking", "prose"]);
  });

  test("is drawn with what comes while the turn runs", () => {
    const { rows, open } = parted(rowsOf([first], true));
    expect(rows).toEqual([]);
    const live = [{ eventId: "b", role: "assistant", blocks: [{ type: "text", text: "rd" }] }] as unknown as Parameters<typeof liveRows>[0];
    expect(open && joined([open, ...liveRows(live, [], 0)])).toMatchObject([{ text: "```\nhalf a word", growing: true }]);
    expect(open && joined([open])).toMatchObject([{ text: "```\nhalf a wo", growing: false }]);
  });
});

test("a command that a person ran is a step, with what it printed and whether the model is told", () => {
  const ran = (data: object) =>
    ({
      type: "custom_message",
      id: "s",
      ts: 1,
      kind: "scorel.shell",
      message: {
        role: "user",
        content: [
          { type: "text", text: "! ls" },
          { type: "text", text: "a.go\n" },
        ],
      },
      data,
    }) as unknown as PersistentEvent;
  expect(rowsOf([ran({ command: "ls", inContext: true, exitCode: 0, durationMs: 20 })], false)).toMatchObject([
    { kind: "step", name: "!", state: "done", input: { command: "ls" }, output: "a.go\n", duration: 20 },
  ]);
  expect(rowsOf([ran({ command: "ls", inContext: false, exitCode: 2 })], false)).toMatchObject([{ state: "failed", untold: true }]);
  expect(rowsOf([ran({ command: "ls", inContext: true, cancelled: true })], false)).toMatchObject([{ state: "stopped" }]);
  expect(rowsOf([ran({ command: "ls", inContext: true, failed: "There is no bash." })], false)).toMatchObject([
    { state: "failed", output: "There is no bash.\na.go\n" },
  ]);
});

test("a call through another tool is that of the one that it names", () => {
  expect(toolOf("ExecuteExtraTool", { tool_name: "WebFetch", params: { url: "https://go.dev" } })).toMatchObject({
    name: "WebFetch",
    input: { url: "https://go.dev" },
  });
  expect(titleOf(toolOf("Bash", {}).info, { command: "go test \x1b[31m./..." })).not.toContain("\x1b");
  expect(titleOf(toolOf("Bash", {}).info, { command: "rm a\u200db\u00a0c" })).toBe("rm a[U+200D]b[U+00A0]c");
});

test("what of a result is for the model alone is counted in bytes", () => {
  const text = "héad|body|tail";
  const whole = new TextEncoder().encode(text).length;
  expect(shownText(text, { shown: { head: 6, tail: 5, whole } })).toBe("body");
  expect(shownText(text, { shown: { head: 6, tail: 5, whole: 3 } })).toBe(text);
});

test("attached files are apart from what was typed, and told by their frame alone", () => {
  for (const c of files) {
    const { path = "", lines = 0 } = fileOf(c.in) ?? {};
    expect({ in: c.in, path, lines }).toEqual(c);
  }
  const frame = '<file path="big.txt">\none\ntwo\n\n</file>';
  const content = [frame, frame].map((text) => ({ type: "text", text }));
  expect(rowsOf([event("a", 1, { role: "user", content })], false)).toMatchObject([
    { kind: "said", text: frame, attached: [{ path: "big.txt", lines: 2, text: "one\ntwo" }] },
  ]);
});
