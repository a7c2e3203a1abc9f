// NAME: an extension of Scorel with one tool and one command.
//
// It is loaded with the next message of a session; /reload loads it again after a
// change, and `scorel extensions check PATH` says what is wrong with it. All that it
// may use stands in docs/extensions.md and docs/extensions/scorel.d.ts.
//
// This is your own code: no permission rule holds what it does by itself. Rules hold
// the tools that it gives to the model, by their name and kind.
import { defineExtension, Type } from "scorel";

export default defineExtension({
  id: "NAME",
  name: "NAME",
  version: "0.1.0",

  // What the model can call.
  tools: () => [
    {
      name: "TOOL_greet",
      description: "Greet somebody by name.",
      kind: "read", // read, write, exec or net: what is asked before it runs
      parameters: Type.Object({ who: Type.String({ description: "whom to greet" }) }),
      async execute(_toolCallId, { who }, _signal, _onUpdate, ctx) {
        if (!who) throw new Error("Say whom to greet."); // a tool fails by throwing
        return { content: `Hello, ${who}, from ${ctx.session.cwd}.` };
      },
    },
  ],

  // What a person can type: /NAME
  commands: () => ({
    "NAME": {
      description: "Say how long the conversation is",
      run: (_args, ctx) => `${ctx.session.entries.length} entries`,
    },
  }),

  // What else there is, with one of each:
  //
  // hooks: () => ({
  //   beforeToolCall: (call) => call.toolName === "Bash" && /\bsudo\b/.test(String(call.input.command))
  //     ? { block: true, reason: "No sudo here." } : undefined,
  // }),
  // onEvent: (event, ctx) => { if (event.type === "runtime_end") ctx.ui.notify("done"); },
});
