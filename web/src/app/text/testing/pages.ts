/**
 * The page of components in Chromium, built as the host's page is and sent with its policy, for
 * tests. It needs no host.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { build } from "vite";
import { alias } from "../../../../vite.config";
import { diagram } from "../../../../vite.diagram";
import { browser, desk, newContext } from "../../testing/page";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const nonce = "abcdefghijklmnopqrstuvwx";
const types: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** A policy of the host's, from where the host has it. */
function policyOf(name: string, value: string): string {
  const go = readFileSync(join(root, "../internal/host/serve/page.go"), "utf8");
  const said = new RegExp(`const ${name} = ((?:"[^"]*"[\\s+]*)+)`).exec(go)?.[1] ?? "";
  return [...said.matchAll(/"([^"]*)"/g)]
    .map((m) => m[1])
    .join("")
    .replace("%s", value);
}

/** The policy that the host sends with a file. */
function policyFor(path: string): string {
  const frame = /diagram-([\w-]{43})\.html$/.exec(path)?.[1];
  if (frame) return policyOf("framePolicy", `${frame.replaceAll("-", "+").replaceAll("_", "/")}=`);
  return extname(path) === ".html" ? policyOf("pagePolicy", nonce) : "default-src 'none'; sandbox";
}

export class Pages {
  /** What was asked for that is not of the host, scripts that ran, dialogs, and errors of the console. */
  readonly bad: string[] = [];
  private constructor(
    private readonly dir: string,
    private readonly server: Server,
    private readonly browser: Browser,
    readonly url: string,
  ) {}

  static async start(which?: "whole"): Promise<Pages> {
    const dir = mkdtempSync(join(tmpdir(), "scorel-dev-"));
    await build({
      root,
      configFile: false,
      logLevel: "error",
      base: "./",
      plugins: [react(), diagram()],
      resolve: { alias },
      build: {
        outDir: dir,
        target: "es2022",
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 5000,
        rollupOptions: { input: join(root, "dev.html") },
      },
    });
    const server = createServer((request, response) => {
      const path = normalize(new URL(request.url ?? "/", "http://host").pathname);
      try {
        const body = readFileSync(join(dir, path));
        response.setHeader("Content-Type", types[extname(path)] ?? "application/octet-stream");
        response.setHeader("Content-Security-Policy", policyFor(path));
        response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
        response.end(extname(path) === ".html" ? body.toString().replace("{{nonce}}", nonce) : body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Pages(dir, server, await browser(which), `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  /** A page of its own at a fragment such as "#text/code". Whatever it does that it must not is in bad. */
  async page(fragment: string, options: BrowserContextOptions = desk): Promise<Page> {
    const context = await newContext(this.browser, options);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: this.url });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    context.on("request", (r) => {
      if (!r.url().startsWith(this.url) && !r.url().startsWith(`blob:${this.url}`)) this.bad.push(`asks for ${r.url().slice(0, 200)}`);
    });
    // What a policy refuses is told as a request, too, though none leaves.
    context.on("requestfailed", (r) => {
      const at = this.bad.indexOf(`asks for ${r.url().slice(0, 200)}`);
      if (at >= 0 && r.failure()?.errorText === "csp") this.bad.splice(at, 1);
    });
    context.on("page", () => this.bad.push("opens a page"));
    page.on("dialog", (d) => {
      this.bad.push(`opens a dialog: ${d.message()}`);
      void d.dismiss();
    });
    page.on("console", (m) => m.type() === "error" && this.bad.push(m.text().slice(0, 500)));
    page.on("pageerror", (e) => this.bad.push(String(e).slice(0, 500)));
    page.on("crash", () => this.bad.push("crashes"));
    await page.goto(`${this.url}dev.html${fragment}`);
    await page.locator("main, [data-samples]").first().waitFor();
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
