import { execFileSync } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { EntryList } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

if (withoutPages !== "") console.log(withoutPages);

/** A push service with a certificate of its own, which counts the pushes that a push service would take. */
class Service {
  readonly dir = mkdtempSync(join(tmpdir(), "scorel-push-"));
  readonly taken: string[] = [];
  readonly wrong: string[] = [];
  answer = 201;
  private constructor(private readonly server: Server) {}

  static async start(): Promise<Service> {
    const dir = mkdtempSync(join(tmpdir(), "scorel-cert-"));
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    const names = ["-subj", "/CN=push", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", [...args, ...names, "-keyout", join(dir, "key"), "-out", join(dir, "cert")], { stdio: "ignore" });
    const server = createServer({ key: readFileSync(join(dir, "key")), cert: readFileSync(join(dir, "cert")) });
    const service = new Service(server);
    execFileSync("cp", [join(dir, "cert"), service.certificate]);
    rmSync(dir, { recursive: true });
    server.on("request", (req, res) => {
      const body: Buffer[] = [];
      req.on("data", (d: Buffer) => body.push(d));
      req.on("end", () => {
        const why = service.judge(req.headers, Buffer.concat(body));
        if (why) service.wrong.push(why);
        service.taken.push(req.url ?? "");
        res.writeHead(service.answer).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  get certificate(): string {
    return join(this.dir, "cert");
  }

  get origin(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What is wrong with a push by RFC 8030 and RFC 8292, "" for nothing. */
  private judge(headers: Record<string, string | string[] | undefined>, body: Buffer): string {
    const [, head, claims, signature, k] = /^vapid t=([^.]+)\.([^.]+)\.([^,]+), k=(.+)$/.exec(String(headers.authorization)) ?? [];
    if (!head || !claims || !signature || !k) return `authorization ${headers.authorization}`;
    const point = Buffer.from(k, "base64url");
    const key = createPublicKey({
      format: "jwk",
      key: { kty: "EC", crv: "P-256", x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") },
    });
    const signed = Buffer.from(`${head}.${claims}`);
    if (!verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"))) return "signature";
    const { aud, exp } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { aud: string; exp: number };
    if (aud !== this.origin || exp * 1000 < Date.now() || exp * 1000 > Date.now() + 24 * 3600_000) return `claims ${aud} ${exp}`;
    return body.length > 0 || !headers.ttl || headers.urgency !== "high" || !headers.topic ? `headers ${JSON.stringify(headers)}` : "";
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.dir, { recursive: true });
  }
}

/** Runs before the page's scripts: this Chromium has no push service, so its answers are played. */
function pushManager(origin: string): void {
  type Played = { endpoint: string; key: number[] };
  const load = () => JSON.parse(localStorage.getItem("played") ?? "null") as Played | null;
  const made = (p: Played | null) =>
    p && {
      endpoint: p.endpoint,
      options: { applicationServerKey: new Uint8Array(p.key).buffer },
      unsubscribe: async () => {
        localStorage.removeItem("played");
        return true;
      },
    };
  PushManager.prototype.getSubscription = async () => made(load()) as unknown as PushSubscription;
  PushManager.prototype.subscribe = async (options) => {
    const refused = localStorage.getItem("refused");
    if (refused) throw new DOMException("Registration failed", refused);
    if (!options?.userVisibleOnly) throw new DOMException("only visible ones", "NotAllowedError");
    const n = Number(localStorage.getItem("subscriptions") ?? 0) + 1;
    localStorage.setItem("subscriptions", String(n));
    const key = [...new Uint8Array(options.applicationServerKey as ArrayBuffer)];
    localStorage.setItem("played", JSON.stringify({ endpoint: `${origin}/push/${n}`, key }));
    return made(load()) as unknown as PushSubscription;
  };
}

interface Scope {
  registration: ServiceWorkerRegistration;
  clients: { matchAll(options: object): Promise<unknown[]> };
  dispatchEvent(e: Event): void;
}

/** Runs in the worker: the notifications that the browser shows. */
async function shownBy(): Promise<string[]> {
  const { registration } = self as unknown as Scope;
  return (await registration.getNotifications()).map((n) => `${n.tag} ${n.lang} ${n.title} ${n.body}`);
}

/** Runs in the worker: how many pages there are for it, which a browser knows a little after a page has gone. */
async function pagesLeft(): Promise<number> {
  const { clients } = self as unknown as Scope;
  return (await clients.matchAll({ type: "window", includeUncontrolled: true })).length;
}

/** Runs in the worker: the tags of what it shows, with one that is shown after all pushes that have come. */
async function probe(): Promise<string[]> {
  const { registration } = self as unknown as Scope;
  await registration.showNotification("probe", { tag: "probe" });
  const all = await registration.getNotifications();
  for (const n of all) n.close();
  return all.map((n) => n.tag);
}

/** Runs in the worker: what a click on a notification does. */
async function clickOne(): Promise<void> {
  const scope = self as unknown as Scope;
  await scope.registration.showNotification("Scorel", { tag: "waits", data: { fragment: "#/" } });
  const [notification] = await scope.registration.getNotifications();
  const Click = (globalThis as unknown as { NotificationEvent: new (t: string, i: object) => Event }).NotificationEvent;
  scope.dispatchEvent(new Click("notificationclick", { notification }));
}

const hide = () => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
  document.hasFocus = () => false;
};

const checkbox = (page: Page) => page.getByRole("checkbox", { name: "Notify me also when this page is closed" });

describe.skipIf(withoutPages !== "")("notifications while the page is closed", () => {
  let world: World;
  let service: Service;
  beforeAll(async () => {
    service = await Service.start();
    world = await World.start(
      [
        { script: 1 },
        { if: { user: "touch" }, again: true, do: [{ call: "Bash", input: { command: "touch done" } }] },
        { again: true, do: [{ text: "Done." }] },
      ],
      { browser: "whole", config: `pushServices = [${JSON.stringify(service.origin)}]\n`, env: { SSL_CERT_FILE: service.certificate } },
    );
  });
  afterAll(async () => {
    await world?.close();
    await service?.close();
  });
  afterEach(async () => {
    for (const { clientId } of (await world.host.request<EntryList>("list_entries", {})).entries ?? [])
      await world.host.request("revoke_entry", { clientId });
    service.answer = 201;
    expect(problems.splice(0)).toEqual([]);
    expect(service.wrong.splice(0)).toEqual([]);
  });

  /** A page in which notifications and pushes are on. */
  async function subscribed(options: BrowserContextOptions = desk): Promise<Page> {
    const page = await world.page("", options);
    await page.context().grantPermissions(["notifications"]);
    await page.addInitScript(pushManager, service.origin);
    await page.goto(`${world.url}#/p/settings/looks`);
    await page.reload();
    await page.getByLabel("Notifications", { exact: true }).selectOption("on");
    expect(await checkbox(page).isChecked()).toBe(false);
    await checkbox(page).check();
    await expect.poll(() => states()).toContain("on");
    return page;
  }

  /** Kills the host and starts it again at the same port. */
  async function again(between = () => {}): Promise<void> {
    const { port } = world;
    await world.host.kill();
    between();
    await world.host.start(port);
  }

  /** How the subscriptions of all clients stand. */
  const states = async () => (await world.host.request<EntryList>("list_entries", {})).entries?.flatMap((e) => e.push ?? []) ?? [];

  /** Plays pushes of the push service, as the browser would get them, also when the page has gone elsewhere. */
  async function pushes(page: Page): Promise<() => Promise<void>> {
    const cdp = await page.context().newCDPSession(page);
    const found = new Promise<string>((resolve) =>
      cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        const own = registrations.find((r) => r.scopeURL === world.url && !r.isDeleted);
        if (own) resolve(own.registrationId);
      }),
    );
    await cdp.send("ServiceWorker.enable");
    const registrationId = await found;
    return async () => {
      await cdp.send("ServiceWorker.deliverPushMessage", { origin: new URL(world.url).origin, registrationId, data: "" });
    };
  }

  test("is off at first, is told what the push service sees, and is switched off on both sides", async () => {
    const page = await subscribed();
    await page.getByText("That service sees when something waits").waitFor();
    await accessible(page);
    await picture(page, "push-desk");
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "push-desk-dark");
    await checkbox(page).uncheck();
    await expect.poll(() => states()).toEqual([]);
    expect(await page.evaluate(() => localStorage.getItem("played"))).toBe(null);
    await page.getByLabel("Notifications", { exact: true }).selectOption("off");
    await page.getByText("Switch notifications on first.").waitFor();
    expect(await checkbox(page).isDisabled()).toBe(true);
  });

  test("wakes a browser whose page is closed, once, and none that has shown what waits", async () => {
    const page = await subscribed(phone);
    await picture(page, "push-phone", true);
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "push-phone-dark", true);
    service.taken.splice(0);
    const noted: string[] = [];
    page.on("websocket", (ws) => ws.on("framesent", (f) => String(f.payload).includes("note_pushed") && noted.push(String(f.payload))));
    await page.reload();
    await page.locator(".app").waitFor();
    const seen = await world.session("touch it while I look");
    await expect.poll(() => noted.join()).toContain(seen);
    await page.evaluate(hide);
    const told = await world.session("touch it while the page tells me");
    await expect.poll(() => noted.join()).toContain(told);
    expect(service.taken).toEqual([]);
    await page.close();
    await world.session("touch it please");
    await expect.poll(() => service.taken).toHaveLength(1);
    await again();
    expect(await states()).toContain("on");
  });

  test("a push shows one notification in the language of the page, and leads to what waits", async () => {
    const page = await subscribed();
    const push = await pushes(page);
    const worker = (language: string) =>
      page
        .context()
        .serviceWorkers()
        .find((w) => w.url().endsWith(language));
    const shown = (language: string) => worker(language)?.evaluate(shownBy);
    const leave = async (language: string) => {
      await page.goto("about:blank");
      await expect.poll(() => worker(language)?.evaluate(pagesLeft)).toBe(0);
    };
    await page.goto(`${world.url}#/`);
    await push();
    await push();
    expect(await worker("sw.js")?.evaluate(probe)).toEqual(["probe"]); // the page is looked at
    await leave("sw.js");
    await push();
    await push();
    await expect.poll(() => shown("sw.js")).toEqual(["waits en Scorel A session waits for you."]);
    await page.goto(`${world.url}#/p/settings/looks`);
    await page.getByLabel("Language").selectOption("zh");
    await expect.poll(() => shown("?zh")).toEqual([]); // the page that is looked at takes it away
    await leave("?zh");
    await push();
    await expect.poll(() => shown("?zh")).toEqual(["waits zh-Hans Scorel 有会话在等待你。"]);
    await page.goto(`${world.url}#/p/settings/looks`);
    await worker("?zh")?.evaluate(clickOne);
    await page.waitForURL(`${world.url}#/`);
  });

  test("subscribes again when the browser, the host or the push service has lost it", async () => {
    const page = await subscribed();
    const first = await page.evaluate(() => localStorage.getItem("played"));
    const worker = page.context().serviceWorkers()[0];
    await page.evaluate(() => localStorage.removeItem("played"));
    await worker?.evaluate(() => void self.dispatchEvent(new Event("pushsubscriptionchange")));
    await expect.poll(() => page.evaluate(() => localStorage.getItem("played"))).not.toBe(null);
    expect(await page.evaluate(() => localStorage.getItem("played"))).not.toBe(first);
    await page.goto("about:blank");
    await again(() => rmSync(world.host.path("push-key.json")));
    await page.goto(`${world.url}#/p/settings/looks`);
    await expect.poll(() => states()).toContain("on");
    service.answer = 410;
    await page.goto("about:blank");
    await world.session("touch it when it is gone");
    await expect.poll(() => states()).toContain("gone");
    service.answer = 403;
    await page.goto(`${world.url}#/p/settings/looks`);
    await expect.poll(() => states()).toContain("on");
    await page.evaluate(hide);
    await page.goto("about:blank");
    await world.session("touch it when it is refused");
    await expect.poll(() => states()).toContain("refused");
    service.answer = 201;
    await page.goto(`${world.url}#/p/settings/looks`);
    await page.getByText("The push service has refused the last push (403).").waitFor();
    await picture(page, "push-refused");
  });

  test("says by name why it cannot work", async () => {
    const page = await world.page();
    await page.context().grantPermissions(["notifications"]);
    await page.addInitScript(pushManager, service.origin);
    await page.evaluate(() => localStorage.setItem("refused", "AbortError"));
    await page.goto(`${world.url}#/p/settings/looks`);
    await page.reload();
    await page.getByLabel("Notifications", { exact: true }).selectOption("on");
    await checkbox(page).click();
    await page.getByText("The browser could not subscribe at its push service.").waitFor();
    expect(await checkbox(page).isChecked()).toBe(false);
    await page.addInitScript(() => delete (window as { PushManager?: unknown }).PushManager);
    await page.reload();
    await page.getByText("the browser takes no pushes").waitFor();
    expect(await checkbox(page).isDisabled()).toBe(true);
    await page.addInitScript(() => Object.defineProperty(window, "isSecureContext", { value: false }));
    await page.reload();
    await page.getByText("the page has no certificate that the browser trusts").waitFor();
  });
});
