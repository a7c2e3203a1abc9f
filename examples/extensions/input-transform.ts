// Look at what the user sends before it is stored.
//
//   ?quick why is the sky blue     asks for a short answer
//   ping                           is answered here; no model is asked
import type { ExtensionAPI } from "scorel";

export default function (pi: ExtensionAPI) {
  pi.on("input", (event, ctx) => {
    if (event.source === "extension") return { action: "continue" };
    if (event.text.startsWith("?quick ")) {
      return { action: "transform", text: `${event.text.slice("?quick ".length)}\n\nAnswer in at most two sentences.` };
    }
    if (event.text.trim() === "ping") {
      ctx.ui.notify("pong", "info");
      return { action: "handled" };
    }
    return { action: "continue" };
  });
}
