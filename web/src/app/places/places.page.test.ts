import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("places", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([
      { script: 1 },
      { if: { user: "edit" }, do: [{ call: "Bash", input: { command: "touch made", description: "Make a file" } }] },
      { if: { user: "wait" }, do: [{ hang: true }] },
      { again: true, do: [{ text: "It counts days in hours." }] },
    ]);
    for (const name of ["atlas-web/.git", "atlas-web/src", "cadence", ".hidden"])
      mkdirSync(join(world.host.home, name), { recursive: true });
    writeFileSync(join(world.host.home, "atlas-web/.git/HEAD"), "ref: refs/heads/feat/map\n");
  });
  afterAll(async () => world?.close());

  test("a folder is picked by keyboard, and a first message begins the session", async () => {
    const page = await world.page("#/new");
    await page.getByRole("button", { name: "Choose a folder" }).first().click();
    const path = page.getByRole("combobox", { name: "Path" });
    await page.getByRole("option", { name: /atlas-web/ }).waitFor();
    await picture(page, "folder-picker");
    await accessible(page);
    await path.pressSequentially("atl");
    await page.keyboard.press("Tab"); // completes
    await page.getByRole("option", { name: "src" }).waitFor();
    await picture(page, "folder-inside");
    await page.keyboard.press("Enter");
    await page.getByText("on feat/map").waitFor();
    await page.getByLabel("Name, if you like").fill("Tiles");
    await page.getByLabel("What is to be done").fill("Why does the job skip a day?");
    await picture(page, "new-desk");
    await accessible(page);
    await page.keyboard.press("Enter");
    await page.getByText("It counts days in hours.").first().waitFor();
    await page.getByRole("link", { name: "Tiles" }).waitFor();
    expect(await page.getByRole("link", { name: "Tiles" }).getAttribute("aria-current")).toBe("page");
    await picture(page, "rail-desk");
    await accessible(page);
    expect(problems).toEqual([]);
  });
});
void desk;
void phone;
