import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("messages that the host has not acknowledged", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Heard." }] }]);
  });
  afterAll(async () => world?.close());
  afterEach(() => world?.host.hold(false));

  const box = (page: Page) => page.locator("#composer");
  const rows = (page: Page) => page.locator(".queue li");
  const said = (page: Page, text: string) => page.getByRole("heading", { name: text, exact: true });
  const opened = async (options: typeof desk = desk) => {
    const id = await world.session("hello");
    const page = await world.page(`#/s/${id}`, options);
    await page.getByText("Heard.").first().waitFor();
    return { id, page };
  };
  const offline = async (page: Page) => {
    const { port } = world;
    await world.host.kill();
    await page.getByText("Not connected.").waitFor();
    return () => world.host.start(port);
  };
  const send = async (page: Page, text: string) => {
    await box(page).fill(text);
    await page.keyboard.press("Enter");
  };
  /** How often the log has a message of a person, and in which order. */
  const logged = (id: SessionID) =>
    world.host
      .stored(id)
      .split("\n")
      .filter((l) => l.includes('"role":"user"'))
      .flatMap((l) => {
        const { content } = JSON.parse(l).message;
        return typeof content === "string" ? [content] : content.map((b: { text?: string }) => b.text ?? "");
      })
      .filter((t: string) => t !== "");

  test("are sent once and in order after the page was closed, whatever was typed after them", async () => {
    const { id, page } = await opened();
    const start = await offline(page);
    await send(page, "kept 1");
    await send(page, "kept 2");
    await box(page).fill("and a later thought");
    await expect.poll(() => rows(page).allTextContents()).toEqual(["1kept 1waits for the connection", "2kept 2waits for the connection"]);
    await page.getByText("It is kept, and sent when the host answers.").waitFor();
    await picture(page, "unsent-waits");
    await accessible(page);
    const context = page.context();
    await page.close();
    await start();
    const later = await context.newPage();
    await later.goto(`${world.url}#/s/${id}`);
    await said(later, "kept 2").waitFor();
    await expect.poll(() => rows(later).count()).toBe(0);
    expect(await box(later).inputValue()).toBe("and a later thought");
    await later.reload();
    await said(later, "kept 2").waitFor();
    await later.waitForTimeout(500);
    expect(logged(id)).toEqual(["hello", "kept 1", "kept 2"]);
    problems.length = 0; // the browser says that it could not connect
  });

  test("that are too long to be kept say so, and the page asks before it goes", async () => {
    const { id, page } = await opened();
    const asked: string[] = [];
    page.on("dialog", (d) => {
      asked.push(d.type());
      void d.accept();
    });
    await box(page).click();
    await page.keyboard.type("x");
    await box(page).fill("y".repeat(60_000));
    await page.getByText("More than 50,000 characters are kept only as long as this page is open.").waitFor();
    await accessible(page);
    await page.setInputFiles("input[type=file]", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("a note") });
    await page.getByText("notes.txt").waitFor();
    await page.evaluate(() => location.assign("#/p/doctor"));
    await box(page).waitFor({ state: "detached" });
    await page.evaluate((to) => location.assign(`#/s/${to}`), id);
    expect((await box(page).inputValue()).length).toBe(60_000);
    await page.getByText("notes.txt").waitFor();
    await page.getByText("More than 50,000 characters").waitFor();
    await page.evaluate(() => location.assign("#/p/doctor"));
    await box(page).waitFor({ state: "detached" });
    await page.reload(); // it asks there, too
    expect(asked).toEqual(["beforeunload"]);
    await page.evaluate((to) => location.assign(`#/s/${to}`), id);
    await box(page).fill("short");
    await page.reload();
    await expect.poll(() => box(page).inputValue()).toBe("short");
    expect(asked).toEqual(["beforeunload"]);
  });

  test("are sent once, also from a page that shows another place, and stand in no box beside", async () => {
    const { id, page } = await opened();
    const other = await world.session("another");
    const start = await offline(page);
    await send(page, "said once");
    await page.evaluate((to) => location.assign(`#/s/${to}`), other);
    await expect.poll(() => page.url()).toContain(other);
    await page.evaluate((to) => location.assign(`#/s/${to}`), id);
    await rows(page).getByText("said once").waitFor();
    expect(await box(page).inputValue()).toBe("");
    await page.evaluate(() => location.assign("#/"));
    await start();
    await expect.poll(() => logged(id)).toEqual(["hello", "said once"]);
    await page.evaluate((to) => location.assign(`#/s/${to}`), id);
    await said(page, "said once").waitFor();
    await expect.poll(() => rows(page).count()).toBe(0);
    expect(await box(page).inputValue()).toBe("");
    problems.length = 0;
  });

  test("are taken back into the box, or dropped", async () => {
    const { id, page } = await opened();
    const start = await offline(page);
    for (const text of ["to edit", "to drop", "to keep"]) await send(page, text);
    await page.locator('input[type="file"]').setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("attached") });
    await send(page, "with a file");
    await rows(page).nth(3).waitFor();
    await rows(page).filter({ hasText: "to edit" }).getByRole("button", { name: "Edit" }).click();
    expect(await box(page).inputValue()).toBe("to edit");
    await rows(page).filter({ hasText: "to drop" }).getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => rows(page).count()).toBe(2);
    const context = page.context();
    await page.close();
    await start();
    const later = await context.newPage();
    await later.goto(`${world.url}#/s/${id}`);
    await said(later, "with a file").waitFor();
    await later.getByText("a.txt").waitFor();
    await expect.poll(() => logged(id)).toEqual(["hello", "to keep", "with a file"]);
    problems.length = 0;
  });

  test("say so when they are too large to be kept", async () => {
    const { id, page } = await opened();
    const start = await offline(page);
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "big.bin", mimeType: "text/plain", buffer: Buffer.alloc(2_000_000, "a") });
    await send(page, "with a large file");
    await page.getByText("if this page stays open").waitFor();
    await picture(page, "unsent-large");
    await start();
    await said(page, "with a large file").waitFor();
    expect(logged(id)).toEqual(["hello", "with a large file"]);
    problems.length = 0;
  });

  test("come back into the box when the host refuses them, before what was written since", async () => {
    const { id, page } = await opened();
    const start = await offline(page);
    const long = "x".repeat(1_100_000);
    await box(page).fill(long);
    await page.keyboard.press("Enter");
    await box(page).fill("written since");
    await start();
    await page.locator(".comp").getByRole("alert").filter({ hasText: "Not sent. The send_message request has" }).waitFor();
    expect(await box(page).inputValue()).toBe(`${long}\nwritten since`);
    expect(await rows(page).count()).toBe(0);
    expect(logged(id)).toEqual(["hello"]);
    problems.length = 0;
  });

  test("are shown while a line is silently dead, which is noticed soon", async () => {
    const { id, page } = await opened();
    world.host.hold(true);
    await send(page, "into the dark");
    await rows(page)
      .getByText(/^sending$|sent again/)
      .waitFor(); // it is known as dead soon
    expect(await rows(page).getByRole("button").count()).toBe(0);
    await picture(page, "unsent-sending");
    await accessible(page);
    await send(page, "and one more");
    await page.getByText("Not connected.").waitFor();
    await rows(page).getByText("not connected; sent again").waitFor();
    await picture(page, "unsent-unconfirmed");
    const context = page.context();
    await page.close();
    world.host.hold(false);
    const later = await context.newPage();
    await later.goto(`${world.url}#/s/${id}`);
    await said(later, "and one more").waitFor();
    await expect.poll(() => rows(later).count()).toBe(0);
    await later.waitForTimeout(500);
    expect(logged(id)).toEqual(["hello", "into the dark", "and one more"]);
    problems.length = 0;
  });

  test("of a page that is closed are sent by another one that is open, and only then", async () => {
    const { id, page } = await opened();
    const second = await page.context().newPage();
    await second.goto(`${world.url}#/`);
    await second.locator(".app").waitFor();
    const start = await offline(page);
    await send(page, "left behind");
    await page.close();
    await start();
    await expect.poll(() => logged(id)).toEqual(["hello", "left behind"]);
    await expect.poll(() => second.evaluate(() => Object.keys(localStorage).filter((k) => k.includes("unsent")).length)).toBe(0);
    problems.length = 0;
  });

  for (const [name, options] of Object.entries({
    dark: { ...desk, colorScheme: "dark" as const },
    phone,
    "320": { ...phone, viewport: { width: 320, height: 640 } },
    chinese: { ...desk, locale: "zh-CN" },
  })) {
    test(`fit: ${name}`, async () => {
      const { page } = await opened(options as typeof desk);
      const { port } = world;
      await world.host.kill();
      await page.locator(".banner.off").waitFor();
      for (let i = 1; i < 9; i++) {
        await box(page).fill(
          i === 1 ? "A long message that waits until there is a connection to the host again, and longer still" : `number ${i}`,
        );
        await page.locator('.comp button[type="submit"]').click();
      }
      await expect.poll(() => rows(page).count()).toBe(8);
      expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
      expect(await box(page).isVisible()).toBe(true);
      await picture(page, `unsent-${name}`);
      await accessible(page);
      await world.host.start(port);
      await expect.poll(() => rows(page).count()).toBe(0);
      problems.length = 0;
    });
  }
});
