// Write the summary of a compaction oneself: here by a small model if there is one, in
// a form of our own. What is kept and where the cut falls stays the host's matter. When
// this handler fails, the host summarises as usual.
import type { ExtensionAPI } from "scorel";
import { complete } from "@mariozechner/pi-ai";
import { serializeConversation } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("session_before_compact", async ({ preparation, customInstructions, signal }, ctx) => {
    const { messagesToSummarize, previousSummary } = preparation;
    const model = ctx.modelRegistry.getAvailable().find((m) => /mini|haiku|flash/.test(m.id)) ?? ctx.model;
    if (!model) return undefined;

    const prompt = [
      "Summarise this coding session for whoever goes on with it. Use these headings:",
      "Goal, Decisions, Files changed, What works, Next steps. Quote file names exactly.",
      customInstructions ?? "",
      previousSummary ? `What was summarised before:\n${previousSummary}` : "",
      serializeConversation(messagesToSummarize),
    ].filter(Boolean).join("\n\n");

    const answer = await complete(model, { messages: [{ role: "user", content: prompt, timestamp: Date.now() }] }, {
      apiKey: await ctx.resolveApiKey(model),
      maxTokens: 4000,
      signal,
    });
    const summary = answer.content.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n").trim();
    if (!summary) return undefined;
    return { compaction: { summary, firstKeptEntryId: preparation.firstKeptEntryId, tokensBefore: preparation.tokensBefore } };
  });
}
