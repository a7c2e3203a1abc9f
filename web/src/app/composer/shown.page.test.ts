import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, picture, problems, withoutPages, World } from "../testing/page";

const extension = `export default function (pi) {
  pi.on("session_start", (_e, ctx) => {
    ctx.ui.setStatus("tests", "tests are \\u001b[32mgreen\\u001b[0m");
    ctx.ui.setWidget("plan", ["1. look", "2. mend\\u202e"]);
  });
  pi.registerCommand("draft", { handler: (_a, ctx) => ctx.ui.setEditorText("a draft of the extension") });
}
`;

describe.skipIf(withoutPages !== "")("what extensions show beside the message box", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Hello." }] }]);
    mkdirSync(join(world.host.home, ".scorel/extensions"), { recursive: true });
    writeFileSync(join(world.host.home, ".scorel/extensions/shows.ts"), extension);
  });
  afterAll(async () => world?.close());

  test("its lines, its word, and a text for the next message", async () => {
    const sessionId = await world.session("hello");
    const page = await world.page(`#/s/${sessionId}`, desk);
    await page.getByText("tests are green").waitFor();
    await expect.poll(() => page.locator(".shown pre").textContent()).toMatch(/^1\. look\n2\. mend.*\n$/);
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("what I had typed");
    await world.host.request("run_command", { name: "draft", args: "" }, sessionId);
    await expect.poll(() => box.inputValue()).toBe("a draft of the extension");
    await page.getByRole("main").getByText("has replaced what you had typed").waitFor();
    await picture(page, "composer-extensions");
    await accessible(page);
    await page.getByRole("button", { name: "Bring it back" }).click();
    await expect.poll(() => box.inputValue()).toBe("what I had typed");
    expect(problems).toEqual([]);
  });
});
