/**
 * What the page takes, printed: `npm run figures`. SCOREL_BENCH is the program internal/dev/bench,
 * which writes the long session. Nothing is asserted but that there is something to measure.
 */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SessionID } from "../../protocol/index";
import { desk, withoutPages, World } from "./page";

const { SCOREL_BENCH: bench, SCOREL_BINARY: binary } = process.env;
const rounds = Number(process.env.ROUNDS ?? 5);

const print = (name: string, values: number[], unit = "ms") => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (q: number) => (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0).toFixed(1);
  console.log(`${name}: median ${at(0.5)} ${unit}, ${at(0)} to ${at(0.9999)}, p99 ${at(0.99)}, ${values.length} times`);
};

/** The process that draws a page. */
async function renderer(world: World, page: Page): Promise<number> {
  const cdp = await world.browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  const own: CDPSession = await page.context().newCDPSession(page);
  await own.send("Runtime.evaluate", { expression: "for (const end = performance.now() + 1500; performance.now() < end; );" });
  const after = await cdp.send("SystemInfo.getProcessInfo");
  const busy = (id: number) =>
    (after.processInfo.find((p) => p.id === id)?.cpuTime ?? 0) - (processInfo.find((p) => p.id === id)?.cpuTime ?? 0);
  const all = after.processInfo.filter((p) => p.type === "renderer").sort((a, b) => busy(b.id) - busy(a.id));
  return all[0]?.id ?? 0;
}

function megabytes(pid: number): number {
  const kb = /^Anonymous:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return (Number(kb) * 1024) / 1e6;
}

/** Runs in the page: marks the frame in which one can write. */
function markUsable(): void {
  const look = () => {
    if ((document.querySelector("textarea")?.getBoundingClientRect().height ?? 0) > 0) performance.mark("usable");
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Runs in the page: notes tasks of more than 50 ms, and how many frames there were. */
function watch(): void {
  const w = window as unknown as { tasks: number[]; frames: number[] };
  w.tasks = [];
  w.frames = [];
  new PerformanceObserver((list) => w.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ entryTypes: ["longtask"] });
  const frame = (at: number) => {
    w.frames.push(at);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

async function scrollBack(page: Page): Promise<void> {
  const box = await page.locator(".prose").last().boundingBox();
  await page.mouse.move((box?.x ?? 0) + 10, 300);
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, -1500);
    await page.waitForTimeout(50);
  }
}

describe.skipIf(withoutPages !== "" || !bench || !binary)("figures of the page", () => {
  let world: World;
  let long: SessionID;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1, chunk: 20, delayMs: 5, stamp: true },
        { again: true, do: [{ text: "and so on it goes   ", times: 600 }] },
      ],
      { browser: "whole" },
    );
    const out = execFileSync(bench ?? "", [
      "session",
      "-dir",
      join(world.host.home, ".scorel"),
      "-work",
      world.host.work,
      "-events",
      "10000",
    ]);
    long = (JSON.parse(out.toString()) as { ID: SessionID }).ID;
  });
  afterAll(async () => world?.close());

  test("typed to usable", async () => {
    const values: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const context = await world.browser.newContext(desk);
      const page = await context.newPage();
      await page.addInitScript(markUsable);
      const begin = Date.now();
      const child = spawn(binary ?? "", ["web", "--no-open", "--json"], {
        env: { PATH: process.env.PATH, HOME: world.host.home },
        cwd: world.host.work,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const file = await new Promise<string>((resolve) => {
        let said = "";
        child.stdout.on("data", (d: Buffer) => {
          said += d;
          const line = said.split("\n")[0] ?? "";
          if (said.includes("\n")) resolve((JSON.parse(line) as { file: string }).file);
        });
      });
      await page.goto(`file://${file}`);
      await page.getByRole("textbox").first().waitFor(); // which looks only now and then
      values.push(
        (await page.evaluate(() => performance.timeOrigin + (performance.getEntriesByName("usable")[0]?.startTime ?? 0))) - begin,
      );
      child.kill();
      await context.close();
    }
    print("scorel web typed to a usable page", values);
  });

  test("a session of 10,000 messages", async () => {
    const cold: number[] = [];
    const warm: number[] = [];
    const page = await world.page("#/new");
    for (let i = 0; i < rounds; i++) {
      const open = async () => {
        const ms = await page.evaluate(async (id) => {
          const begin = performance.now();
          location.hash = `#/s/${id}`;
          while (document.querySelectorAll(".conv .prose, .conversation .prose, main .prose").length === 0)
            await new Promise(requestAnimationFrame);
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          return performance.now() - begin;
        }, long);
        await page.evaluate(() => {
          location.hash = "#/new";
        });
        await page.waitForTimeout(300);
        return ms;
      };
      await page.evaluate(() => {
        location.hash = "#/new";
      });
      await page.reload();
      await page.locator(".app").waitFor();
      await page.waitForTimeout(500);
      cold.push(await open());
      warm.push(await open());
    }
    print("open 10,000 messages, first time in the page", cold);
    print("open 10,000 messages, again", warm);

    await page.goto(`${world.url}#/s/${long}`);
    await page.locator(".prose").last().waitFor();
    await page.evaluate(watch);
    await scrollBack(page);
    const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
    print("tasks of more than 50 ms while scrolling back", tasks.length > 0 ? tasks : [0]);
    print("memory of a tab that was loaded and opened it that often, anonymous", [megabytes(await renderer(world, page))], "MB");
  });

  test("memory of a tab with 10,000 messages", async () => {
    const opened: number[] = [];
    const scrolled: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const page = await world.page(`#/s/${long}`);
      await page.locator(".prose").last().waitFor();
      const pid = await renderer(world, page);
      opened.push(megabytes(pid));
      await scrollBack(page);
      scrolled.push(megabytes(pid));
      await page.context().close();
    }
    print("memory of a tab with 10,000 messages, anonymous", opened, "MB");
    print("memory of it, scrolled back, anonymous", scrolled, "MB");
  });

  test("delta to painted", async () => {
    const id = await world.session("slow");
    const page = await world.page(`#/s/${id}`);
    await page.locator(".prose").last().waitFor();
    const late = await page.evaluate(
      () =>
        new Promise<number[]>((resolve) => {
          const values: number[] = [];
          let last = "";
          const frame = () => {
            const all = [...(document.querySelector("main")?.textContent ?? "").matchAll(/@(\d{19});/g)];
            const newest = all.at(-1)?.[1] ?? "";
            if (newest !== "" && newest !== last) {
              last = newest;
              const channel = new MessageChannel(); // runs after the frame was painted
              channel.port1.onmessage = () => values.push(performance.timeOrigin + performance.now() - Number(newest) / 1e6);
              channel.port2.postMessage(0);
            }
            if (values.length < 60) requestAnimationFrame(frame);
            else resolve(values);
          };
          frame();
          setTimeout(() => resolve(values), 60_000);
        }),
    );
    expect(late.length).toBeGreaterThan(0);
    print("delta to painted", late);
  });

  test("frames at 1,000 deltas a second", async () => {
    const text = "and so **on** it goes, with `code` and more words in a line\n\n";
    const shown = text.replace(/[*`\n]/g, "");
    const fast = await World.start(
      [
        { script: 1, chunk: 20, delayMs: 1 }, // a little less than 1,000 a second: a timer is late
        { again: true, do: [{ text, times: 6_000 }] },
      ],
      { browser: "whole" },
    );
    try {
      const page = await fast.page(`#/s/${await fast.session("fast")}`);
      await page.locator(".prose").last().waitFor();
      await page.evaluate(watch);
      const length = () => page.evaluate(() => document.querySelector("main")?.textContent?.length ?? 0);
      const [begin, before] = [Date.now(), await length()];
      await page.waitForTimeout(8000);
      const seconds = (Date.now() - begin) / 1000;
      print("deltas of 20 characters painted", [((((await length()) - before) / shown.length) * text.length) / 20 / seconds], "a second");
      const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames);
      print("frames at that many deltas", [frames.length / seconds], "a second");
      print(
        "time between two of them",
        frames.slice(1).map((at, i) => at - (frames[i] ?? 0)),
      );
    } finally {
      await fast.close();
    }
  });
});
