import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";

/** What a part of the page imports for the address of the document that draws diagrams. */
const name = "virtual:diagram";
const entry = fileURLToPath(new URL("src/app/diagram/frame.ts", import.meta.url));

/**
 * The document that draws diagrams in a frame without rights (src/app/diagram). Such a frame has
 * an origin of its own that is nobody's, so the host gives it no other file: its script stands in
 * the document. The name of the document has the hash of the script, which is the one script that
 * the host's policy for it allows (internal/host/serve/page.go).
 */
export function diagram(): Plugin {
  let made: Promise<{ path: string; document: string }> | undefined;
  const make = () => {
    made ??= document();
    return made;
  };
  return {
    name: "diagram",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    async load(id) {
      if (id !== `\0${name}`) return undefined;
      const { path, document } = await make();
      if (this.environment.mode === "build") this.emitFile({ type: "asset", fileName: path, source: document });
      return `export default ${JSON.stringify(`./${path}`)};`;
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        void make().then(({ path, document }) => {
          if (request.url?.split("?")[0] !== `/${path}`) return next();
          response.setHeader("Content-Type", "text/html");
          response.end(document);
        }, next);
      });
    },
  };
}

async function document(): Promise<{ path: string; document: string }> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: { write: false, target: "es2022", lib: { entry, formats: ["iife"], name: "diagram" }, chunkSizeWarningLimit: 5000 },
    define: { "process.env.NODE_ENV": '"production"' }, // a library is left to say so itself
  });
  const [result] = [built].flat();
  const code = result && "output" in result ? result.output.find((o) => o.type === "chunk")?.code : undefined;
  if (!code) throw new Error("src/app/diagram/frame.ts made no script");
  const script = code.replace(/<(\/script|!--)/gi, "\\x3c$1").trim();
  // Its licence goes with it.
  const licence = readFileSync(new URL("node_modules/mermaid/LICENSE", import.meta.url), "utf8")
    .replaceAll("--", "-")
    .trim();
  const hash = createHash("sha256").update(script).digest("base64url");
  return {
    path: `assets/diagram-${hash}.html`,
    document: `<!doctype html><!-- mermaid: ${licence} --><html lang="en"><head><meta charset="utf-8"><title>Diagram</title></head><body><script>${script}</script></body></html>\n`,
  };
}
