// A tool with which the model asks the user: options to pick from, or an own answer.
// Whoever is attached may answer, in the terminal, the browser or on the phone; the
// first answer counts.
import type { ExtensionAPI } from "scorel";
import { Type } from "@sinclair/typebox";

const OTHER = "Something else …";

export default function (pi: ExtensionAPI) {
  pi.registerTool({
    name: "question",
    label: "Question",
    description: "Ask the user one question with two to six options. Use it when a decision is theirs.",
    promptSnippet: "Ask the user a question with options",
    parameters: Type.Object({
      question: Type.String(),
      options: Type.Array(Type.String(), { minItems: 2, maxItems: 6 }),
    }),
    async execute(_toolCallId, { question, options }, signal, onUpdate, ctx) {
      if (!ctx.hasUI) throw new Error("Nobody is attached who could answer. Decide yourself and say what you assumed.");
      onUpdate?.({ content: [{ type: "text", text: `Waiting for an answer: ${question}` }] });
      let answer = await ctx.ui.select(question, [...options, OTHER], { signal });
      if (answer === OTHER) answer = await ctx.ui.input(question, "your answer", { signal });
      if (answer === undefined) return { content: [{ type: "text", text: "The user did not answer." }], details: { question } };
      return { content: [{ type: "text", text: `The user answered: ${answer}` }], details: { question, answer } };
    },
  });
}
