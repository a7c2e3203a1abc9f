// Ask before a command that is hard to undo, whatever the permission mode says. When
// nobody can answer, the command is blocked; so it is when this handler fails.
import type { ExtensionAPI } from "scorel";

const dangerous = [/\brm\s+-\w*[rf]/, /\bsudo\b/, /\bgit\s+push\b.*--force/, /\bmkfs\b/, /\bdd\b.*\bof=\/dev\//, /\bchmod\s+-R\s+777\b/];

export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event, ctx) => {
    // The pi API calls the shell tool "bash"; in Scorel's own shape it is "Bash".
    if (event.toolName !== "bash") return undefined;
    const command = String(event.input.command);
    if (!dangerous.some((pattern) => pattern.test(command))) return undefined;
    if (!ctx.hasUI) return { block: true, reason: "This command needs a person's consent, and nobody is attached." };
    const ok = await ctx.ui.confirm("Run this command?", command, { timeout: 120_000 });
    return ok ? undefined : { block: true, reason: "The user did not allow this command. Do not try another way; ask." };
  });
}
