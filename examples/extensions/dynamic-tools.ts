// Tools that come and go while the session runs. Scripts in tools/ of the working
// directory become tools; /tools-from reads another folder, and /readonly switches off
// everything that writes. What changes counts from the next turn on.
import type { ExtensionAPI } from "scorel";
import { Type } from "@sinclair/typebox";
import { existsSync, readdirSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";

const MOST = 20; // scripts

export default function (pi: ExtensionAPI) {
  function addScripts(folder: string) {
    if (!existsSync(folder)) return 0;
    const scripts = readdirSync(folder).filter((f) => extname(f) === ".sh").slice(0, MOST);
    for (const script of scripts) {
      pi.registerTool({
        name: `script_${basename(script, ".sh").replace(/\W/g, "_")}`,
        description: `Run the script ${join(folder, script)}.`,
        parameters: Type.Object({ args: Type.Optional(Type.Array(Type.String())) }),
        async execute(_id, { args = [] }, signal, _onUpdate, ctx) {
          const { stdout, stderr, code } = await pi.exec("bash", [join(folder, script), ...args], { cwd: ctx.cwd, signal });
          if (code !== 0) throw new Error(`The script ended with ${code}: ${stderr.trim()}`);
          return { content: [{ type: "text", text: stdout }] };
        },
      });
    }
    return scripts.length;
  }

  pi.on("session_start", (_event, ctx) => {
    addScripts(join(ctx.cwd, "tools"));
  });

  pi.registerCommand("tools-from", {
    description: "Make the scripts of a folder tools",
    argumentHint: "<folder>",
    handler: async (args, ctx) => {
      const folder = resolve(ctx.cwd, args.trim() || "tools");
      ctx.ui.notify(`${addScripts(folder)} scripts of ${folder} are tools now.`, "info");
    },
  });

  pi.registerCommand("readonly", {
    description: "Switch off the tools that write",
    handler: async (_args, ctx) => {
      const keep = pi.getActiveTools().filter((name) => !["bash", "write", "edit"].includes(name));
      await pi.setActiveTools(keep);
      ctx.ui.notify(`Left: ${keep.join(", ")}.`, "info");
    },
  });
}
