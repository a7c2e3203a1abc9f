import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("the first run", () => {
  let world: World;
  let server: Server;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }]);
    await world.host.kill("SIGTERM");
    writeFileSync(join(world.host.home, ".scorel/config.toml"), "");
    mkdirSync(join(world.host.home, "cadence/.git"), { recursive: true });
    await world.host.start();
    server = await models();
  });
  afterAll(async () => {
    server?.close();
    await world?.close();
  });
  afterEach(() => expect(problems.splice(0)).toEqual([]));

  for (const [name, options] of Object.entries({
    desk,
    phone,
    "desk-dark": { ...desk, colorScheme: "dark" as const },
    "desk-zh": { ...desk, locale: "zh-CN" },
    "320": { ...phone, viewport: { width: 320, height: 640 } },
    zoom200: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  }))
    test(`says how to start, ${name}`, async () => {
      const page = await world.page("#/new", options);
      await page.locator(".ways").waitFor();
      await page.locator(".checks .ok, .checks .warn").first().waitFor();
      await picture(page, `first-${name}`);
      await accessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    });

  test("a key that the provider cannot be asked with is said, and the dialog stays", async () => {
    const page = await world.page("#/new");
    await page.getByRole("button", { name: "Add key" }).click();
    await page.getByLabel("API key").fill("sk-not-a-key");
    await picture(page, "first-key");
    await accessible(page);
  });

  test("the demo answers in the folder that was chosen", async () => {
    const page = await world.page("#/new");
    await page.getByRole("button", { name: "Choose a folder" }).first().click();
    await page.getByRole("combobox", { name: "Path" }).fill(join(world.host.home, "cadence"));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Start demo" }).click();
    await page.waitForURL(/#\/s\/ses_/);
    await page.getByText("demo model").first().waitFor();
    await picture(page, "first-demo");
  });

  test("a message that was sent before there is a model goes once a server's model works", async () => {
    const page = await world.page("#/new");
    await page.getByRole("button", { name: "Choose a folder" }).first().click();
    await page.getByRole("combobox", { name: "Path" }).fill(join(world.host.home, "cadence"));
    await page.keyboard.press("Enter");
    await page.getByLabel("What is to be done").fill("Say hello");
    await page.keyboard.press("Enter");
    await page.getByText("Sent once a model is set up.").waitFor();
    await page.getByRole("button", { name: "Look for servers" }).click();
    await page.getByRole("button", { name: "A server at another address" }).click();
    await page.getByRole("textbox", { name: "Address" }).fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    await page.getByRole("button", { name: "List its models" }).click();
    await page.getByRole("button", { name: "Use this model: qwen3-coder" }).waitFor();
    await picture(page, "first-server");
    await accessible(page);
    await page.getByRole("button", { name: "Use this model: qwen3-coder" }).click();
    await page.waitForURL(/#\/s\/ses_/);
    await page.getByText("Hello from the server.").first().waitFor();
  });
});

/** A server of models as llama.cpp or vLLM is one: a list of models, and one answer for everything. */
async function models(): Promise<Server> {
  const server = createServer((req, res) => {
    if (req.method === "GET") {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ object: "list", data: [{ id: "qwen3-coder", object: "model" }] }));
      return;
    }
    res.setHeader("content-type", "text/event-stream");
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "qwen3-coder", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    res.end(`${chunk({ role: "assistant", content: "Hello from the server." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
