import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { EntryList, ScheduleList } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const narrow = { ...phone, viewport: { width: 320, height: 640 } };
const looks = { desk, dark: { ...desk, colorScheme: "dark" as const }, phone, narrow, chinese: { ...phone, locale: "zh-CN" } };

/** Nothing may be wider than the page: what is, scrolls by itself. */
async function fits(page: Page): Promise<void> {
  const over = await page.evaluate(() => {
    const el = document.querySelector(".page");
    return el ? el.scrollWidth - el.clientWidth : -1;
  });
  expect(over).toBe(0);
}

describe.skipIf(withoutPages !== "")("the pages of the device", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([
      { script: 1 },
      { again: true, do: [{ text: "Done." }], usage: { inputTokens: 9_000, outputTokens: 340, cacheReadTokens: 3_000 } },
    ]);
    mkdirSync(join(world.host.home, ".scorel", "templates"), { recursive: true });
    writeFileSync(
      join(world.host.home, ".scorel", "templates", "review.md"),
      "---\ndescription: Reads a change, and says what is wrong with it\n---\nReview $ARGUMENTS\n",
    );
    await world.host.request("register_project", { workDir: world.host.work });
    await world.session("Why does the nightly job skip a day?");
  });
  afterAll(async () => world?.close());
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });

  const sections = ["models", "permissions", "projects", "config", "looks"].map((s) => `settings/${s}`);
  test.each(Object.entries(looks))("fit and can be used by everybody: %s", async (name, options) => {
    const page = await world.page("#/", options);
    for (const at of [...sections, "clients", "schedules", "jobs", "usage", "doctor", "host"]) {
      await page.goto(`${world.url}#/p/${at}`);
      await page.locator(".page :is(.lead, .settings)").first().waitFor();
      await page
        .locator("p", { hasText: /^(Asking the host|正在询问主机)$/ })
        .first()
        .waitFor({ state: "detached" });
      await page.waitForLoadState("networkidle");
      await picture(page, `device-${at.replace("/", "-")}-${name}`);
      await fits(page);
      await accessible(page);
    }
  });

  test("say what may not be changed to somebody who may only look, from the moment the grant is lowered", async () => {
    const page = await world.page("#/p/clients");
    await page.getByText("(this browser)").waitFor();
    const { entries } = await world.host.request<EntryList>("list_entries", {});
    const { clientId } = entries?.find((e) => e.online) ?? {};
    await world.host.request("set_grant", { clientId, grant: "view" });
    await page.getByText("What is on this page is shown only").waitFor();
    await page.goto(`${world.url}#/p/schedules`);
    await page.getByText("This browser may look here.").waitFor();
    expect(await page.getByRole("button", { name: "New schedule" }).count()).toBe(0);
    await picture(page, "device-view-only");
    await accessible(page);
  });

  test("rename somebody, raise a grant, and send a browser away, by the keyboard", async () => {
    const other = await world.page("#/");
    const page = await world.page("#/p/clients");
    await page.getByRole("listitem").filter({ hasText: "here now" }).filter({ hasNotText: "this browser" }).first().waitFor();
    const row = page.getByRole("listitem").filter({ hasText: "here now" }).filter({ hasNotText: "this browser" }).first();
    await row.getByRole("button", { name: /^Rename/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Name", { exact: true }).fill("the kitchen");
    await page.keyboard.press("Enter");
    await page.getByText("the kitchen", { exact: true }).waitFor();
    await page.getByLabel("What the kitchen may do").selectOption("answer");
    await page.getByRole("button", { name: "Take off the list: the kitchen" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Take off the list" }).click();
    await other.getByText("This browser is not known here yet.").waitFor();
    await page.getByText("the kitchen", { exact: true }).waitFor({ state: "detached" });
    problems.length = 0; // the page that was sent away says so in its console
  });

  test("let a browser of this machine in with a code that counts no longer once the dialog is closed", async () => {
    const page = await world.page("#/p/clients");
    await page.getByRole("button", { name: "Let a browser of this machine in" }).click();
    await page.getByRole("button", { name: "Make a code" }).click();
    const address = (await page.getByRole("dialog").locator("code").first().textContent()) ?? "";
    expect(address).toMatch(/^http:\/\/.*#pair=/);
    await accessible(page);
    const guest = await world.stranger(address);
    await guest.locator(".app").waitFor();
    await page.getByRole("dialog").getByText("has come.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    expect(await page.content()).not.toContain("#pair=");
  });

  test("let a phone in with a QR code, once it is confirmed with its browser and address", async () => {
    const page = await world.page("#/p/clients");
    await page.getByRole("button", { name: "Let a phone in" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Make a code" }).click();
    const code = dialog.getByRole("img", { name: "QR code of the address" });
    const alone = dialog.getByText("This machine has no address in a network");
    await code.or(alone).waitFor();
    if (await alone.isVisible()) return; // without a network there is nowhere to come from
    await dialog.getByText("Fingerprint of the certificate").waitFor();
    expect(await dialog.locator("code").nth(1).textContent()).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/); // as browsers show it
    await picture(page, "device-invite");
    await accessible(page);
    const address = (await dialog.locator("code").first().textContent()) ?? "";
    const guest = await world.stranger(address, { ...phone, ignoreHTTPSErrors: true });
    await dialog.getByText("has come.").waitFor();
    await picture(page, "device-invite-came");
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("region", { name: "Wait to be let in" }).waitFor();
    await picture(page, "device-clients-waiting");
    await accessible(page);
    await page.getByRole("button", { name: /^Let in: / }).click();
    await guest.locator(".app").waitFor();
    await page.getByRole("region", { name: "Wait to be let in" }).waitFor({ state: "detached" });
  });

  test("make a schedule with the next three times in view, run it, pause it and delete it", async () => {
    const page = await world.page("#/p/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("When", { exact: true }).fill("0 0 30 2 *");
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByRole("button", { name: "Make the schedule" }).isDisabled()).toBe(true);
    await dialog.getByLabel("When", { exact: true }).fill("0 9 * * 1-5");
    await dialog.getByText("It would be due").waitFor();
    expect(await dialog.getByRole("listitem").count()).toBe(3);
    await dialog.getByLabel("What is sent").fill("Look at the build");
    await picture(page, "device-schedule-form");
    await accessible(page);
    await dialog.getByRole("button", { name: "Make the schedule" }).click();
    await page.getByText("Look at the build").first().waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page
      .getByRole("link", { name: /^Open: / })
      .first()
      .waitFor();
    await page.getByText("completed").first().waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Go on" }).waitFor();
    await page.getByRole("button", { name: "More: Look at the build" }).click();
    await page.getByText("a new session each time").waitFor();
    await picture(page, "device-schedules-details");
    await accessible(page);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("There are no schedules.").waitFor();
    expect((await world.host.request<ScheduleList>("list_schedules", {})).schedules ?? []).toEqual([]);
  });

  test("start a job from a template, which leads to its session", async () => {
    const page = await world.page("#/p/jobs");
    await page.getByRole("button", { name: "Start: review" }).click();
    await page.getByLabel("What the template is given").fill("the last commit");
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    await page.waitForURL(/#\/s\//);
    await page.goto(`${world.url}#/p/jobs`);
    await page.getByRole("cell", { name: "review", exact: true }).waitFor();
    await picture(page, "device-jobs-one");
    await accessible(page);
  });

  test("count what sessions have used, with the numbers behind each chart", async () => {
    const page = await world.page("#/p/usage");
    await page.getByText("By session").waitFor();
    await page.getByLabel("Show", { exact: true }).selectOption("tokens");
    for (const summary of await page.getByText("Show numbers").all()) await summary.click();
    await page
      .getByRole("link", { name: /nightly job/ })
      .first()
      .waitFor();
    await picture(page, "device-usage-numbers");
    await accessible(page);
  });

  test("change a key of the configuration, and say why a value is refused where it was typed", async () => {
    const page = await world.page("#/p/settings/config");
    await page.getByLabel("Find a key").fill("maxSteps");
    await page.getByRole("button", { name: "Change: limits.maxSteps" }).click();
    await page.getByLabel("Value").fill("many");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.getByLabel("Value").fill("50");
    await page.keyboard.press("Enter");
    await page.getByRole("listitem").filter({ hasText: "limits.maxSteps" }).getByText("50", { exact: true }).waitFor();
    await accessible(page);
  });

  test("keep a key that is entered nowhere in the page", async () => {
    const page = await world.page("#/p/settings/models");
    await page.getByRole("button", { name: "Add a key" }).click();
    await page.getByLabel("API key").fill("sk-never-shown");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(await page.content()).not.toContain("sk-never-shown");
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("sk-never-shown");
  });

  test("change the looks and the language of this browser, on a phone, where the list of sections comes first", async () => {
    const page = await world.page("#/p/settings", phone);
    await page.getByRole("link", { name: "Looks" }).click();
    await page.getByLabel("Theme").selectOption("dark");
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await page.getByLabel("Language").selectOption("zh");
    await page.getByRole("heading", { name: "外观" }).waitFor();
    await picture(page, "device-looks-phone-dark-zh");
    await accessible(page);
    await page.getByRole("button", { name: "返回" }).click();
    await page.getByRole("link", { name: "模型与密钥" }).waitFor();
    await picture(page, "device-settings-phone-list");
  });
});

describe.skipIf(withoutPages !== "")("settings of a host that has some", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Done." }] }], {
      config: `[permissions]\nallow = ["Bash(make test)"]\ndeny = ["Bash(git push:*)"]\n[models.own]\ntype = "custom"\napi = "openai-completions"\nid = "m"\nbaseUrl = "http://127.0.0.1:9/v1"\n`,
    });
    mkdirSync(join(world.host.work, ".claude"));
    writeFileSync(
      join(world.host.work, ".claude", "settings.json"),
      JSON.stringify({ permissions: { allow: ["Bash(npm test)", "WebFetch(domain:go.dev)", "Nonsense(("] } }),
    );
    await world.host.request("register_project", { workDir: world.host.work });
  });
  afterAll(async () => world?.close());
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });

  test("show rules with where each is written, and take over those of another program that a person picks", async () => {
    const page = await world.page("#/p/settings/permissions");
    const rule = page.getByRole("row").filter({ hasText: "Bash(git push:*)" });
    await rule.getByText("denies").waitFor();
    await rule.getByText(/config\.toml:\d+$/).waitFor();
    await page.getByLabel("The configuration of").selectOption(world.host.work);
    await page.getByRole("checkbox", { name: /npm test/ }).check();
    await page.getByRole("button", { name: "Allow 1 rule for good" }).click();
    await page.getByRole("row").filter({ hasText: "Bash(npm test)" }).waitFor();
    await page.getByText("allowed already").waitFor();
    await picture(page, "device-permissions-rules");
    await accessible(page);
  });

  test("try a provider, and say why it does not answer where it was tried; take another key for it", async () => {
    const page = await world.page("#/p/settings/models");
    await page.getByRole("button", { name: "Replace key: own" }).click();
    await page.getByLabel("New key").fill("sk-never-shown");
    await page.getByRole("dialog").getByRole("button", { name: "Save and test" }).click();
    await page.locator(".state.err").waitFor();
    expect(await page.content()).not.toContain("sk-never-shown");
    await page.getByRole("button", { name: "What to do with own" }).press("Enter");
    await page.getByRole("menuitem", { name: "Use for side requests" }).press("Enter");
    await page.getByRole("cell", { name: "side requests" }).waitFor();
    await picture(page, "device-models-own");
    await accessible(page);
  });

  test("trust a project, and take it off the list", async () => {
    const page = await world.page("#/p/settings/projects");
    await page.getByRole("button", { name: "Trust: work" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Take off the list: work" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Take off the list" }).click();
    await page.getByText("No project is known yet.").waitFor();
    await accessible(page);
  });
});

describe.skipIf(withoutPages !== "")("the page of the host", () => {
  test("ends the host after a question", async () => {
    const world = await World.start([{ script: 1 }]);
    try {
      const page = await world.page("#/p/host");
      await page.getByRole("button", { name: "Stop the host" }).click();
      await picture(page, "device-host-stop");
      await accessible(page);
      await page.getByRole("dialog").getByRole("button", { name: "Stop the host" }).click();
      await page.getByText("The host was told to end.").waitFor();
      await page.getByText("Not connected.").waitFor();
    } finally {
      await world.close();
      problems.length = 0; // the connection that ends
    }
  });
});
