/** What of a session's path is shown, as rows in their order: pure, and tested without a page. */
import { cleanLine } from "../../display/clean";
import { type AttachedFile, fileOf } from "../../display/files";
import { itemOf } from "../../display/index";
import {
  type Block,
  type EventID,
  type LiveMessage,
  type LiveTool,
  type PersistentEvent,
  type ShellResult,
  type Source,
  type ToolDetails,
  type ToolInfo,
  type ToolResultMessage,
  tools,
} from "../../protocol/index";
import { exactText, literalText } from "../text/safe";
import { eventsOf, type ProcessStep, stepsOf } from "./process";

/** How a step stands; lost: it has no result, and nothing runs that could bring one. */
export type StepState = "running" | "done" | "failed" | "denied" | "stopped" | "lost";

export interface Step {
  kind: "step";
  key: string;
  /** The event that holds the call, and that of its result. */
  event: EventID;
  result?: EventID;
  at: number;
  name: string;
  info: ToolInfo | undefined;
  input: unknown;
  state: StepState;
  /** The result as text for people. */
  output: string;
  details: ToolDetails;
  /** In milliseconds; 0 is not known. */
  duration: number;
  /** When it ended, in Unix milliseconds; of one that runs, now. */
  end: number;
  pictures: PictureRef[];
  /** The payload with the whole output, where only a part of it is in output. */
  whole?: string;
  process: readonly ProcessStep[];
  /** A command of a person that the model is not told of. */
  untold?: boolean;
}

/** An image of the session, which the host has. */
export interface PictureRef {
  blob: string;
  mediaType: string;
}

/** A message, or a part of one. whole is the payload with the whole text, where text is a part of it. */
interface Words {
  key: string;
  event: EventID;
  at: number;
  text: string;
  whole?: string;
}

/** also: the messages that go on with it. goesOn: the output limit has cut it, and the next message goes on. */
export type Prose = Words & { kind: "prose"; growing: boolean; first?: true; also?: readonly EventID[]; goesOn?: true };

export type Row =
  | (Words & { kind: "said"; from: Source | ""; pictures: PictureRef[]; files: string[]; attached: AttachedFile[] })
  | Prose
  | (Words & { kind: "thinking"; growing: boolean })
  | Step
  | { kind: "marker"; key: string; text: string; body: string }
  | { kind: "cut"; key: string; why: Cut }
  | { kind: "failed"; key: string; text: string };

/** Why an answer is not whole. */
export type Cut = "cancelled" | "error" | "refusal" | "partial";

/** What stands for the tool in the step of a command that a person ran. */
export const shellName = "!";

const byAlias = new Map(Object.values(tools).flatMap((t) => [[t.name, t] as const, ...(t.aliases ?? []).map((a) => [a, t] as const)]));

/** What a tool means, also one that was called by another. */
export function toolOf(name: string, input: unknown): { name: string; info: ToolInfo | undefined; input: unknown } {
  const info = byAlias.get(name);
  if (!info?.targetField || !info.paramsField) return { name, info, input };
  const target = member(input, info.targetField);
  return typeof target === "string"
    ? { name: target, info: byAlias.get(target), input: member(input, info.paramsField) }
    : { name, info, input };
}

/** The member of a call's input that says most in one line, "" for none. */
export function titleOf(info: ToolInfo | undefined, input: unknown): string {
  const names = info?.titleField ? [info.titleField] : ["path", "query", "name", "id", "url"];
  for (const n of names) {
    const v = member(input, n);
    // A line end is what it is not: a blank. After a # all would look like a remark.
    if (typeof v === "string") {
      const line =
        info?.view === "command"
          ? v
              .trim()
              .split(/\r\n|[\n\r\u2028\u2029\u0085]/)
              .join(" ↵ ")
          : v;
      return cleanLine((info?.rule ? literalText : exactText)(line)); // what rules are about is run or opened
    }
    if (typeof v === "number") return String(v);
  }
  return "";
}

export function member(input: unknown, name: string): unknown {
  return typeof input === "object" && input !== null && Object.hasOwn(input, name) ? (input as Record<string, unknown>)[name] : undefined;
}

/** The event of the result of a call. */
type Result = MessageEvent & { message: ToolResultMessage };

/**
 * The rows of a path, oldest first. While a turn runs, the calls of the last message are left to it
 * as long as they have no result; of all others none will come.
 */
export function rowsOf(path: readonly PersistentEvent[], running: boolean): Row[] {
  const results = new Map<string, Result>();
  for (const e of path) {
    if (e.type === "message" && e.message.role === "tool_result") results.set(e.message.toolCallId ?? "", e as Result);
  }
  const open = running ? newestOf(path, (e) => e.type === "message" && e.message.role !== "tool_result") : undefined;
  return joined(path.flatMap((e) => rowsOfEvent(e, results, e === open)));
}

/** What a row became with the one that goes on with it: the same again while both are. */
const whole = new WeakMap<Row, { next: Row; row: Prose }>();

/** Rows in which an answer is one row, though the output limit of the model has cut it into messages. */
export function joined(rows: readonly Row[]): Row[] {
  const out: Row[] = [];
  for (const r of rows) {
    const last = out.at(-1);
    if (r.kind !== "prose" || last?.kind !== "prose" || !last.goesOn || r.whole || r.event === last.event) {
      out.push(r);
      continue;
    }
    const before = whole.get(last);
    const { goesOn: _, ...rest } = last;
    const row: Prose =
      before?.next === r
        ? before.row
        : {
            ...rest,
            text: last.text + r.text,
            growing: r.growing,
            also: [...(last.also ?? []), r.event],
            ...(r.goesOn ? { goesOn: true as const } : {}),
          };
    whole.set(last, { next: r, row });
    out[out.length - 1] = row;
  }
  return out;
}

/** The rows without an answer at their end that goes on, and that: while a turn runs it is drawn with what comes. */
export function parted(rows: readonly Row[]): { rows: readonly Row[]; open?: Prose } {
  const last = rows.at(-1);
  return last?.kind === "prose" && last.goesOn ? { rows: rows.slice(0, -1), open: last } : { rows };
}

/** The rows that an event had, with the results of its calls: the same again while these are. */
const made = new WeakMap<PersistentEvent, { results: readonly (Result | undefined)[]; open: boolean; rows: readonly Row[] }>();

/** open says that a turn runs the calls of the event. */
function rowsOfEvent(e: PersistentEvent, all: Map<string, Result>, open: boolean): readonly Row[] {
  const calls = e.type === "message" && e.message.role === "assistant" && Array.isArray(e.message.content) ? e.message.content : [];
  const results = calls.flatMap((b) => (b.type === "tool_use" ? [all.get(b.id ?? "")] : []));
  const before = made.get(e);
  const waits = open && results.some((r) => r === undefined);
  if (before?.open === waits && before.results.every((r, i) => r === results[i])) return before.rows;
  const rows = newRows(e, all, waits);
  made.set(e, { results, open: waits, rows });
  return rows;
}

function newRows(e: PersistentEvent, results: Map<string, Result>, open: boolean): Row[] {
  const rows: Row[] = [];
  if (e.type === "message") message(rows, e.id, e.ts, e.message, results, open);
  else if (e.type === "custom_message" && e.kind === shellKind) rows.push(shellOf(e.id, e.ts, e));
  else {
    const item = itemOf(e);
    if (!item || (item.kind !== "folded" && item.kind !== "marker" && item.kind !== "notice" && item.kind !== "badge")) return rows;
    if (e.type === "session_info") return rows;
    const text = item.title ?? item.text ?? "";
    if (text !== "") rows.push({ kind: "marker", key: e.id, text, body: item.title ? (item.text ?? "") : "" });
  }
  return rows;
}

type MessageEvent = Extract<PersistentEvent, { type: "message" }>;
type Message = MessageEvent["message"];

function message(rows: Row[], id: EventID, at: number, m: Message, results: Map<string, Result>, open: boolean): void {
  const blocks: readonly Block[] = typeof m.content === "string" ? [{ type: "text", text: m.content }] : (m.content ?? []);
  switch (m.role) {
    case "user": {
      const attached = blocks.map((b, i) => (i > 0 && b.type === "text" ? fileOf(b.text) : undefined));
      rows.push({
        kind: "said",
        key: id,
        event: id,
        at,
        text: textOf(blocks.filter((_, i) => !attached[i])),
        ...wholeOf(blocks),
        attached: attached.filter((f) => f !== undefined),
        from: m.meta?.source ?? "",
        pictures: picturesOf(blocks),
        files: blocks.flatMap((b) => (b.type === "file" ? [cleanLine(b.name ?? "")] : [])),
      });
      return;
    }
    case "assistant": {
      const first = blocks.findIndex((b) => b.type === "text" && b.text.trim() !== "");
      const goesOn = m.stopReason === "max_tokens" && !m.partial && !blocks.some((b) => b.type === "tool_use");
      blocks.forEach((b, i) => {
        const key = `${id} ${i}`;
        if (b.type === "text" && b.text.trim() !== "")
          rows.push({
            kind: "prose",
            key,
            event: id,
            at,
            text: b.text,
            growing: false,
            ...(i === first ? { first: true as const } : {}),
            ...(goesOn && i === blocks.length - 1 && !b.blob ? { goesOn: true as const } : {}),
            ...wholeOf([b]),
          });
        else if (b.type === "thinking" && b.thinking.trim() !== "")
          rows.push({ kind: "thinking", key, event: id, at, text: b.thinking, growing: false, ...wholeOf([b]) });
        else if (b.type === "tool_use") {
          const result = results.get(b.id ?? "");
          if (result) rows.push(done(key, id, at, b.name ?? "", b.input, result));
          else if (!open) rows.push(lost(key, id, at, b.name ?? "", b.input));
        }
      });
      const why = cutOf(m.stopReason, m.partial);
      if (m.errorMessage && why !== "cancelled") rows.push({ kind: "failed", key: `${id} error`, text: cleanLine(m.errorMessage) });
      else if (why) rows.push({ kind: "cut", key: `${id} cut`, why });
    }
  }
}

function cutOf(stop: string | undefined, partial: boolean | undefined): Cut | undefined {
  switch (stop) {
    case "cancelled":
    case "error":
    case "refusal":
      return stop;
    default: // what the output limit has cut: the next message continues it, or says why not
      return partial ? "partial" : undefined;
  }
}

function done(key: string, event: EventID, at: number, called: string, args: unknown, result: Result): Step {
  const { message: m } = result;
  const details = (typeof m.details === "object" && m.details !== null ? m.details : {}) as ToolDetails;
  const state: StepState = details.denied
    ? "denied"
    : details.outcome === "cancelled" || details.cancelled
      ? "stopped"
      : m.isError || details.outcome === "not_run" || (details.exitCode ?? 0) !== 0
        ? "failed"
        : "done";
  return {
    kind: "step",
    key,
    event,
    result: result.id,
    at,
    ...toolOf(called, args),
    state,
    output: printed(shownText(textOf(m.content), details)),
    details,
    // What was not run took no time: a person did, to say so.
    duration: details.durationMs ?? (details.denied || details.outcome === "not_run" ? 0 : Math.max(0, result.ts - at)),
    end: result.ts,
    pictures: picturesOf(m.content ?? []),
    ...(details.fullBlob ? { whole: details.fullBlob } : wholeOf(m.content ?? [])),
    process: stepsOf(eventsOf(m.process), true),
  };
}

function lost(key: string, event: EventID, at: number, called: string, args: unknown): Step {
  const none = { output: "", details: {}, duration: 0, end: at, pictures: [], process: [] };
  return { kind: "step", key, event, at, ...toolOf(called, args), state: "lost", ...none };
}

function picturesOf(blocks: readonly Block[]): PictureRef[] {
  return blocks.flatMap((b) => (b.type === "image" && b.blob ? [{ blob: b.blob, mediaType: b.mediaType ?? "" }] : []));
}

/** The payload with the whole of the only text that was cut. */
function wholeOf(blocks: readonly Block[]): { whole?: string } {
  const cut = blocks.flatMap((b) => ((b.type === "text" || b.type === "thinking") && b.blob ? [b.blob] : []));
  return cut[0] ? { whole: cut[0] } : {};
}

/** Messages of this kind tell how a command of a person went: the last block is what it printed. */
const shellKind = "scorel.shell";

/** A command that a person ran, as a step. */
function shellOf(id: EventID, at: number, e: { message: Message; data?: unknown }): Step {
  const r = (typeof e.data === "object" && e.data !== null ? e.data : {}) as Partial<ShellResult>;
  const { content } = e.message;
  const last = typeof content === "string" ? content : textOf((content ?? []).slice(-1));
  const details: ToolDetails = { ...(r.exitCode === undefined ? {} : { exitCode: r.exitCode }), ...(r.shown ? { shown: r.shown } : {}) };
  const bad = r.failed || r.lost || r.timedOut || (r.exitCode ?? 0) !== 0;
  return {
    kind: "step",
    key: id,
    event: id,
    at,
    name: shellName,
    info: tools.Bash,
    input: { command: r.command ?? "" },
    state: r.cancelled ? "stopped" : bad ? "failed" : "done",
    output: [r.failed, printed(shownText(last, details))].filter(Boolean).join("\n"),
    details,
    duration: r.durationMs ?? 0,
    end: at,
    pictures: [],
    process: [],
    ...(typeof content === "string" ? {} : wholeOf((content ?? []).slice(-1))),
    ...(r.inContext === false ? { untold: true } : {}),
  };
}

/** What runs: messages that come in, and calls. */
export function liveRows(
  messages: readonly LiveMessage[] | undefined,
  running: readonly LiveTool[] | undefined,
  at: number,
  since: (call: string) => number = () => at,
): Row[] {
  const now = Date.now();
  const rows: Row[] = [];
  for (const m of messages ?? []) {
    const blocks = m.blocks ?? [];
    blocks.forEach((b, i) => {
      const key = `${m.eventId} ${i}`;
      const growing = i === blocks.length - 1;
      if (b.type === "text" && b.text !== "") rows.push({ kind: "prose", key, event: m.eventId, at, text: b.text, growing });
      else if (b.type === "thinking") rows.push({ kind: "thinking", key, event: m.eventId, at, text: b.text, growing });
    });
  }
  for (const t of running ?? []) {
    rows.push({
      kind: "step",
      key: t.toolCallId,
      event: t.eventId,
      at: since(t.toolCallId),
      ...(t.shell ? { name: shellName, info: tools.Bash, input: { command: t.shell.command } } : toolOf(t.toolName, t.args)),
      state: "running",
      output: t.outputTail ?? "",
      details: {},
      duration: 0,
      end: now,
      pictures: [],
      process: stepsOf(
        (t.process ?? []).map((p) => p.event),
        false,
      ),
    });
  }
  return rows;
}

export function textOf(blocks: readonly Block[] | null): string {
  return (blocks ?? []).flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n");
}

/** The text of a result without what is for the model alone: shown counts bytes of UTF-8. */
export function shownText(text: string, details: ToolDetails): string {
  const { shown } = details;
  if (!shown || (!shown.head && !shown.tail)) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length !== shown.whole) return text;
  return new TextDecoder().decode(bytes.subarray(shown.head ?? 0, bytes.length - (shown.tail ?? 0)));
}

/** What stands in a result for an output that there is none of: a command that prints the same ends its line, or has a note after it. */
const noOutput = new Set(["[no output; exit code 0]", "(no output)"]);

function printed(output: string): string {
  return noOutput.has(output) ? "" : output;
}

/** The last of a list for which is holds. */
export function newestOf<T>(list: readonly T[], is: (t: T) => boolean): T | undefined {
  for (let i = list.length - 1; i >= 0; i--) if (is(list[i] as T)) return list[i];
  return undefined;
}
