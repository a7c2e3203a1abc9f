// Show something in the status line of every client that is attached: how many messages
// and tool calls there were. It counts in the log, so it is right after a restart, a
// rewind or a branch.
import { defineExtension, type Context } from "scorel";

function show(ctx: Context, state: string) {
  const roles = ctx.session.entries.flatMap((e) => (e.type === "message" ? [e.message.role] : []));
  const count = (role: string, what: string) => {
    const n = roles.filter((r) => r === role).length;
    return `${n} ${what}${n === 1 ? "" : "s"}`;
  };
  ctx.ui.setStatus("counts", [state, count("user", "turn"), count("tool_result", "tool")].join(" · "));
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
        return show(ctx, "ready");
      case "message":
        return show(ctx, "working");
      case "runtime_end":
        return show(ctx, event.reason === "completed" ? "ready" : String(event.reason));
    }
  },
});
