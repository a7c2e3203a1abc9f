import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { program, sessionThatSaid } from "../panels/testing";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";
import { first, forked, longSession } from "./testing";

const script = [
  { script: 1 },
  { if: { kind: "compact" }, again: true, do: [{ text: "A clamp to 24 hours was tried, and fails in autumn." }] },
  { if: { user: "slow" }, do: [{ call: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" } }] },
  {
    if: { user: "Count civil days" },
    do: [{ call: "Write", input: { path: "due.go", content: "package due\n\nvar days = 31\n" } }],
  },
  { if: { result: "due.go" }, do: [{ text: "AddDate keeps the wall clock, which is what a nightly job means." }] },
  {
    if: { user: "nightly job" },
    do: [
      { call: "Bash", input: { command: "echo 24" } },
      { call: "Bash", input: { command: "echo hours" } },
    ],
  },
  { if: { result: "hours" }, do: [{ text: "Found it. Next adds 24 hours to the last run." }] },
  { if: { user: "without touching" }, do: [{ text: "Clamp the difference to 24 hours and keep the guard." }] },
  { if: { user: "from Postgres" }, do: [{ text: "now() is the transaction’s time, so a long claim sees the past." }] },
  { if: { user: "migration" }, do: [{ text: "This needs a migration. I would rather not." }] },
  { again: true, do: [{ text: "All four count civil days now." }] },
];

const config = '[permissions]\nallow = ["Write", "Bash"]\n';
/** Runs in the page: the longest task of the next two seconds, in milliseconds, 0 for none over 50. */
async function longestTask(): Promise<number> {
  let longest = 0;
  const seen = new PerformanceObserver((list) => {
    for (const e of list.getEntries()) longest = Math.max(longest, Math.round(e.duration));
  });
  seen.observe({ type: "longtask" });
  await new Promise((resolve) => setTimeout(resolve, 2000));
  seen.disconnect();
  return longest;
}

if (withoutPages !== "") console.log(withoutPages);

describe.skipIf(withoutPages !== "")("the tree of branches", () => {
  let world: World;
  let client: Client;
  beforeAll(async () => {
    world = await World.start(script, { config });
    client = program(world);
  });
  beforeEach(() => {
    problems.length = 0;
  });
  afterAll(async () => {
    await client?.close();
    await world?.close();
  });
  const rowOf = (page: Page, text: string) => page.getByRole("treeitem").filter({ hasText: text });

  const looks = {
    desk,
    "desk-dark": desk,
    "desk-zh": { ...desk, locale: "zh-CN" },
    phone,
    "phone-dark": phone,
    narrow: { ...phone, viewport: { width: 320, height: 640 } },
    zoomed: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  };
  let shared: SessionID | undefined;
  for (const [name, options] of Object.entries(looks)) {
    test(`shows where the conversation is, and other branches folded to where they part: ${name}`, async () => {
      shared ??= await forked(client, world);
      const page = await world.page(`#/s/${shared}`, options);
      const tree = name.endsWith("zh") ? "分支树" : "Tree of branches";
      await page.locator(".head").getByRole("button", { name: tree }).click();
      await page.getByRole("tree").waitFor();
      const here = page.locator('[aria-current="location"]');
      await here.filter({ hasText: "All four count civil days now." }).waitFor();
      if (name.endsWith("dark")) await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      expect(await page.getByRole("treeitem").count()).toBe(7);
      await picture(page, `tree-${name}`);
      await accessible(page);
      const folded = rowOf(page, "without touching");
      expect(await folded.getAttribute("aria-expanded")).toBe("false");
      await folded.click();
      await page.keyboard.press("ArrowRight");
      await rowOf(page, "Is there a way with a migration?").waitFor();
      await picture(page, `tree-${name}-unfolded`);
      await accessible(page);
      await page.locator(".insp .btn.ink").click();
      await page.getByRole("dialog").getByRole("radio").nth(2).check();
      await picture(page, `tree-${name}-move`);
      await accessible(page);
      expect(problems).toEqual([]);
    });
  }

  test("goes to another branch, which all other clients see, and names a place for all", async () => {
    const id = await forked(client, world);
    const page = await world.page(`#/s/${id}/tree`);
    const other = await world.page(`#/s/${id}`, phone);
    const third = await world.page(`#/s/${id}/tree`);
    await other.getByText("All four count civil days now.").last().waitFor();
    await rowOf(third, "And the other three places?").waitFor();
    await rowOf(page, "without touching").click();
    await page.getByRole("button", { name: "Name it…" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Clamp to 24 h");
    await picture(page, "tree-name");
    await accessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await rowOf(third, "Clamp to 24 h").waitFor();
    await page.getByRole("button", { name: "Go to the end of this branch" }).click();
    await page.getByRole("dialog").getByRole("radio", { name: "Leave it without a summary" }).waitFor();
    await picture(page, "tree-move");
    await accessible(page);
    await page.getByRole("button", { name: "Go there" }).click();
    await page.getByText("This needs a migration. I would rather not.").waitFor();
    expect(page.url()).not.toContain("/tree");
    await other.getByText("This needs a migration. I would rather not.").waitFor();
    await third.locator('[aria-current="location"]').filter({ hasText: "This needs a migration." }).waitFor();
    await rowOf(third, "Go back. Count civil days").filter({ hasText: "3 more" }).waitFor();
    await page.keyboard.press("Control+K");
    await page.getByPlaceholder("A session, what was said, a command, a place").fill("tree of");
    await page.getByRole("option", { name: /Tree of branches/ }).click();
    await page.locator('[aria-current="location"]').filter({ hasText: "This needs a migration." }).waitFor();
    await picture(page, "tree-went");
    expect(problems).toEqual([]);
  });

  test("has what is left behind summarised for the model, as a person asks", async () => {
    const id = await forked(client, world);
    const page = await world.page(`#/s/${id}/tree`);
    await rowOf(page, "Found it.").click();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Continue from here" }).waitFor();
    await page.getByRole("radio", { name: "Summarise it, with instructions" }).check();
    await page.getByRole("textbox", { name: "What the summary should keep" }).fill("what was tried");
    await picture(page, "tree-summary");
    await page.getByRole("button", { name: "Go there" }).click();
    await page.getByText("Summary of the branch that was left").waitFor();
    await page.keyboard.press("t"); // typed into the message box, which has the focus
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("t");
    await page.locator(".head").getByRole("button", { name: "Tree of branches" }).click();
    await page.locator('[aria-current="location"]').filter({ hasText: "Summary of a branch: A clamp" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("is walked, folded, searched and left with the keyboard", async () => {
    const id = await forked(client, world);
    const page = await world.page(`#/s/${id}`);
    await page.getByText("All four count civil days now.").last().waitFor();
    await page.locator("body").press("t");
    const tree = page.getByRole("tree");
    await page.locator('[aria-current="location"]').waitFor();
    const current = async () => {
      const at = await tree.getAttribute("aria-activedescendant");
      return page.locator(`[id="${at}"]`).textContent();
    };
    await expect.poll(current).toContain("All four count civil days now.");
    await page.keyboard.press("Home");
    await expect.poll(current).toContain(first);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect.poll(current).toContain("without touching");
    await page.keyboard.press("ArrowRight"); // unfolds
    await page.keyboard.press("ArrowRight"); // to where it parts
    await expect.poll(current).toContain("Clamp the difference");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(current).toContain("5 more");
    await page.keyboard.press("End");
    await expect.poll(current).toContain("All four");
    await page.keyboard.press("l");
    await page.getByRole("dialog", { name: "Name this place" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Find in the tree" }).fill("postgres");
    await expect.poll(() => page.getByRole("treeitem").count()).toBe(1);
    await picture(page, "tree-search");
    await page.keyboard.press("ArrowDown");
    await expect.poll(current).toContain("from Postgres");
    await page.getByRole("searchbox", { name: "Find in the tree" }).fill("");
    await page.getByRole("combobox", { name: "Show" }).selectOption({ label: "What has a name" });
    await expect.poll(() => page.getByRole("treeitem").count()).toBe(1);
    await rowOf(page, "Ask the database").waitFor();
    await page.getByRole("searchbox", { name: "Find in the tree" }).fill("nothing of it");
    await page.getByText("Nothing fits.").waitFor();
    await page.getByRole("combobox", { name: "Show" }).selectOption({ label: "All messages" });
    await page.getByRole("searchbox", { name: "Find in the tree" }).press("Escape");
    await page.getByRole("searchbox", { name: "Find in the tree" }).press("Escape");
    await page.getByRole("treeitem").first().waitFor({ state: "detached" });
    await page.locator(".head h1").click();
    await page.locator("body").press("?");
    await page.getByText("In the tree of branches").waitFor();
    await page.getByText("In the tree of branches").scrollIntoViewIfNeeded();
    await picture(page, "tree-keys");
    expect(problems).toEqual([]);
  });

  test("is refused while a turn runs, with what can be done", async () => {
    const id = await forked(client, world);
    await client.call("send_message", { content: [{ type: "text", text: "A slow one." }] }, { sessionId: id });
    const page = await world.page(`#/s/${id}/tree`);
    await page.locator(".head").getByText("Working").waitFor();
    await rowOf(page, "without touching").click();
    await page.getByRole("button", { name: "Go to the end of this branch" }).click();
    await page.getByRole("button", { name: "Go there" }).click();
    await page.getByText("A turn is running; cancel it first.").waitFor();
    await picture(page, "tree-refused");
    await accessible(page);
    expect(await page.locator(".tr", { hasText: "A slow one." }).count()).toBe(1); // nothing has moved
    await page.getByRole("button", { name: "Stop the turn, and go" }).click();
    await page.getByText("This needs a migration. I would rather not.").waitFor();
    await page.locator(".head").getByText("Working").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("draws of 10,000 messages the rows that are seen", async () => {
    const id = await longSession(client, world, 10_000);
    const page = await world.page(`#/s/${id}/tree`);
    const began = Date.now();
    await page.locator('[aria-current="location"]').filter({ hasText: "Answer 9999" }).waitFor();
    console.log(`the tree of 10,000 messages: ${Date.now() - began} ms from the page to its leaf`);
    expect(await page.getByRole("treeitem").count()).toBeLessThan(60);
    await page.keyboard.press("Home");
    await rowOf(page, "Message 0").first().waitFor();
    expect(await page.getByRole("treeitem").count()).toBeLessThan(60);
    await picture(page, "tree-long");
    const tree = page.getByRole("tree");
    const slow = page.evaluate(longestTask);
    for (let i = 0; i < 40; i++) await page.keyboard.press("PageDown");
    await expect.poll(() => tree.getAttribute("aria-activedescendant")).toMatch(/evt_/);
    console.log(`the longest task while it is walked: ${await slow} ms`);
    await page.getByRole("searchbox", { name: "Find in the tree" }).fill("message 7777");
    await expect.poll(() => page.getByRole("treeitem").count()).toBe(1);
    expect(problems).toEqual([]);
  });

  describe("a message that is edited and sent again", () => {
    // Sessions of the tests before have written it, too.
    beforeEach(() => rmSync(join(world.host.work, "due.go"), { force: true }));

    test("begins a branch, with its text and what was attached, and takes files back", async () => {
      const id = await forked(client, world);
      const page = await world.page(`#/s/${id}`);
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("Look at this.");
      await page.locator('input[type="file"]').setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a note") });
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.locator(".said", { hasText: "Look at this." }).waitFor();
      await expect.poll(() => page.locator(".head").getByText("Working").count()).toBe(0);
      const edit = async (text: string) => {
        await page.locator(".said", { hasText: text }).getByRole("button", { name: "What to do with this message" }).click();
        await page.getByRole("menuitem", { name: "Edit and send again" }).click();
        await page.getByRole("dialog", { name: "Edit and send again" }).waitFor();
      };
      await edit("Look at this.");
      await picture(page, "tree-edit");
      await accessible(page);
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.locator(".comp .chip", { hasText: "note.txt" }).waitFor();
      expect(await box.inputValue()).toBe("Look at this.");
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("composer");
      await page.locator(".said", { hasText: "Look at this." }).waitFor({ state: "detached" });
      await picture(page, "tree-edited");
      await box.fill("Look at this note.");
      await page.keyboard.press("Enter");
      await page.locator(".said", { hasText: "Look at this note." }).getByText("note.txt").waitFor();
      await expect.poll(() => page.locator(".head").getByText("Working").count()).toBe(0);
      await page.locator(".head").getByRole("button", { name: "Tree of branches" }).click();
      await rowOf(page, "Look at this note.").waitFor();
      await rowOf(page, "Look at this.").filter({ hasText: "1 more" }).waitFor();
      await rowOf(page, "Go back. Count civil days").click();
      expect(existsSync(join(world.host.work, "due.go"))).toBe(true);
      await page.getByRole("button", { name: "Edit and send again" }).click();
      await page.getByLabel("Take back the files that were written since").check();
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByText("1 new file removed.").waitFor();
      expect(existsSync(join(world.host.work, "due.go"))).toBe(false);
      await expect.poll(() => box.inputValue()).toBe("Go back. Count civil days with AddDate instead.");
      expect(problems).toEqual([]);
    });

    test("says which files somebody has changed since, and takes them back if that is wanted", async () => {
      const id = await sessionThatSaid(client, world, "Count civil days, please.");
      writeFileSync(join(world.host.work, "due.go"), "package mine\n");
      const page = await world.page(`#/s/${id}/tree`);
      await rowOf(page, "Count civil days, please.").click();
      await page.getByRole("button", { name: "Edit and send again" }).click();
      await page.getByLabel("Take back the files that were written since").check();
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByRole("dialog", { name: "These files stayed as they are" }).getByText("due.go").waitFor();
      await picture(page, "tree-skipped");
      await accessible(page);
      expect(readFileSync(join(world.host.work, "due.go"), "utf8")).toBe("package mine\n");
      await page.getByRole("button", { name: "Take them back all the same" }).click();
      await page.getByText("1 new file removed.").waitFor();
      expect(existsSync(join(world.host.work, "due.go"))).toBe(false);
      expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Count civil days, please.");
      expect(problems).toEqual([]);
    });
  });
});

describe.skipIf(withoutPages !== "")("the tree of who only watches", () => {
  test("shows all, and moves nothing", async () => {
    const world = await World.start(script, { config });
    const client = program(world);
    try {
      const page = await world.page(`#/s/${await forked(client, world)}/tree`);
      await page.getByRole("treeitem").filter({ hasText: "Found it." }).click();
      await page.getByRole("button", { name: "Continue from here" }).waitFor();
      const list = await client.call("list_entries", {});
      for (const e of list.entries ?? []) await client.call("set_grant", { clientId: e.clientId, grant: "view" });
      await page.getByRole("button", { name: "Continue from here" }).waitFor({ state: "detached" });
      await picture(page, "tree-watching");
      await accessible(page);
    } finally {
      await client.close();
      await world.close();
    }
  });
});
