// /pop: go back to an earlier message without losing what was learnt since. Everything
// from there on is replaced by a summary in what the model sees; the log keeps it all.
//
//   /pop          asks where to
//   /pop 12       goes to the message with index 12
import type { ContextMessage, HookAPI, HookCommandContext, Message, SessionEntry } from "scorel";
import { complete } from "@mariozechner/pi-ai";

// One pop, as it stands in the log. When it goes back behind what a compaction has
// kept, before holds a summary of what lies in front of it, made from the raw entries.
interface Pop {
  type: "stack_pop";
  backToIndex: number;
  summary: string;
  prePopSummary?: string;
}

// A part of the conversation that is shown as a summary: entries from ≤ i < to.
interface Range {
  from: number;
  to: number;
  summary: string;
}

export default function (pi: HookAPI) {
  pi.command("pop", {
    description: "Go back to an earlier message and keep a summary of the work since",
    argumentHint: "[index]",
    handler: pop,
  });

  pi.on("context", ({ entries }) => {
    if (!entries.some((e) => e.type === "stack_pop")) return undefined;
    return { messages: build(entries, rangesOf(entries)) };
  });
}

async function pop(ctx: HookCommandContext) {
  const entries = ctx.entries;
  const targets = entries.flatMap((e, i) => (e.type === "message" && e.message.role === "user" ? [{ i, text: firstLine(e.message) }] : []));
  targets.pop(); // the newest message is where we are
  if (targets.length === 0) return { status: "There is nothing to go back to yet." };

  let target = targets.find((t) => String(t.i) === ctx.args[0]);
  if (ctx.args[0] && !target) return { status: `No message has the index ${ctx.args[0]}.` };
  if (!target) {
    const picked = await ctx.ui.select("Go back to", targets.map((t) => `[${t.i}] ${t.text}`));
    target = targets.find((t) => picked === `[${t.i}] ${t.text}`);
    if (!target) return undefined;
  }

  const backToIndex = target.i;
  const kept = entries.findLast((e) => e.type === "compaction")?.firstKeptEntryIndex ?? 0;
  let prePopSummary: string | undefined;
  if (backToIndex < kept) {
    // The compaction's summary covers both sides of the target, so it cannot stay.
    ctx.ui.notify("This goes back behind a compaction; what was before is summarised too.", "info");
    prePopSummary = await summarise(ctx, entries.slice(0, backToIndex), "what happened before this work");
  }
  const summary = await summarise(ctx, entries.slice(backToIndex), "the work that is done");
  await ctx.saveEntry({ type: "stack_pop", backToIndex, summary, prePopSummary });
  return { status: `Went back to ${target.text}` };
}

// rangesOf lists the summaries in the order in which they were made.
function rangesOf(entries: readonly SessionEntry[]): Range[] {
  return entries.flatMap((entry, i): Range[] => {
    if (entry.type === "compaction") return [{ from: 0, to: entry.firstKeptEntryIndex, summary: entry.summary }];
    if (entry.type !== "stack_pop") return [];
    const { backToIndex, summary, prePopSummary } = entry as unknown as Pop;
    const back = { from: backToIndex, to: i, summary };
    return prePopSummary ? [{ from: 0, to: backToIndex, summary: prePopSummary }, back] : [back];
  });
}

// build gives the messages: of the ranges that cover an entry the latest counts, and
// each range that counts anywhere is shown once, where it begins.
function build(entries: readonly SessionEntry[], ranges: Range[]): ContextMessage[] {
  return entries.flatMap((entry, i): ContextMessage[] => {
    const range = ranges.findLast((r) => r.from <= i && i < r.to);
    if (range) {
      if (i !== range.from) return [];
      const message: Message = { role: "user", content: `[Summary]\n\n${range.summary}`, timestamp: entry.timestamp };
      return [{ message, entryIndex: null }];
    }
    return entry.type === "message" ? [{ message: entry.message, entryIndex: i }] : [];
  });
}

async function summarise(ctx: HookCommandContext, entries: readonly SessionEntry[], what: string) {
  const messages = entries.flatMap((e) => (e.type === "message" ? [e.message] : []));
  if (messages.length === 0) return "";
  const ask: Message = { role: "user", content: `Summarise ${what} in a few sentences: decisions, results, open ends.`, timestamp: Date.now() };
  const answer = await complete(ctx.model!, { messages: [...messages, ask] }, {
    apiKey: await ctx.resolveApiKey(ctx.model!),
    maxTokens: 2000,
    signal: ctx.signal,
  });
  return textOf(answer);
}

function textOf({ content }: Message) {
  return typeof content === "string" ? content : content.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n");
}

function firstLine(message: Message) {
  const line = textOf(message).split("\n")[0];
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}
