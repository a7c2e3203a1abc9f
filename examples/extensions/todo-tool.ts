// A tool with state. The state is nowhere but in the log: each change appends the whole
// list as an entry of the active path, and the newest one counts. So it is right after a
// restart, and after a rewind it is what it was then.
import { defineExtension, StringEnum, Type, type Context } from "scorel";

interface Item {
  text: string;
  done: boolean;
}

const KIND = "todo_example";

function items(ctx: Context): Item[] {
  const newest = ctx.session.entries.findLast((e) => e.type === KIND) as { items?: Item[] } | undefined;
  return structuredClone(newest?.items ?? []);
}

function show(list: Item[]) {
  return list.map((item, i) => `${i + 1}. [${item.done ? "x" : " "}] ${item.text}`).join("\n") || "The list is empty.";
}

export default defineExtension({
  id: "todo-tool",
  name: "A list of things to do",
  version: "1.0.0",

  tools: () => [
    {
      name: "todo",
      label: "Todo",
      description: "Keep a list of things to do: list it, add a text, or mark number n as done.",
      kind: "read", // it touches nothing but the session
      parameters: Type.Object({
        action: StringEnum(["list", "add", "done"]),
        text: Type.Optional(Type.String({ description: "what to add" })),
        n: Type.Optional(Type.Integer({ minimum: 1, description: "which one is done" })),
      }),
      async execute(_id, { action, text, n }, _signal, _onUpdate, ctx) {
        const list = items(ctx);
        if (action === "add") {
          if (!text) throw new Error("Give the text to add."); // a tool fails by throwing
          list.push({ text, done: false });
        }
        if (action === "done") {
          const item = list[(n ?? 0) - 1];
          if (!item) throw new Error(`There is no number ${n}. ${show(list)}`);
          item.done = true;
        }
        if (action !== "list") await ctx.session.append(KIND, { items: list });
        return { content: show(list), details: { items: list } };
      },
    },
  ],

  commands: () => ({
    todos: {
      description: "Show the list",
      immediate: true, // it appends nothing, so it need not wait for the turn
      run: (_args, ctx) => show(items(ctx)),
    },
  }),
});
