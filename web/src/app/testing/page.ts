/**
 * Pages in Debian's Chromium against a real host, for tests named *.page.test.ts. The binary has
 * the page that was built last: `npm run build` first. Each test leaves pictures of what a person
 * would see in $SCREENSHOTS, if that names a folder.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { newSessionID } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { Host, type HostOptions, withoutHost } from "../../client/testing/host";

const find = (...names: string[]) =>
  (process.env.PATH ?? "")
    .split(":")
    .flatMap((dir) => names.map((name) => join(dir, name)))
    .find(existsSync);

/** Where Chromium is, undefined if there is none. */
const whole = find("chromium", "chromium-browser", "google-chrome");

/** The same without what a person sees around a page, where there is one: it starts in half the time, and has no notifications. */
const shell = find("chromium-headless-shell") ?? whole;

/** Why pages cannot be tried here, "" if they can. */
export const withoutPages = whole ? withoutHost() : "there is no Chromium, so the page is not tried";

/** Starts Chromium, or the shell, which will do unless a test is about notifications, processes or figures. */
export function browser(which: "whole" | "shell" = "shell"): Promise<Browser> {
  const executablePath = which === "whole" ? whole : shell;
  return chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"],
  });
}

/** How long a page may take for what is waited for: the machine may be busy. */
const patienceMs = Number(process.env.PATIENCE ?? 120_000);

/** The desk and the phone of the design. */
export const desk = { viewport: { width: 1440, height: 900 } };
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/** A window of its own, which the end of the test closes: what stays open works on with all that the host tells. */
export async function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB", ...options });
  onTestFinished(() => context.close());
  return context;
}

/** A host with the script model, and a browser. Close it after the test. */
export class World {
  private constructor(
    readonly host: Host,
    readonly browser: Browser,
  ) {}

  static async start(script: object[], options: Omit<HostOptions, "script"> & { browser?: "whole" } = {}): Promise<World> {
    const host = new Host({ script, ...options });
    const world = new World(host, await browser(options.browser));
    try {
      await host.start();
    } catch (e) {
      await world.close();
      throw e;
    }
    return world;
  }

  /** The port stays the same when the host is started again with it. */
  get port(): number {
    return this.host.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Makes a session in the folder of the host's project and sends a message; it resolves when the turn has begun. */
  async session(text: string): Promise<SessionID> {
    const sessionId = newSessionID();
    await this.host.request("create_session", { meta: { workDir: this.host.work } }, sessionId);
    await this.host.request("send_message", { content: [{ type: "text", text }] }, sessionId);
    return sessionId;
  }

  /** A browser of its own, known to the host, at a route such as "#/new". What its page says in the console as an error fails the test: see problems. */
  async page(fragment = "", options: BrowserContextOptions = desk): Promise<Page> {
    const context = await newContext(this.browser, options);
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
    page.on("pageerror", (e) => problems.push(String(e)));
    const { code } = await this.host.request<{ code: string }>("create_pairing", {});
    await page.goto(`${this.url}#pair=${code}`);
    await page.locator(".app").waitFor();
    await page.goto(`${this.url}${fragment}`); // a change of the fragment alone loads nothing
    // The page hears of it a moment later: what is typed before that would go to what is left.
    await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))));
    return page;
  }

  /** A browser of its own that the host does not know. */
  async stranger(url: string, options: BrowserContextOptions = desk): Promise<Page> {
    const context = await newContext(this.browser, options);
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    await page.goto(url);
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.host.remove();
  }
}

/** What pages have said in their consoles as errors since the last look: a test that ends well has none. */
export const problems: string[] = [];

/** A picture of the page in $SCREENSHOTS; whole also has what one has to scroll to. */
export async function picture(page: Page, name: string, whole = false): Promise<void> {
  const dir = process.env.SCREENSHOTS;
  if (!dir) return;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, `${name}.png`), await page.screenshot({ fullPage: whole }));
}

/** Checks the page, or what a selector names, with axe: WCAG 2.2 A and AA. */
export async function accessible(page: Page, selector = "body", { colours = true } = {}): Promise<void> {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // The policy of the page lets no text become a script; the debugger may.
  await page.evaluate(axe);
  const violations = await page.evaluate(
    async ({ selector, colours }) => {
      type Axe = {
        run(on: string, options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
      };
      const { axe } = window as unknown as { axe: Axe };
      const result = await axe.run(selector, {
        runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
        rules: { "color-contrast": { enabled: colours } },
      });
      return result.violations.map((v) => ({ id: v.id, nodes: v.nodes.slice(0, 5).map((n) => `${n.html}: ${n.failureSummary}`) }));
    },
    { selector, colours },
  );
  expect(violations).toEqual([]);
}
