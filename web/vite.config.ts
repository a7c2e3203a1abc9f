import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { diagram } from "./vite.diagram";

/**
 * Packs what was built: the page is a part of the binary, and a browser is sent it packed. The
 * document stays as it is, because the host writes a nonce into it.
 */
function packed(): Plugin {
  let dir = "";
  return {
    name: "packed",
    apply: "build",
    configResolved(c) {
      dir = c.build.outDir;
    },
    closeBundle() {
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(js|css|svg|webmanifest)$|^assets\/.*\.html$/.test(name)) continue;
        const path = join(dir, name);
        const out = gzipSync(readFileSync(path), { level: constants.Z_BEST_COMPRESSION });
        writeFileSync(`${path}.gz`, out);
        rmSync(path);
      }
    },
  };
}

/**
 * Has the browser load the bulk of the page at once, though the small part that comes in with its
 * key is what begins it: see main.tsx.
 */
function early(): Plugin {
  return {
    name: "early",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((c) => c.type === "chunk");
        const entry = chunks.find((c) => c.isEntry);
        const boot = chunks.find((c) => c.facadeModuleId?.endsWith("/src/app/boot.tsx"));
        if (!boot) throw new Error("there is no src/app/boot.tsx, which the page begins with");
        const known = new Set([entry?.fileName, ...(entry?.imports ?? [])]);
        return [boot.fileName, ...boot.imports]
          .filter((name) => !known.has(name))
          .map((name) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `./${name}` } }));
      },
    },
  };
}

/** Has parts of the page fetched before they are imported: see bring.ts. */
function fetched(): Plugin {
  const by = fileURLToPath(new URL("src/app/parts/bring.ts", import.meta.url));
  return {
    name: "fetched",
    apply: "build",
    transform(_, id) {
      return id.includes("vite/preload-helper") ? `export { bring as __vitePreload } from ${JSON.stringify(by)};` : undefined;
    },
  };
}

/**
 * The parser of Markdown names an entity by a table. The variant of that package for browsers asks
 * an element by innerHTML instead, which the policy of the page does not allow.
 */
export const alias = {
  "decode-named-character-reference": fileURLToPath(new URL("node_modules/decode-named-character-reference/index.js", import.meta.url)),
};

export default defineConfig(({ command }) => ({
  base: "./",
  plugins: [react(), diagram(), early(), fetched(), packed()],
  resolve: { alias },
  build: {
    outDir: "dist",
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy of the page loads no data: addresses for fonts and styles
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: true,
  },
  // In development the page comes from here and the host from SCOREL_HOST, such as http://127.0.0.1:4444.
  server:
    command === "serve"
      ? { host: "127.0.0.1", proxy: { "/v1": { target: process.env.SCOREL_HOST ?? "http://127.0.0.1:4444", ws: true } } }
      : {},
}));
