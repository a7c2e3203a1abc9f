import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { accessible, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("the palette", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "It counts days in hours." }] }]);
    const page = await world.page("#/new");
    for (const [name, text] of [
      ["Tile cache", "Why does the cache grow without bound?"],
      ["Nightly job", "Why does the job skip a day in March?"],
    ] as const) {
      await page.goto(`${world.url}#/new`);
      await page.getByLabel("Folder", { exact: true }).fill(world.host.work);
      await page.getByLabel("Name, if you like").fill(name);
      await page.getByLabel("What is to be done").fill(text);
      await page.keyboard.press("Enter");
      await page.getByText("It counts days in hours.").first().waitFor();
    }
  });
  afterAll(async () => world?.close());
  afterEach(() => expect(problems.splice(0)).toEqual([]));

  test("finds a session by its title, and opens it, by keyboard alone", async () => {
    const page = await world.page("#/new");
    await page.getByRole("link", { name: /Tile cache/ }).waitFor();
    await page.locator("#composer").focus();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /Tile cache/ }).waitFor();
    await picture(page, "palette");
    await accessible(page);
    await page.keyboard.type("tile ca");
    await page
      .getByRole("option", { name: /Tile cache/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tile cache", level: 1 }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("finds what was said, and leads to the place", async () => {
    const page = await world.page("#/new");
    await page.keyboard.press("/");
    await page.keyboard.type("skip a day");
    await page.getByRole("option", { name: /skip a day.*You/ }).waitFor();
    await picture(page, "palette-contents");
    await accessible(page);
    await page.keyboard.press("End");
    await page.getByRole("option", { name: /skip a day.*You/ }).click();
    await page.waitForURL(/#\/s\/ses_[^?]+\?e=evt_/);
    await page.getByRole("heading", { name: "Nightly job", level: 1 }).waitFor();
  });

  test("has the commands of the session, and runs one with its text", async () => {
    const page = await world.page("#/new");
    await page.getByRole("link", { name: /Tile cache/ }).click();
    await page.getByRole("heading", { name: "Tile cache", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("/");
    await page.getByText("Commands of this session").waitFor();
    await picture(page, "palette-commands");
    await accessible(page);
  });

  test("? shows all keys, single ones can be switched off, and theme and language are changed", async () => {
    const page = await world.page("#/new");
    await page.getByRole("link", { name: /Tile cache/ }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await picture(page, "keys");
    await accessible(page);
    await page.getByRole("checkbox", { name: "Single keys do something" }).uncheck();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("dark");
    await page.getByRole("option", { name: "Theme: dark" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("中文");
    await page.getByRole("option", { name: /中文/ }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.documentElement.lang === "zh-Hans");
    await page.keyboard.press("Control+k");
    await page.getByText("前往").waitFor();
    await picture(page, "palette-dark-zh");
    await accessible(page);
    await page.keyboard.press("Escape");
  });

  test("is reached by touch on the phone", async () => {
    const page = await world.page("#/", phone);
    await page.getByRole("button", { name: "Find or do anything" }).click();
    await page.getByRole("option", { name: /Tile cache/ }).waitFor();
    await picture(page, "palette-phone");
    await accessible(page);
  });
});
