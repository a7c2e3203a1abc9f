import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionID, SessionList } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("a session that another program has", () => {
  let world: World;
  let other: ChildProcess | undefined;
  beforeEach(async () => {
    world = await World.start(
      [
        { script: 1 },
        {
          if: { user: "hold" },
          do: [{ text: "I hold it." }, { call: "Bash", input: { command: "while [ ! -e free ]; do sleep 0.05; done" } }],
        },
        { again: true, do: [{ text: "Heard." }] },
      ],
      { config: '[permissions]\nallow = ["Bash"]\n' },
    );
  });
  afterEach(async () => {
    other?.kill();
    other = undefined;
    await world?.close();
  });

  /** Has a scorel -p of its own hold a session. */
  const hold = async (...args: string[]): Promise<SessionID> => {
    const { host } = world;
    other = spawn(process.env.SCOREL_BINARY ?? "", ["-p", ...args, "hold"], {
      env: { PATH: process.env.PATH, HOME: host.home },
      cwd: host.work,
      stdio: "ignore",
    });
    const held = async () => (await host.request<SessionList>("list_sessions", {})).sessions?.find((s) => s.lockedBy)?.sessionId;
    await expect.poll(held).toBeTruthy();
    return (await held()) as SessionID;
  };
  const free = () => world.host.write("free", "");

  for (const [name, options] of Object.entries({ desk, phone })) {
    test(`is said to be in use, and opens by itself once it is free: ${name}`, async () => {
      const id = await hold();
      const page = await world.page(`#/s/${id}`, options);
      const told = page.getByText(/^This session is in use by \S+ \(process \d+, .*; it opens here as soon as it is free\.$/);
      await told.waitFor();
      expect(await page.locator("#composer").count()).toBe(0);
      expect(await page.getByText("New session", { exact: true }).and(page.getByRole("heading")).count()).toBe(0);
      await picture(page, `inuse-${name}`);
      await accessible(page);
      await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await picture(page, `inuse-${name}-dark`);
      await accessible(page);
      await page.waitForTimeout(4000); // it was tried again, in vain
      expect(await told.count()).toBe(1);
      free();
      await page.locator("#composer").waitFor();
      await page.getByText("I hold it.").waitFor();
      await told.waitFor({ state: "detached" });
      expect(problems).toEqual([]);
    });
  }

  test("is tried only while the page is seen", async () => {
    const id = await hold();
    const page = await world.page();
    let tries = 0;
    page.on("websocket", (ws) =>
      ws.on("framesent", (f) => {
        if (String(f.payload).includes('"open_session"')) tries++;
      }),
    );
    await page.addInitScript(() => {
      Object.defineProperty(document, "visibilityState", { get: () => ((window as { away?: boolean }).away ? "hidden" : "visible") });
    });
    await page.goto(`${world.url}#/s/${id}`);
    await page.reload();
    await page.getByText(/^This session is in use/).waitFor();
    await page.evaluate(() => Object.assign(window, { away: true }));
    await page.waitForTimeout(200);
    const before = tries;
    await page.waitForTimeout(4000);
    expect(tries).toBe(before);
    free();
    await page.evaluate(() => {
      Object.assign(window, { away: false });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await page.locator("#composer").waitFor();
    expect(problems).toEqual([]);
  });

  test("is worked on in a copy", async () => {
    const id = await hold();
    const page = await world.page(`#/s/${id}`);
    await page.getByRole("button", { name: "Work on a copy" }).click();
    const box = page.locator("#composer");
    await box.waitFor();
    await page.getByRole("heading", { name: "hold" }).first().waitFor();
    expect(page.url()).not.toContain(id);
    await box.fill("go on");
    await box.press("Enter");
    await page.getByText("Heard.").first().waitFor();
    expect(problems).toEqual([]);
  });

  test("shows what this browser has kept of it, and is said to be in use", async () => {
    const { host } = world;
    const id = await world.session("hello");
    const page = await world.page(`#/s/${id}`);
    await page.getByText("Heard.").first().waitFor();
    await page.waitForTimeout(2500); // until it is kept
    const port = world.port;
    await host.kill();
    await page.goto("about:blank");
    other = spawn(process.env.SCOREL_BINARY ?? "", ["-p", "--session", id, "hold"], {
      env: { PATH: process.env.PATH, HOME: host.home },
      cwd: host.work,
      stdio: "ignore",
    });
    await expect.poll(() => host.stored(id)).toContain("I hold it.");
    await host.start(port);
    await page.goto(`${world.url}#/s/${id}`);
    await page.getByText(/^This session is in use by scorel/).waitFor();
    await page.getByText("Heard.").first().waitFor();
    expect(await page.locator("#composer").count()).toBe(0);
    await picture(page, "inuse-kept");
    await accessible(page);
    free();
    await page.locator("#composer").waitFor();
    await page.getByText("I hold it.").waitFor();
    expect(problems).toEqual([]);
  });
});
