// Show something in the status line of every client that is attached: how many turns
// there were, and how full the context is.
import { defineExtension, type Context } from "scorel";

let turns = 0;
let tools = 0;

function show(ctx: Context, state: string) {
  ctx.ui.setStatus("turns", `${state} · ${turns} ${turns === 1 ? "turn" : "turns"} · ${tools} ${tools === 1 ? "tool" : "tools"}`);
}

export default defineExtension({
  id: "status-line",
  name: "Status line",
  version: "1.0.0",

  // Every event of the session comes here once, in the form that the log or the wire
  // gives it.
  onEvent(event, ctx) {
    switch (event.type) {
      case "session_start":
        turns = ctx.session.entries.filter((e) => e.type === "message" && e.message.role === "user").length;
        return show(ctx, "ready");
      case "runtime_start":
        turns++;
        return show(ctx, "working");
      case "tool_execution_end":
        tools++;
        return show(ctx, "working");
      case "runtime_end":
        return show(ctx, event.reason === "completed" ? "ready" : String(event.reason));
    }
  },
});
