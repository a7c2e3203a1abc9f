import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { EntryList } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

/** Begins a session from the page, and waits until it is shown. */
async function begin(page: Page, world: World, name: string, text: string): Promise<void> {
  await page.goto(`${world.url}#/new`);
  await page.getByLabel("Folder", { exact: true }).fill(world.host.work);
  await page.getByLabel("Name, if you like").fill(name);
  await page.getByLabel("What is to be done").fill(text);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

describe.skipIf(withoutPages !== "")("places", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([
      { script: 1 },
      { if: { user: "touch" }, do: [{ call: "Bash", input: { command: "touch made" } }] },
      { if: { user: "breaking" }, do: [{ call: "AskUser", input: askWhich }] },
      { if: { user: "hang" }, do: [{ hang: true }] },
      { again: true, do: [{ text: "It counts days in hours." }] },
    ]);
    for (const name of ["atlas-web/.git", "atlas-web/src", "cadence", ".hidden"])
      mkdirSync(join(world.host.home, name), { recursive: true });
    writeFileSync(join(world.host.home, "atlas-web/.git/HEAD"), "ref: refs/heads/feat/map\n");
  });
  afterAll(async () => world?.close());
  afterEach(() => expect(problems.splice(0)).toEqual([]));

  test("a folder is picked by keyboard, and a first message begins the session", async () => {
    const page = await world.page("#/new");
    await page.getByRole("button", { name: "Browse", exact: true }).click();
    const path = page.getByRole("combobox", { name: "Path" });
    await page.getByRole("option", { name: /atlas-web/ }).waitFor();
    await picture(page, "folder-picker");
    await accessible(page);
    expect(await page.getByRole("option", { name: ".hidden" }).count()).toBe(0);
    await path.pressSequentially("atl");
    await page.keyboard.press("Tab"); // completes
    await page.getByRole("option", { name: "src" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await picture(page, "folder-inside");
    await page.keyboard.press("ArrowLeft"); // up
    await page.getByRole("option", { name: "cadence" }).waitFor();
    await path.pressSequentially(".");
    await page.getByRole("option", { name: ".hidden" }).waitFor();
    await page.keyboard.press("Backspace");
    await path.pressSequentially("atlas-web");
    await page.keyboard.press("Enter");
    await page.getByText("on feat/map").waitFor();
    await page.getByLabel("Name, if you like").fill("Tiles");
    await page.getByLabel("What is to be done").fill("Why does the job skip a day?");
    await picture(page, "new-desk");
    await accessible(page);
    await page.keyboard.press("Enter");
    await page.getByText("It counts days in hours.").first().waitFor();
    const link = page.getByRole("link", { name: "Tiles" });
    await link.waitFor();
    expect(await link.getAttribute("aria-current")).toBe("page");
    await page.getByText("feat/map").waitFor();
    await accessible(page);
  });

  test("what is typed on the first page stays when a new session is asked for", async () => {
    const page = await world.page();
    await page.getByLabel("Folder", { exact: true }).fill("/srv/atlas");
    await page.getByLabel("Name, if you like").fill("Tiles");
    await page.evaluate(() => {
      location.hash = "#/new";
    });
    await page.locator('.app[data-at="new"]').waitFor();
    expect(await page.getByLabel("Folder", { exact: true }).inputValue()).toBe("/srv/atlas");
    expect(await page.getByLabel("Name, if you like").inputValue()).toBe("Tiles");
  });

  test("a folder that is not there is said with the host's sentence", async () => {
    const page = await world.page("#/new");
    await page.getByLabel("Folder", { exact: true }).fill("/nowhere/at/all");
    await page.getByLabel("What is to be done").fill("Hello");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").first().waitFor();
    await picture(page, "new-refused");
    expect(await page.getByLabel("What is to be done").inputValue()).toBe("Hello");
  });

  test("the home is asked for by its name, and nothing begins there without a yes", async () => {
    const page = await world.page("#/new");
    await page.getByLabel("Folder", { exact: true }).fill(world.host.home);
    await page.getByLabel("What is to be done").fill("Hello");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: `Work in ${world.host.home}?` }).waitFor();
    await picture(page, "wide");
    await accessible(page);
    await page.getByRole("button", { name: "Choose another folder" }).click();
    await page.getByRole("combobox", { name: "Path" }).waitFor();
    expect(page.url()).toContain("#/new");
  });

  test("files of a project that could act are shown before the session begins, and are asked about once", async () => {
    const dir = join(world.host.home, "tricky");
    mkdirSync(join(dir, ".scorel"), { recursive: true });
    mkdirSync(join(dir, ".git"));
    writeFileSync(join(dir, ".scorel/mcp.json"), JSON.stringify({ mcpServers: { spy: { command: "sh", args: ["-c", "sleep 1"] } } }));
    const page = await world.page("#/new");
    const enter = async (name: string) => {
      await page.goto(`${world.url}#/new`);
      await page.getByLabel("Folder", { exact: true }).fill(dir);
      await page.getByLabel("Name, if you like").fill(name);
      await page.getByLabel("What is to be done").fill("Look at it");
      await page.keyboard.press("Enter");
    };
    await enter("First look");
    await page.getByRole("heading", { name: "Trust this project?" }).waitFor();
    await page.getByRole("checkbox", { name: "spy" }).waitFor();
    await picture(page, "trust");
    await accessible(page);
    await page.getByRole("button", { name: "Work without them" }).click();
    await page.getByRole("heading", { name: "First look", level: 1 }).waitFor();
    await enter("Second look");
    await page.getByRole("heading", { name: "Second look", level: 1 }).waitFor();
  });

  test("a part of the page whose way here breaks is asked for again", async () => {
    const page = await world.page("#/new");
    const cut = new Set<string>();
    await page.route(/\/assets\/(index|react|boot|FolderPicker)-.*\.js$/, (route) => {
      const url = route.request().url();
      if (cut.has(url)) return route.continue();
      cut.add(url);
      return route.abort("connectionreset");
    });
    await page.reload();
    await page.getByRole("button", { name: "Browse", exact: true }).click();
    await page.getByRole("combobox", { name: "Path" }).waitFor();
    expect(cut.size).toBeGreaterThan(3);
    expect(problems.splice(0).filter((p) => !p.includes("net::ERR_CONNECTION_RESET"))).toEqual([]);
  });

  test("two pages show the same list: what works, what asks, a new name, and that a session is gone", async () => {
    const [one, two] = [await world.page("#/"), await world.page("#/")];
    await begin(one, world, "Nightly job", "touch a file");
    await two.getByText("Waiting for you").waitFor();
    await two.getByText("Bash?").waitFor();
    await begin(one, world, "Release notes", "what is breaking");
    await two.getByText("Answer?").waitFor();
    await two.getByText("Which changes are breaking?").waitFor();
    await begin(one, world, "Tile cache", "hang on");
    const working = two.getByRole("link", { name: /Tile cache working/ });
    await working.waitFor();
    await picture(two, "rail-waiting");
    await accessible(two);
    await begin(one, world, "Time zones", "Why?");
    await two.getByRole("link", { name: /Time zones/ }).hover();
    await two.locator(".rail").getByRole("button", { name: "Actions for Time zones" }).click();
    await picture(two, "rail-menu");
    await two.getByRole("menuitem", { name: "Rename…" }).click();
    await two.getByLabel("Name", { exact: true }).fill("修复夏令时测试的时区");
    await two.keyboard.press("Enter");
    await one.getByRole("link", { name: /修复夏令时测试的时区/ }).waitFor();
    await two.getByRole("link", { name: /修复夏令时测试的时区/ }).hover();
    await two.locator(".rail").getByRole("button", { name: "Actions for 修复夏令时测试的时区" }).click();
    await two.getByRole("menuitem", { name: "Delete…" }).click();
    await two.getByRole("heading", { name: "Delete “修复夏令时测试的时区”?" }).waitFor();
    await picture(two, "rail-delete");
    await accessible(two);
    await two.getByRole("button", { name: "Delete", exact: true }).click();
    await two.getByText("is open in a client; leave it there").waitFor();
    await picture(two, "rail-delete-refused");
    await two.getByRole("button", { name: "Cancel" }).click();
    // The page that has it open leaves it.
    await one.getByRole("link", { name: /修复夏令时测试的时区/ }).hover();
    await one.locator(".rail").getByRole("button", { name: "Actions for 修复夏令时测试的时区" }).click();
    await one.getByRole("menuitem", { name: "Delete…" }).click();
    await one.getByRole("button", { name: "Delete", exact: true }).click();
    await two.getByRole("link", { name: /修复夏令时测试的时区/ }).waitFor({ state: "detached" });
    await one.getByRole("heading", { name: "New session" }).waitFor();
  });

  test("an export is saved as a file", async () => {
    const page = await world.page("#/");
    await begin(page, world, "To keep", "Why?");
    await page.getByText("It counts days in hours.").first().waitFor();
    await page.getByRole("link", { name: /To keep/ }).hover();
    await page.locator(".rail").getByRole("button", { name: "Actions for To keep" }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Export: Text (.md)" }).click()]);
    expect(file.suggestedFilename()).toBe("To keep.md");
    await page.getByText("To keep.md is saved.").waitFor();

    const { entries } = await world.host.request<EntryList>("list_entries", {});
    for (const e of entries ?? []) if (e.online) await world.host.request("set_grant", { clientId: e.clientId, grant: "view" });
    await page.locator(".rail").getByRole("button", { name: "Actions for To keep" }).click();
    await page.getByRole("menuitem", { name: "Delete…" }).waitFor({ state: "detached" });
    await picture(page, "rail-menu-view");
    const [seen] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Export: Text (.md)" }).click()]);
    expect(seen.suggestedFilename()).toBe("To keep.md");
  });

  test("what happened in another session is marked as new until it was shown here", async () => {
    const [one, two] = [await world.page("#/"), await world.page("#/")];
    await begin(one, world, "Seen once", "Why?");
    await two.getByRole("link", { name: /Seen once new/ }).click();
    await two.getByRole("heading", { name: "Seen once", level: 1 }).waitFor();
    await two.goto(`${world.url}#/new`);
    await two.getByRole("link", { name: /^Seen once( now| \d+ min)?$/ }).waitFor();
    await two.reload();
    await two.getByRole("link", { name: /^Seen once( now| \d+ min)?$/ }).waitFor();
  });

  test("the arrows go through the list, and Tab leaves it", async () => {
    await world.session("First of the keys");
    await world.session("Second of the keys");
    const page = await world.page("#/new");
    await page.getByRole("link", { name: /Second of the keys/ }).waitFor();
    await page.getByRole("button", { name: /Find or do anything/ }).focus();
    await page.keyboard.press("Tab");
    const first = await page.evaluate(() => document.activeElement?.closest("[data-index]")?.getAttribute("data-index"));
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction((was) => document.activeElement?.closest("[data-index]")?.getAttribute("data-index") !== was, first);
    await page.keyboard.press("End");
    await page.waitForFunction(() => document.activeElement?.closest("[data-index]")?.nextElementSibling === null);
  });

  for (const [name, options] of Object.entries({
    phone,
    "phone-dark": { ...phone, colorScheme: "dark" as const },
    "phone-zh": { ...phone, locale: "zh-CN" },
    "phone-320": { ...phone, viewport: { width: 320, height: 640 } },
    "desk-dark": { ...desk, colorScheme: "dark" as const },
    "desk-zh": { ...desk, locale: "zh-CN" },
    "desk-zoom200": { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  })) {
    test(`the list and a session to begin, ${name}`, async () => {
      const page = await world.page("#/", options);
      await page.getByRole("link", { name: /Nightly job/ }).waitFor();
      await picture(page, `list-${name}`);
      await accessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      await page.goto(`${world.url}#/new`);
      await page.locator("#folder").waitFor();
      await picture(page, `new-${name}`);
      await accessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    });
  }
});

const askWhich = {
  questions: [
    {
      question: "Which changes are breaking?",
      header: "Breaking",
      options: [
        { label: "The API", description: "Routes" },
        { label: "The file", description: "Format" },
      ],
    },
  ],
};
