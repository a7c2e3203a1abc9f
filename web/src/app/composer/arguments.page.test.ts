import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MCPServerList, SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const notes = join(fileURLToPath(new URL("../../../../", import.meta.url)), "internal/host/mcpservers/testdata/servers/notes.py");

describe.skipIf(withoutPages !== "")("commands of the page with text after their names", () => {
  let world: World;
  let sessionId: SessionID;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Heard." }] }]);
    const { host } = world;
    mkdirSync(host.path(), { recursive: true });
    const mcpServers = { notes: { command: "python3", args: [notes] }, broken: { command: "/does/not/exist" } };
    writeFileSync(host.path("mcp.json"), JSON.stringify({ mcpServers }));
    sessionId = await world.session("hello");
  });
  afterAll(async () => world?.close());

  const box = (page: Page) => page.locator("#composer");
  const opened = async (options: object = desk) => {
    const page = await world.page(`#/s/${sessionId}`, options);
    await page.getByRole("main").getByText("Heard.").first().waitFor();
    return page;
  };
  const run = async (page: Page, text: string) => {
    await box(page).fill(text);
    await box(page).press("Escape"); // no list of what could be typed takes the Enter
    await box(page).press("Control+Enter");
  };
  const serverState = async (name: string) =>
    (await world.host.request<MCPServerList>("list_mcp_servers", {}, sessionId)).servers?.find((s) => s.name === name)?.state;

  for (const [name, options] of Object.entries({ desk, phone })) {
    test(`refuse text where they take none, and it stays: ${name}`, async () => {
      const page = await opened(options);
      const address = page.url();
      for (const typed of ["/doctor everything", "/new thing", "/rc now", "/login openai", "/branch x", "/quit now"]) {
        await run(page, typed);
        await page
          .getByRole("main")
          .getByText(`${typed.split(" ")[0]} takes nothing after its name`)
          .waitFor();
        expect(await box(page).inputValue()).toBe(typed);
        expect(page.url()).toBe(address);
      }
      await picture(page, `arguments-refused-${name}`);
      await accessible(page);
      await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await picture(page, `arguments-refused-${name}-dark`);
      await accessible(page);
      expect(problems).toEqual([]);
    });
  }

  test("/theme changes the look, and names the themes where there is none of the name", async () => {
    const page = await opened();
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await run(page, "/theme dark");
    await page.getByRole("main").getByText("The theme is dark.").waitFor();
    expect(await theme()).toBe("dark");
    await page.reload();
    await box(page).waitFor();
    expect(await theme()).toBe("dark");
    await run(page, "/theme solarized");
    await page.getByRole("main").getByText("There is no theme solarized; choose one of system, light, dark.").waitFor();
    expect(await box(page).inputValue()).toBe("/theme solarized");
    expect(await theme()).toBe("dark");
    await run(page, "/theme auto");
    await page.getByRole("main").getByText("The theme is system.").waitFor();
    expect(await theme()).toBe("light");
    await run(page, "/theme");
    await page.waitForURL(/settings\/looks/);
    expect(problems).toEqual([]);
  });

  test("/logout removes the key of a provider, and says where there is none", async () => {
    await world.host.request("set_credential", { provider: "openai", key: "sk-of-a-test" });
    const page = await opened();
    await run(page, "/logout openai");
    await page.getByRole("main").getByText("The key of openai was removed.").waitFor();
    expect(await box(page).inputValue()).toBe("");
    await run(page, "/logout openai");
    await page.getByRole("main").getByText("No key of openai was entered").waitFor();
    expect(await box(page).inputValue()).toBe("/logout openai");
    await run(page, "/logout");
    await page.waitForURL(/settings\/models/);
    expect(problems).toEqual([]);
  });

  test("/mcp switches a server off and on, connects with it again, and says what came of it", async () => {
    const page = await opened();
    await expect.poll(() => serverState("notes")).toBe("connected");
    await run(page, "/mcp disable notes");
    await page.getByRole("main").getByText("notes is disabled from the next message on.").waitFor();
    await picture(page, "arguments-mcp");
    await run(page, "/mcp enable notes");
    await page.getByRole("main").getByText("notes is enabled from the next message on.").waitFor();
    await expect.poll(() => serverState("notes")).toMatch(/connected|configured/);
    await run(page, "and now");
    await page.getByRole("main").getByText("Heard.").nth(1).waitFor();
    await run(page, "/mcp reconnect notes");
    await page
      .getByRole("main")
      .getByText(/^notes is connected again, with \d+ tools?\.$/)
      .waitFor();
    await run(page, "/mcp reconnect broken");
    await page
      .getByRole("main")
      .getByText(/^broken is not connected: .*does\/not\/exist/)
      .waitFor();
    for (const typed of ["/mcp enable", "/mcp remove notes", "/mcp enable two names"]) {
      await run(page, typed);
      await page.getByRole("main").getByText("/mcp shows the servers; /mcp enable NAME").waitFor();
      expect(await box(page).inputValue()).toBe(typed);
    }
    await run(page, "/mcp reconnect nobody");
    await expect.poll(() => box(page).inputValue()).toBe("/mcp reconnect nobody");
    await page.locator(".comp .errline").waitFor();
    await accessible(page);
    await run(page, "/mcp");
    await page.waitForURL(/extensions/);
    expect(problems).toEqual([]);
  });
});
