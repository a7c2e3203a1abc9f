// Keep the agent from writing certain files. The list may stand in config.toml:
//
//   [extensions.protected-paths]
//   paths = [".env", "secrets/"]
import { defineExtension } from "scorel";

const usual = [".env", ".git/", "node_modules/"];

export default defineExtension({
  id: "protected-paths",
  name: "Protected paths",
  version: "1.0.0",

  hooks: () => ({
    beforeToolCall({ toolName, input }, ctx) {
      if (toolName !== "Write" && toolName !== "Edit") return undefined;
      const path = String(input.path).replaceAll("\\", "/");
      const paths = Array.isArray(ctx.config.paths) ? ctx.config.paths.map(String) : usual;
      const hit = paths.find((p) => (p.endsWith("/") ? `/${path}/`.includes(`/${p}`) : path === p || path.endsWith(`/${p}`)));
      if (hit === undefined) return undefined;
      ctx.logger.info(`${toolName} of ${path} was blocked by ${hit}`);
      return { block: true, reason: `${path} is protected (${hit}). Tell the user what you would change instead.` };
    },
  }),
});
