import { complete } from "@mariozechner/pi-ai";
import type { HookAPI, AppMessage, SessionEntry, ContextMessage } from "@mariozechner/pi-coding-agent/hooks";
export default function(pi: HookAPI) {
  pi.command("pop", {
    description: "Pop to previous turn, summarizing work",
    handler: async (ctx) => {
      const entries = ctx.entries as SessionEntry[];
      // Get user turns
      const turns = entries
        .map((e, i) => ({ e, i }))
        .filter(({ e }) => e.type === "message" && (e as any).message.role === "user")
        .map(({ e, i }) => ({ idx: i, text: preview((e as any).message) }));
      if (turns.length < 2) return { status: "Need at least 2 turns" };
      // Select target (skip last turn - that's current)
      const options = turns.slice(0, -1).map(t => `[${t.idx}] ${t.text}`);
      const selected = ctx.args[0]
        ? options.find(o => o.startsWith(`[${ctx.args[0]}]`))
        : await ctx.ui.select("Pop to:", options);
      if (!selected) return;
      const backTo = parseInt(selected.match(/\[(\d+)\]/)![1]);
      // Check compaction crossing
      const compactions = entries.filter(e => e.type === "compaction") as any[];
      const latestCompaction = compactions[compactions.length - 1];
      const crossing = latestCompaction && backTo < latestCompaction.firstKeptEntryIndex;
      // Generate summaries
      let prePopSummary: string | undefined;
      if (crossing) {
        ctx.ui.notify("Crossing compaction, generating pre-pop summary...", "info");
        const preMsgs = getMessages(entries.slice(0, backTo));
        prePopSummary = await summarize(preMsgs, ctx, "context before this work");
      }
      const popMsgs = getMessages(entries.slice(backTo));
      const summary = await summarize(popMsgs, ctx, "completed work");
      // Save and rebuild
      await ctx.saveEntry({
        type: "stack_pop",
        backToIndex: backTo,
        summary,
        prePopSummary,
      });
      await ctx.rebuildContext();
      return { status: `Popped to turn ${backTo}` };
    }
  });
  pi.on("context", (event, ctx) => {
    const hasPops = event.entries.some(e => e.type === "stack_pop");
    if (!hasPops) return;
    // Collect ranges with IDs
    let rangeId = 0;
    const ranges: Array<{from: number; to: number; summary: string; id: number}> = [];
    for (let i = 0; i < event.entries.length; i++) {
      const e = event.entries[i] as any;
      if (e.type === "compaction") {
        ranges.push({ from: 0, to: e.firstKeptEntryIndex, summary: e.summary, id: rangeId++ });
      }
      if (e.type === "stack_pop") {
        if (e.prePopSummary) {
          ranges.push({ from: 0, to: e.backToIndex, summary: e.prePopSummary, id: rangeId++ });
        }
        ranges.push({ from: e.backToIndex, to: i, summary: e.summary, id: rangeId++ });
      }
    }
    // Build messages
    const messages: ContextMessage[] = [];
    const emitted = new Set<number>();
    for (let i = 0; i < event.entries.length; i++) {
      const covering = ranges.filter(r => r.from <= i && i < r.to);
      if (covering.length) {
        const winner = covering.reduce((a, b) => a.id > b.id ? a : b);
        if (i === winner.from && !emitted.has(winner.id)) {
          messages.push({
            message: { role: "user", content: `[Summary]\n\n${winner.summary}`, timestamp: Date.now() } as AppMessage,
            entryIndex: null
          });
          emitted.add(winner.id);
        }
        continue;
      }
      const e = event.entries[i];
      if (e.type === "message") {
        messages.push({ message: (e as any).message, entryIndex: i });
      }
    }
    return { messages };
  });
}
function getMessages(entries: SessionEntry[]): AppMessage[] {
  return entries.filter(e => e.type === "message").map(e => (e as any).message);
}
function preview(msg: AppMessage): string {
  const text = typeof msg.content === "string" ? msg.content
    : (msg.content as any[]).filter(c => c.type === "text").map(c => c.text).join(" ");
  return text.slice(0, 40) + (text.length > 40 ? "..." : "");
}
async function summarize(msgs: AppMessage[], ctx: any, purpose: string): Promise<string> {
  const apiKey = await ctx.resolveApiKey(ctx.model);
  const resp = await complete(ctx.model, {
    messages: [...msgs, { role: "user", content: `Summarize as "${purpose}". Be concise.`, timestamp: Date.now() }]
  }, { apiKey, maxTokens: 2000, signal: ctx.signal });
  return resp.content.filter((c: any) => c.type === "text").map((c: any) => c.text).join("\n");
}

