import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const script = [
  { script: 1 },
  { if: { user: "^fail" }, do: [{ error: { status: 401, message: "the key is wrong" } }] },
  { if: { user: "^hang" }, do: [{ call: "Bash", input: { command: "sleep 300" } }] },
  {
    do: [
      { thinking: "A day is not always 24 hours, so look at what next adds." },
      { text: "I look at `next.go` first." },
      { call: "Write", input: { path: "next.go", content: "package next\n\nfunc next() int { return 24 }\n" } },
    ],
  },
  {
    do: [{ call: "Edit", input: { path: "next.go", edits: [{ old_string: "return 24", new_string: "return 25" }] } }],
  },
  {
    do: [{ call: "Bash", input: { command: "printf '\\033[32mok\\033[0m  next 0.1s\\n'; exit 1" } }],
  },
  {
    again: true,
    do: [
      {
        text: "**Found it.** A day has 23 or 25 hours:\n\n```go\nnext = last.AddDate(0, 0, 1)\n```\n\n| day | hours |\n|---|--:|\n| 9 March | 23 |\n\nQ&amp;A &copy; <img src=x onerror=alert(1)> [no](javascript:alert(1))",
      },
    ],
  },
];

describe.skipIf(withoutPages !== "")("the conversation", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(script, { config: '[permissions]\nallow = ["Write", "Edit", "Bash"]\n' });
  });
  afterAll(async () => world?.close());

  test("shows what was said, thought and done, on the desk and the phone, in both themes", async () => {
    const sessionId = await world.session("The nightly job skipped 9 March. Find out why, and fix it.");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Found it.").waitFor();
    await page.getByRole("button", { name: /Run/ }).click();
    await page.getByText("ok next 0.1s").first().waitFor();
    await page.getByText("exit 1", { exact: true }).waitFor();
    await page.getByText("return 25").first().waitFor();
    await page.getByText("Q&A ©").waitFor(); // entities are read without the page's own parser of HTML
    expect(await page.locator(".prose img").count()).toBe(0);
    expect(await page.locator(".prose a").count()).toBe(0);
    await picture(page, "conversation-desk");
    await accessible(page);
    await page.evaluate(() => {
      document.documentElement.dataset.theme = "dark";
    });
    await picture(page, "conversation-desk-dark");
    await accessible(page);

    const small = await world.page(`#/s/${sessionId}`, phone);
    await small.getByText("Found it.").waitFor();
    await picture(small, "conversation-phone");
    await accessible(small);
    expect(problems).toEqual([]);
  });

  test("goes on after a reload in the middle, and when the host was killed", async () => {
    const sessionId = await world.session("And again.");
    const page = await world.page(`#/s/${sessionId}`, desk);
    await page.reload();
    await page.getByText("And again.").last().waitFor();
    await page.getByText("Found it.").first().waitFor(); // else the answer ends with the host
    await world.host.kill();
    await page.getByText("Not connected.").waitFor();
    await picture(page, "conversation-offline");
    await world.host.start(world.port);
    await page.getByText("Not connected.").waitFor({ state: "detached" });
    await page.getByText("Found it.").first().waitFor();
    problems.length = 0; // the browser says that it could not connect
  });

  test("shows a call during which the host was killed, and that nothing is known of it", async () => {
    const sessionId = await world.session("hang, please");
    const page = await world.page(`#/s/${sessionId}`);
    await page.locator(".line.run").getByText("sleep 300").waitFor();
    await world.host.kill();
    await page.getByText("Not connected.").waitFor();
    await world.host.start(world.port);
    const step = page.locator(".step", { hasText: "sleep 300" });
    await step.getByText("no result: it may have taken effect").waitFor();
    await page.getByText("Not connected.").waitFor({ state: "detached" });
    await picture(page, "conversation-killed-call");
    await accessible(page);
    problems.length = 0; // the browser says that it could not connect
  });

  test("says why a turn has no answer, once, also when others have come after it", async () => {
    const sessionId = await world.session("fail, please");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("the key is wrong").first().waitFor();
    expect(await page.getByText("the key is wrong").count()).toBe(1);
    await world.host.request("send_message", { content: [{ type: "text", text: "fail again" }] }, sessionId);
    await page.getByText("the key is wrong").nth(1).waitFor();
    await picture(page, "conversation-failed");
    await accessible(page);
  });

  test("is rewound from the menu of a message", async () => {
    const sessionId = await world.session("One more.");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Found it.").first().waitFor();
    await page.getByRole("button", { name: "What to do with this message" }).first().click();
    await picture(page, "conversation-menu");
    await page.getByRole("menuitem", { name: "Rewind to before this" }).click();
    await page.getByText("Rewound. Files stay as they are.").waitFor();
    await page.getByText("Found it.").waitFor({ state: "detached" });
  });

  test("has menus and dialogs that Back on a phone closes, and nothing else", async () => {
    const sessionId = await world.session("One on the phone.");
    const page = await world.page("#/", phone);
    await page.addInitScript(() => {
      const all: { requestClose(): void }[] = [];
      const { CloseWatcher } = window as unknown as { CloseWatcher: new () => { requestClose(): void } };
      class Noted extends CloseWatcher {
        constructor() {
          super();
          all.push(this);
        }
      }
      Object.assign(window, { CloseWatcher: Noted, back: () => all.at(-1)?.requestClose() });
    });
    await page.reload();
    await page.evaluate((to) => location.assign(`#/s/${to}`), sessionId);
    await page.getByText("Found it.").first().waitFor();
    const back = () => page.evaluate(() => (window as unknown as { back(): void }).back());
    await page.getByRole("button", { name: "What to do with this message" }).first().click();
    const item = page.getByRole("menuitem", { name: "Rewind to before this" });
    await item.waitFor();
    await back();
    await item.waitFor({ state: "detached" });
    await page
      .locator(".head")
      .getByRole("button", { name: /^Actions for/ })
      .click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await back();
    await dialog.waitFor({ state: "detached" });
    expect(new URL(page.url()).hash).toBe(`#/s/${sessionId}`);
    expect(problems).toEqual([]);
  });

  test("is renamed and deleted from its own head", async () => {
    const sessionId = await world.session("To be removed.");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Found it.").first().waitFor();
    const menu = page.locator(".head").getByRole("button", { name: /^Actions for/ });
    await menu.click();
    await page.getByRole("menuitem", { name: "Compact" }).waitFor();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Delete/ })
      .click();
    await page.getByRole("heading", { name: "To be removed." }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "To be removed." }).waitFor({ state: "detached" });
  });
});
