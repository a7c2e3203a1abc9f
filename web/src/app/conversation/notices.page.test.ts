import { appendFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("what is told beside the conversation", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Hello." }] }]);
  });
  afterAll(async () => world?.close());

  test("a log that is damaged is told on the page that opens it, and can be read again", async () => {
    const sessionId = await world.session("hello");
    await expect.poll(() => world.host.stored(sessionId)).toContain("Hello.");
    const { port } = world;
    await world.host.kill("SIGTERM");
    appendFileSync(world.host.log(sessionId), '{"type":"message","id":"evt_damaged","message":{"role":"user"\n{"type":"label","id":"evt_');
    await world.host.start(port);
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Hello.").waitFor();
    await page
      .locator(".told")
      .getByText(/damaged/)
      .first()
      .waitFor();
    await picture(page, "notices-damage");
    const pane = page.getByRole("region", { name: "Notices" });
    await pane
      .getByText(/damaged/)
      .first()
      .waitFor();
    await page
      .locator(".told")
      .getByRole("button", { name: /Close|Dismiss/ })
      .first()
      .click();
    expect(await pane.getByText(/damaged/).count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });

  test("a session into which nothing can be written says why, as long as it is shown", async () => {
    const sessionId = await world.session("hello");
    await expect.poll(() => world.host.stored(sessionId)).toContain("Hello.");
    const { port } = world;
    await world.host.kill("SIGTERM");
    writeFileSync(world.host.log(sessionId), world.host.stored(sessionId).replace(/"version":\d+/, '"version":99'));
    await world.host.start(port);
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Hello.").waitFor();
    await page
      .getByRole("alert")
      .getByText(/^The session is read-only: .*version 99/)
      .waitFor();
    await picture(page, "notices-read-only");
    expect(problems).toEqual([]);
  });
});
