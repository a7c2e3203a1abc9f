import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("the panels of the device", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Done." }] }]);
  });
  afterAll(async () => world?.close());

  test("show who may come in, and send somebody away", async () => {
    const other = await world.page("#/");
    const page = await world.page("#/p/clients");
    await page.getByText("(this browser)").waitFor();
    await picture(page, "panel-clients");
    await accessible(page);
    await page.getByRole("button", { name: "Send away" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Send away" }).click();
    await other.getByText("This browser is not known here yet.").waitFor();
    await page.getByRole("button", { name: "Send away" }).waitFor({ state: "detached" });
  });

  test("show schedules with their runs, which are paused, run and deleted", async () => {
    await world.host.request("create_schedule", {
      when: "every 1h",
      prompt: "Look at the build",
      target: "fresh",
      workDir: world.host.work,
    });
    const page = await world.page("#/p/schedules");
    await page.getByText("Look at the build").waitFor();
    await picture(page, "panel-schedules");
    await accessible(page);
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("link", { name: "Open" }).first().waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Go on" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("There are no schedules.").waitFor();
  });

  test("change the looks and the language of this browser, on a phone", async () => {
    const page = await world.page("#/p/settings", phone);
    await page.getByLabel("Theme").selectOption("dark");
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await page.getByLabel("Language").selectOption("zh");
    await page.getByRole("heading", { name: "设置" }).waitFor();
    await picture(page, "panel-settings-phone-dark-zh");
    await accessible(page);
    await page.reload();
    await page.getByRole("heading", { name: "设置" }).waitFor();
    expect(problems).toEqual([]);
  });
});
