// /summarize: ask a model what this conversation was about and show it above the
// editor. The question is asked beside the conversation and leaves no trace in it.
import type { ExtensionAPI } from "scorel";
import { complete } from "@mariozechner/pi-ai";
import { serializeConversation } from "@mariozechner/pi-coding-agent";

const MOST = 200_000; // characters of conversation

export default function (pi: ExtensionAPI) {
  pi.registerCommand("summarize", {
    description: "Show a summary of this conversation",
    handler: async (args, ctx) => {
      if (args.trim() === "off") return ctx.ui.setWidget("summary", undefined);
      const messages = ctx.entries.flatMap((e) => (e.type === "message" ? [e.message] : []));
      if (messages.length === 0 || !ctx.model) return ctx.ui.notify("There is nothing to summarise yet.", "warning");

      ctx.ui.setStatus("summary", "summarising …");
      try {
        const text = serializeConversation(messages).slice(-MOST);
        const answer = await complete(ctx.model, {
          systemPrompt: "You summarise conversations in at most five lines of plain text.",
          messages: [{ role: "user", content: text, timestamp: Date.now() }],
        }, { apiKey: await ctx.resolveApiKey(ctx.model), maxTokens: 500, signal: ctx.signal });
        const summary = answer.content.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n");
        ctx.ui.setWidget("summary", ["Summary (/summarize off takes it away)", ...summary.split("\n")]);
      } finally {
        ctx.ui.setStatus("summary", undefined);
      }
    },
  });
}
