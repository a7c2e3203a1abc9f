import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";
import { program, say, sessionThatSaid } from "./testing";

const todos = [
  { content: "Find why 9 March is skipped", status: "completed" },
  { content: "Test everything with the race detector", status: "in_progress" },
  { content: "Change the other three places", status: "pending" },
];

const usage = { inputTokens: 2_000, outputTokens: 300, cacheReadTokens: 9_000 };
const script = [
  { script: 1 },
  { if: { user: "begin" }, do: [{ text: "First the list." }, { call: "TodoWrite", input: { todos } }], usage },
  {
    if: { result: "." },
    do: [{ call: "Bash", input: { command: "for i in 1 2 3; do echo line $i; done; exec sleep 1000", run_in_background: true } }],
    usage,
  },
  { again: true, do: [{ text: "It counts days in hours." }], usage },
];

if (withoutPages !== "") console.log(withoutPages);

describe.skipIf(withoutPages !== "")("the panel of a session", () => {
  let world: World;
  let client: Client;
  let sessionId: SessionID;
  beforeAll(async () => {
    world = await World.start(script);
    client = program(world);
    sessionId = await sessionThatSaid(client, world, "begin", ["Bash"]);
    await say(client, sessionId, "more");
  });
  afterAll(async () => {
    await client?.close();
    await world?.close();
  });

  const looks = {
    desk,
    phone,
    "desk-dark": { ...desk },
    "desk-zh": { ...desk, locale: "zh-CN" },
    narrow: { ...phone, viewport: { width: 320, height: 700 } },
  };
  for (const [name, options] of Object.entries(looks)) {
    test(`shows context, use, the list, what runs and who is here: ${name}`, async () => {
      const page = await world.page(`#/s/${sessionId}/session`, options);
      const panel = page.getByRole("tabpanel");
      await panel.getByRole("img").first().waitFor();
      await panel.getByText("Test everything with the race detector").waitFor();
      await panel.getByText("Lena's terminal").waitFor();
      await panel.locator(".taskname").first().waitFor();
      if (name.endsWith("dark")) await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await picture(page, `panel-session-${name}`);
      await accessible(page, ".side");
      expect(problems).toEqual([]);
    });
  }

  test("is closed by Back, by its button and by Escape where it covers the conversation", async () => {
    const page = await world.page("#/", phone);
    await page.locator(`a[href="#/s/${sessionId}"]`).first().click();
    const panel = page.getByRole("tabpanel");
    const opened = async () => {
      await page.getByRole("button", { name: "Show the panel" }).click();
      await panel.waitFor();
    };
    const closed = async () => {
      await panel.waitFor({ state: "detached" });
      expect(new URL(page.url()).hash).toBe(`#/s/${sessionId}`);
    };
    await opened();
    await page.getByRole("tab", { name: "Files" }).click();
    await page.goBack();
    await closed();
    await opened();
    await page.locator(".side").getByRole("button", { name: "Hide the panel" }).click();
    await closed();
    await opened();
    await page.keyboard.press("Escape");
    await closed();
    await page.goBack(); // nothing is left on the way
    await page.locator('.app[data-at="home"]').waitFor();
    expect(problems).toEqual([]);
  });

  test("has the numbers of its charts as tables, and hatches its bar where contrast is high", async () => {
    const page = await world.page(`#/s/${sessionId}/session`);
    await page.evaluate(() => {
      document.documentElement.dataset.contrast = "more";
    });
    const context = page.getByRole("region", { name: "Context" });
    await context.getByText("Show numbers").click();
    await context.getByRole("cell", { name: "System prompt" }).waitFor();
    await context.getByRole("cell", { name: "Kept free for the answer" }).waitFor();
    expect(await context.locator(".hatch").first().isVisible()).toBe(true);
    const used = page.getByRole("region", { name: "Tokens used" });
    await used.getByText("Show numbers").click();
    expect(await used.getByRole("row").count()).toBe(5); // the head, and four answers
    await used.getByText("By model").click();
    await used.getByText("Calls 4").waitFor();
    await picture(page, "panel-session-numbers");
    await accessible(page, ".side");
  });

  test("shows the output of a command in the background, and stops it", async () => {
    const page = await world.page(`#/s/${sessionId}/session`);
    const pane = page.getByRole("region", { name: "In the background" });
    await pane.getByRole("button", { expanded: false }).first().click();
    await pane.getByText("line 3").waitFor();
    await picture(page, "panel-session-output");
    await accessible(page, ".side");
    await pane.getByRole("button", { name: /^Stop / }).click();
    await pane.getByText("stopped").waitFor();
    expect(problems).toEqual([]);
  });
});
