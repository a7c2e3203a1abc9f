import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

if (withoutPages !== "") console.log(withoutPages);

describe.skipIf(withoutPages !== "")("the page", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "It counts days in hours." }] }]);
  });
  afterAll(async () => world?.close());

  for (const [name, options] of Object.entries({ desk, phone })) {
    test(`begins a session and shows the answer, on the ${name}`, async () => {
      const page = await world.page("#/new", options);
      await page.getByLabel("Folder").fill(world.host.work);
      await page.getByRole("button", { name: "Begin" }).click();
      await page.getByRole("textbox", { name: "Message" }).fill("Why does the job skip a day?");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("It counts days in hours.").first().waitFor();
      await page.getByRole("heading", { level: 1, name: "Why does the job skip a day?" }).waitFor(); // it was begun without a message
      await picture(page, `chat-${name}`);
      await accessible(page);
      expect(problems).toEqual([]);
    });
  }
});
