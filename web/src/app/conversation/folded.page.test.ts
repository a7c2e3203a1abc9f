import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1} of what was pasted`).join("\n");

describe.skipIf(withoutPages !== "")("a long message of a person", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: `Heard.${"\n\nAnd more.".repeat(60)}` }] }]);
  });
  afterAll(async () => world?.close());

  const said = (page: Page, line: number) => page.getByText(`line ${line} of what was pasted`, { exact: false }).first();
  const rest = (page: Page) => page.locator(".said .further");
  const height = async (page: Page) => (await rest(page).boundingBox())?.height ?? 0;
  const opened = async (options: object = desk, n = 200) => {
    const id = await world.session(lines(n));
    const page = await world.page(`#/s/${id}`, options);
    await page.getByText("Heard.").first().waitFor();
    return { id, page };
  };

  for (const [name, options] of Object.entries({ desk, phone })) {
    test(`is folded after 40 lines and unfolded by a click or a tap: ${name}`, async () => {
      const { page } = await opened(options);
      const more = page.getByRole("button", { name: "160 more lines" });
      await more.scrollIntoViewIfNeeded();
      expect(await height(page)).toBe(0);
      expect(await more.getAttribute("aria-expanded")).toBe("false");
      await picture(page, `folded-${name}`);
      await accessible(page);
      const before = (await said(page, 1).boundingBox())?.y ?? 0;
      await (name === "phone" ? more.tap() : more.click());
      await expect.poll(() => height(page)).toBeGreaterThan(1000);
      await page.waitForTimeout(300);
      expect(Math.abs(((await said(page, 1).boundingBox())?.y ?? 0) - before)).toBeLessThan(3); // what is read stays where it is
      await picture(page, `unfolded-${name}`);
      await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      const less = page.getByRole("button", { name: "Show less" });
      await less.scrollIntoViewIfNeeded();
      await picture(page, `unfolded-${name}-dark`);
      await accessible(page);
      await (name === "phone" ? less.tap() : less.click());
      await expect.poll(() => height(page)).toBe(0);
      await expect.poll(async () => (await more.boundingBox())?.y ?? -1).toBeGreaterThan(0);
      expect(problems).toEqual([]);
    });
  }

  test("is unfolded by a key, and stays so while others are read", async () => {
    const { page } = await opened();
    const more = page.getByRole("button", { name: "160 more lines" });
    await more.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => height(page)).toBeGreaterThan(1000);
    const scroll = (to: "top" | "end") =>
      page.locator(".scroll").evaluate((el, to) => el.scrollTo(0, to === "top" ? 0 : el.scrollHeight), to);
    await scroll("end");
    await page.waitForTimeout(300);
    await scroll("top");
    await page.waitForTimeout(300);
    expect(await height(page)).toBeGreaterThan(1000);
    const less = page.getByRole("button", { name: "Show less" });
    await less.focus();
    await page.keyboard.press("Space");
    await expect.poll(() => height(page)).toBe(0);
    expect(problems).toEqual([]);
  });

  test("is found whole by the search of the browser, which unfolds it, and printed whole", async () => {
    const { page } = await opened();
    expect(await rest(page).getAttribute("hidden")).toBe("until-found");
    await page.emulateMedia({ media: "print" });
    expect(await height(page)).toBeGreaterThan(1000);
    await page.emulateMedia({ media: "screen" });
    expect(await height(page)).toBe(0);
    // What a browser does before it shows what its search has found.
    await rest(page).evaluate((el) => el.dispatchEvent(new Event("beforematch", { bubbles: true })));
    await page.getByRole("button", { name: "Show less" }).waitFor();
    expect(await rest(page).getAttribute("hidden")).toBeNull();
    expect(problems).toEqual([]);
  });

  test("is shown whole where only one line would be hidden", async () => {
    const { page } = await opened(desk, 41);
    await said(page, 41).waitFor();
    expect(await rest(page).count()).toBe(0);
    expect(await page.getByRole("button", { name: /more lines?$/ }).count()).toBe(0);
  });
});
