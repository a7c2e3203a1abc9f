import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { desk, phone, picture, problems, withoutPages, World } from "../testing/page";

/** Sessions of the test, in some projects. */
const sessions = 13_000;
const projects = 12;
/** Far above what it takes (see the console), far below what a person would call waiting. */
const patience = 5_000;

describe.skipIf(withoutPages !== "")("13,000 sessions", () => {
  let world: World;
  let ids: string[];
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Yes." }] }]);
    ids = await write(world);
  });
  afterAll(async () => world?.close());

  for (const [name, options] of Object.entries({ desk, phone }))
    test(`are listed at once, and to the last, on the ${name}`, async () => {
      const page = await world.page("#/", options);
      await page.getByRole("link", { name: /Session 0 / }).waitFor();
      await page.evaluate((ids) => localStorage.setItem("scorel.folded", JSON.stringify(ids)), ids.slice(1));
      await page.reload();
      const begun = Date.now();
      await page.getByRole("link", { name: /Session 0 / }).waitFor();
      const listed = Date.now() - begun;
      const own = await page.evaluate(() => Math.round(performance.now()));
      console.log(`${name}: listed ${listed} ms after the load, ${own} ms after the navigation`);
      expect(listed).toBeLessThan(patience);
      await picture(page, `many-${name}`);
      if (name === "desk") await page.getByRole("button", { name: "Show all" }).click();
      // To the end of a list that grows while it is looked at.
      const box = page.locator(name === "desk" ? ".list" : ".plist");
      let last = 0;
      const long = await page.evaluateHandle(() => {
        const times: number[] = [];
        new PerformanceObserver((l) => times.push(...l.getEntries().map((e) => e.duration))).observe({ type: "longtask" });
        return times;
      });
      const scrolled = Date.now();
      const wanted = name === "desk" ? Math.floor(sessions / projects) : sessions;
      while (last < wanted && Date.now() - scrolled < 60_000) {
        last = await box.evaluate((el) => {
          el.scrollTop = el.scrollHeight;
          return Math.round(el.scrollHeight / (el.className === "plist" ? 61 : 32));
        });
        await page.waitForTimeout(50);
      }
      expect(last).toBeGreaterThanOrEqual(wanted);
      expect(await page.locator("li[data-index]").count()).toBeLessThan(120);
      const tasks = await long.evaluate((t) => t);
      console.log(`${name}: to the end in ${Date.now() - scrolled} ms, longest task ${Math.max(0, ...tasks)} ms`);
      await picture(page, `many-${name}-end`);
      expect(problems).toEqual([]);
    });

  test("any of them is found by its title and by what was said", async () => {
    const page = await world.page("#/");
    await page.getByRole("link", { name: /Session 0 / }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Session 12345");
    await page
      .getByRole("option", { name: /Session 12345 / })
      .first()
      .waitFor();
    await picture(page, "many-found");
    expect(problems).toEqual([]);
  });
});

/** Writes logs of a header and a message into the home of the host, which reads them when it starts. */
async function write(world: World): Promise<string[]> {
  const { host } = world;
  const { port: _, device } = host;
  const ids: string[] = [];
  for (let i = 0; i < projects; i++) {
    const workDir = join(host.home, `project-${i}`);
    mkdirSync(join(workDir, ".git"), { recursive: true });
    const p = await host.request<{ projectId: string }>("register_project", { workDir });
    ids.push(p.projectId);
  }
  await host.kill("SIGTERM");
  const dir = join(host.home, ".scorel/sessions");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const now = Date.now();
  const digits = "0123456789abcdefghijklmnopqrstuv";
  for (let i = 0; i < sessions; i++) {
    const at = now - 60_000 - i * 600_000;
    const tail = [...Array(26)].map((_, n) => digits[(i >> ((n % 3) * 5)) & 31]).join("");
    const sessionId = `ses_${tail}`;
    const eventId = `evt_${tail.slice(0, 16)}`;
    const meta = { projectId: ids[i % projects], workDir: join(host.home, `project-${i % projects}`) };
    const lines = [
      { version: 1, sessionId, deviceId: device, createdAt: at, meta },
      {
        type: "message",
        id: eventId,
        parentId: null,
        seq: 1,
        sessionId,
        clientId: "cli_tblm9grd5uq6imfr6n011sj63i",
        ts: at,
        prev: 0,
        message: { role: "user", content: `Session ${i} asks about the tiles` },
      },
    ];
    const path = join(dir, `${sessionId}.jsonl`);
    writeFileSync(path, `${lines.map((l) => JSON.stringify(l)).join("\n")}\n`, { mode: 0o600 });
    utimesSync(path, at / 1000, at / 1000);
  }
  await host.start();
  return ids;
}
