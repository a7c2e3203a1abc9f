// /prune: take the output of old tool calls out of what the model sees. Calls and
// results stay, so that the conversation keeps its sense; the log keeps everything.
//
//   /prune        all results before the last message
//   /prune 4      all results before the last 4 messages of the user
import type { HookAPI } from "scorel";

const LEAST = 200; // characters; shorter results cost less than the note

export default function (pi: HookAPI) {
  pi.command("prune", {
    description: "Leave the output of old tool calls out of the context",
    argumentHint: "[messages to keep]",
    handler: async (ctx) => {
      const keep = Math.max(1, Number(ctx.args[0] ?? 1) || 1);
      const turns = ctx.entries.flatMap((e, i) => (e.type === "message" && e.message.role === "user" ? [i] : []));
      const before = turns.at(-keep);
      if (before === undefined) return { status: "There is nothing to prune yet." };
      await ctx.saveEntry({ type: "prune_mark", before });
      return { status: `Tool output before message ${before} is left out from now on.` };
    },
  });

  pi.on("context", ({ entries, messages }) => {
    const mark = entries.findLast((e) => e.type === "prune_mark") as { before?: number } | undefined;
    if (mark?.before === undefined) return undefined;
    return {
      messages: messages.map((m) => {
        if (m.role !== "toolResult" || m.entryIndex === null || m.entryIndex >= mark.before!) return m;
        const size = JSON.stringify(m.content).length;
        return size < LEAST ? m : { ...m, content: [{ type: "text" as const, text: `[${size} characters of output, pruned]` }] };
      }),
    };
  });
}
