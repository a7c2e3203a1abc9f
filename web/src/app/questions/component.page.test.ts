import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SessionID } from "../../protocol/index";
import { accessible, phone, picture, problems, withoutPages, World } from "../testing/page";

const extension = `export default function (pi) {
  pi.registerCommand("pick", { description: "Picks a fruit", handler: async (_args, ctx) => {
    const fruit = await ctx.ui.custom((tui, theme, keybindings, done) => {
      const fruits = ["apple", "香蕉", "cherry\\u202e"];
      let on = 0, keys = [], typed = "";
      return {
        render: (width) => [
          ...fruits.map((f, i) => (i === on ? "\\x1b[32m> " : "  ") + f + "\\x1b[0m|"),
          "typed: " + typed + "\\x1b_pi:c\\x07",
          "keys: " + keys.map((k) => JSON.stringify(k)).join(" "),
          "size: " + tui.terminal.columns + "x" + tui.terminal.rows,
        ],
        handleInput(data) {
          keys = [...keys.slice(-5), data];
          if (keybindings.matches(data, "tui.select.up")) on = Math.max(0, on - 1);
          else if (keybindings.matches(data, "tui.select.down")) on = Math.min(2, on + 1);
          else if (keybindings.matches(data, "tui.select.confirm")) done(fruits[on]);
          else if (!data.startsWith("\\x1b")) typed += data;
          if (data === "!") for (const end = Date.now() + 3000; Date.now() < end; ); // answers nothing for a while
        },
      };
    }, { title: "Which fruit?" });
    ctx.ui.notify("picked " + fruit);
  } });
}
`;

describe.skipIf(withoutPages !== "")("what an extension draws", () => {
  let world: World;
  let sessionId: SessionID;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Hello." }] }]);
    mkdirSync(join(world.host.home, ".scorel/extensions"), { recursive: true });
    writeFileSync(join(world.host.home, ".scorel/extensions/pick.ts"), extension);
  });
  afterAll(async () => world?.close());
  beforeEach(async () => {
    sessionId = await world.session("hello");
  });

  /** Runs the command from the message box of a page. */
  async function pick(page: Page): Promise<void> {
    await page.getByText("Hello.").waitFor();
    await page.locator("#composer").fill("/pick ");
    await page.keyboard.press("Enter");
    await page.getByText("> apple|").waitFor();
  }

  test("is on the page of who asked for it, and takes its keys", async () => {
    const page = await world.page(`#/s/${sessionId}`);
    await pick(page);
    await page.getByRole("heading", { name: "Which fruit?" }).waitFor();
    const drawing = page.locator(".component pre");
    expect(await drawing.textContent()).not.toContain("\u202e");
    await page.keyboard.press("ArrowDown");
    await page.getByText("> 香蕉|").waitFor();
    await page.keyboard.type("plum 1");
    await page.keyboard.insertText("日本");
    await page.getByText("typed: plum 1日本").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.press("Shift+Tab");
    await expect.poll(() => drawing.textContent()).toContain(String.raw`"\u000b" "\u001b[Z"`);
    // It is drawn at the size of the sheet: its lines end where the sheet does.
    const [, columns = "0"] = /size: (\d+)x(\d+)/.exec((await drawing.textContent()) ?? "") ?? [];
    expect(Number(columns)).toBeGreaterThan(60);
    await picture(page, "component-desk");
    await accessible(page);
    // The keys lead out of it, and back.
    await page.keyboard.press("F6");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Close without an answer");
    await page.locator(".component pre").click();
    await page.keyboard.press("Enter");
    await page.getByText("picked 香蕉").first().waitFor();
    expect(await page.locator(".sheet").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("is answered on a phone, with buttons for the keys that it has not", async () => {
    const page = await world.page(`#/s/${sessionId}`, phone);
    await page.getByText("Hello.").waitFor();
    await page.locator("#composer").fill("/pick ");
    await page.getByRole("button", { name: "Run", exact: true }).tap();
    await page.getByText("> apple|").waitFor();
    await page.getByRole("button", { name: "Down" }).tap();
    await page.getByText("> 香蕉|").waitFor();
    await page.getByRole("textbox", { name: "Type here" }).tap();
    await page.keyboard.insertText("plum");
    await page.getByText("typed: plum").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await picture(page, "component-phone");
    await accessible(page);
    await page.getByRole("button", { name: "Enter" }).tap();
    await page.getByText("picked 香蕉").first().waitFor();
    expect(problems).toEqual([]);
  });

  test("moves to another page and comes back after the line was cut; two Escs close it", async () => {
    const first = await world.page(`#/s/${sessionId}`);
    await pick(first);
    const second = await world.page(`#/s/${sessionId}`);
    await second.addInitScript(() => {
      const sockets: WebSocket[] = [];
      Object.assign(window, { sockets });
      window.WebSocket = class extends WebSocket {
        constructor(...args: ConstructorParameters<typeof WebSocket>) {
          super(...args);
          sockets.push(this);
        }
      };
    });
    await second.reload();
    await second.getByText("It is open in another client (Chrome on Linux).").waitFor();
    expect(await second.locator(".component").count()).toBe(0);
    await picture(second, "component-elsewhere");
    await second.waitForTimeout(500); // who types while a sheet comes up does not mean it
    await second.getByRole("button", { name: /Open it here/ }).click();
    await second.getByText("> apple|").waitFor();
    await first.getByText("It is open in another client").waitFor();
    await second.keyboard.type("a");
    await second.getByText("typed: a").waitFor();
    await second.evaluate(() => (window as unknown as { sockets: WebSocket[] }).sockets.at(-1)?.close());
    await second.keyboard.type("b");
    await expect.poll(() => second.locator(".component pre").textContent()).toContain("typed: ab\n");
    await second.keyboard.press("ArrowDown");
    await second.getByText("> 香蕉|").waitFor();
    await second.keyboard.press("Escape");
    await second.keyboard.press("Escape");
    await second.getByText("picked undefined").first().waitFor();
    expect(await first.locator(".sheet").count()).toBe(0);
  });

  test("says that the extension does not respond, and loses nothing that is typed meanwhile", async () => {
    const page = await world.page(`#/s/${sessionId}`);
    await pick(page);
    await page.keyboard.type("!");
    await page.getByText("pick is not responding.").waitFor();
    await page.keyboard.type("abc");
    await page.getByText("typed: !abc").waitFor();
    await expect.poll(() => page.getByText("pick is not responding.").count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByText("picked apple").first().waitFor();
  });
});
