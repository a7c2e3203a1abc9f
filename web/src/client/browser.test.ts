import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { clientIDOf } from "./ids";
import { Host, withoutHost } from "./testing/host";

const chromium = (process.env.PATH ?? "")
  .split(":")
  .flatMap((dir) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(dir, name)))
  .find(existsSync);
const missing = chromium ? withoutHost() : "there is no Chromium, so the client library is not tried in a browser";
if (missing !== "") console.log(missing);

const here = fileURLToPath(new URL(".", import.meta.url));
const idb = fileURLToPath(new URL("../../node_modules/idb/build/index.js", import.meta.url));

/** The page: it has a key, comes in with it, talks, and comes again. */
const page = `<!doctype html><script type="importmap">{"imports":{"idb":"/idb.js"}}</script><script type="module">
import { browserKey, Client, IndexedDBCache, newSessionID, webSocket } from "/dist/client/index.js";
const post = async (path, body) => (await fetch(path, { method: "POST", body: JSON.stringify(body) })).json();
const until = async (holds) => { while (!holds()) await new Promise((r) => setTimeout(r, 5)); };
try {
  const problems = [];
  const first = await browserKey();
  const { url, device, model, workDir } = await post("/key", { publicKey: btoa(String.fromCharCode(...first.publicKey)) });
  const key = await browserKey(); // the same, from IndexedDB
  const cache = new IndexedDBCache((p) => problems.push(p.message));
  const dial = webSocket({ url, key, device, clientName: "page", interactive: true });
  const connect = (dial) => new Client({ dial, device, cache, onProblem: (p) => problems.push(p.message) });
  const one = connect(dial);
  const sessionId = newSessionID();
  await one.call("create_session", { meta: { model, workDir } }, { sessionId });
  const s = await one.open(sessionId);
  await one.call("send_message", { content: [{ type: "text", text: "hello" }] }, { sessionId });
  await until(() => s.state === "live" && s.projection.path.length === 2 && !s.projection.live.running);
  await one.close();
  let shown;
  const held = new Promise((resolve) => (shown = resolve)); // the host answers when what was kept is shown
  const two = connect((...args) => held.then(() => dial(...args)));
  const updates = [];
  const t = two.session(sessionId, { onUpdate: (u) => updates.push(u.resync) });
  await until(() => t.projection.path.length > 0);
  const before = { state: t.state, path: t.projection.path.map((e) => e.type) };
  shown();
  await until(() => t.state === "live");
  await post("/done", { extractable: key.privateKey.extractable, same: String(first.publicKey) === String(key.publicKey), grant: two.status.connected.grant, before, updates, problems });
} catch (e) {
  await post("/done", { error: String(e?.stack ?? e) });
}
</script>`;

describe.skipIf(missing !== "")("in a browser", () => {
  test("a page keeps its own key, comes in with it, and shows a session of its last visit before the host answers", async () => {
    execFileSync(process.execPath, [join(here, "build.mjs")]);
    const profile = mkdtempSync(join(tmpdir(), "scorel-page-"));
    let host: Host | undefined;
    let browser: ChildProcess | undefined;
    const server = createServer();
    try {
      const result = await new Promise<object>((resolve, reject) => {
        server.on("request", async (req, res) => {
          const { pathname } = new URL(req.url ?? "/", "http://localhost");
          let body = "";
          for await (const part of req) body += part;
          if (pathname === "/key") {
            const { publicKey } = JSON.parse(body);
            const clientId = await clientIDOf(new Uint8Array(Buffer.from(publicKey, "base64")));
            host = new Host({
              script: [{ script: 1 }, { again: true, do: [{ text: "An answer." }] }],
              origins: [origin()],
              keys: [{ clientId, publicKey }],
            });
            await host.start();
            res.end(JSON.stringify({ url: `ws://127.0.0.1:${host.port}`, device: host.device, model: host.model, workDir: host.work }));
          } else if (pathname === "/done") {
            res.end("{}");
            resolve(JSON.parse(body));
          } else if (pathname === "/") {
            res.setHeader("Content-Type", "text/html").end(page);
          } else if (pathname.endsWith(".js")) {
            res.setHeader("Content-Type", "text/javascript").end(readFileSync(pathname === "/idb.js" ? idb : join(here, pathname)));
          } else {
            res.writeHead(404).end();
          }
        });
        const origin = () => `http://127.0.0.1:${(server.address() as { port: number }).port}`;
        server.listen(0, "127.0.0.1", () => {
          const flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            `--user-data-dir=${profile}`,
          ];
          browser = spawn(chromium ?? "", [...flags, origin()], { stdio: "ignore", detached: true });
          browser.once("error", reject);
          browser.once("exit", (code) => reject(new Error(`the browser has ended with ${code}`)));
        });
      });
      expect(result).toEqual({
        extractable: false,
        same: true,
        grant: "control",
        before: { state: "opening", path: ["message", "message"] },
        updates: ["persistent_fallback"],
        problems: [],
      });
    } finally {
      browser?.removeAllListeners("exit");
      if (browser?.pid) {
        const gone = new Promise((resolve) => browser?.once("exit", resolve));
        process.kill(-browser.pid, "SIGKILL"); // with the processes that it has started
        await gone;
      }
      server.closeAllConnections();
      server.close();
      await host?.remove();
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});
