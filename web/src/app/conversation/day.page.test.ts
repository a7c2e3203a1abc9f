/** A page that is open for long: what it holds does not grow with what has been said. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { SessionID } from "../../protocol/index";
import { picture, problems, withoutPages, World } from "../testing/page";

const step = (i: number) => ({
  do: [
    { thinking: `Step ${i}: what is in the file now?` },
    {
      text: `**Step ${i}** of many. I look at it once more, with \`code\` and a list:\n\n- one\n- two\n\n\`\`\`go\nfunc f${i}() {}\n\`\`\`\n`,
    },
    { call: "Read", input: { path: "a.txt", offset: (i % 50) + 1, limit: 20 } },
  ],
});
/** Each message is answered with all of them. */
const steps = [...Array.from({ length: 200 }, (_, i) => step(i)), { do: [{ text: "That was the last step." }] }];

describe.skipIf(withoutPages !== "")("a page that is open for long", () => {
  test("holds as much after 600 steps as after 200", async () => {
    const world = await World.start([{ script: 1, chunk: 40 }, ...steps], {
      config: '[permissions]\nallow = ["Read"]\n[limits]\nmaxSteps = 1000\n',
    });
    let sessionId = "" as SessionID;
    const done = async (turns: number, page: Page) => {
      await expect.poll(() => world.host.stored(sessionId).split("That was the last step.").length - 1).toBe(turns);
      await page.getByText("That was the last step.").waitFor();
      await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    };
    try {
      writeFileSync(join(world.host.work, "a.txt"), Array.from({ length: 100 }, (_, i) => `line ${i} of the file\n`).join(""));
      sessionId = await world.session("Begin.");
      const page = await world.page(`#/s/${sessionId}`);
      await done(1, page);
      const morning = await held(page);
      for (const turn of [2, 3]) {
        await world.host.request("send_message", { content: [{ type: "text", text: "Go on." }] }, sessionId);
        await done(turn, page);
      }
      const evening = await held(page);
      await picture(page, "day");
      console.log(`after 200 steps ${JSON.stringify(morning)}, after 600 ${JSON.stringify(evening)}`);
      expect(evening.nodes).toBeLessThan(morning.nodes * 1.2);
      expect(evening.listeners).toBeLessThan(morning.listeners * 1.2);
      expect(evening.heap).toBeLessThan(morning.heap * 1.3);
      const away = () => page.locator(".scroll").evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
      await expect.poll(away, { message: "the end is followed" }).toBeLessThan(100);
      expect(problems).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

/** Nodes of the document with those that scripts still hold, listeners, and bytes of the heap of the scripts. */
async function held(page: Page): Promise<{ nodes: number; listeners: number; heap: number }> {
  const cdp = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i++) await cdp.send("HeapProfiler.collectGarbage");
  const { nodes, jsEventListeners } = await cdp.send("Memory.getDOMCounters");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  await cdp.detach();
  return { nodes, listeners: jsEventListeners, heap: usedSize };
}
