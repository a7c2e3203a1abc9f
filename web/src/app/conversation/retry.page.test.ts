import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("the conversation while a model is called again, and of calls without output", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1 },
        {
          if: { user: "busy" },
          do: [
            {
              error: {
                status: 529,
                retryAfter: 12,
                message: "too many have come at once, and the model has to turn some of them away for a while",
              },
            },
          ],
        },
        {
          if: { user: "quiet" },
          do: [
            { call: "Bash", input: { command: "true" } },
            { call: "Bash", input: { command: "echo loud" } },
          ],
        },
        { again: true, do: [{ text: "Heard." }] },
      ],
      { config: '[permissions]\nallow = ["Bash"]\n' },
    );
  });
  afterAll(async () => world?.close());

  for (const [name, options] of Object.entries({ desk, phone })) {
    test(`counts down to the next try and moves nothing: ${name}`, async () => {
      const id = await world.session("busy");
      const page = await world.page(`#/s/${id}`, options);
      const row = page.locator(".marker", { hasText: /^Trying again \(\d of \d+\) in\s+\d+ s: / });
      await row.waitFor();
      const left = async () => Number(/in\s+(\d+) s/.exec((await page.locator(".countdown").textContent()) ?? "")?.[1] ?? -1);
      const first = await left();
      expect(first).toBeGreaterThan(9);
      const shape = async () => JSON.stringify([await page.locator(".countdown").boundingBox(), await row.boundingBox()]);
      const before = await shape();
      await picture(page, `retry-${name}`);
      await accessible(page);
      await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await picture(page, `retry-${name}-dark`);
      await accessible(page);
      await expect.poll(left).toBeLessThan(9);
      expect(await left()).toBeGreaterThan(0);
      expect(await shape()).toBe(before);
      await page.getByText("Heard.").waitFor();
      await page.locator(".countdown").waitFor({ state: "detached" });
      expect(problems).toEqual([]);
    });
  }

  test("says that a call has brought no output", async () => {
    const id = await world.session("quiet");
    const page = await world.page(`#/s/${id}`);
    await page.getByText("Heard.").waitFor();
    const step = page.locator(".step", { has: page.locator(".arg", { hasText: /^true$/ }) });
    await step.locator(".line").getByText("no output", { exact: true }).waitFor();
    await step.locator(".line").click();
    await step.locator(".unfolded").getByText("no output", { exact: true }).waitFor();
    expect(await page.locator(".step", { hasText: "echo loud" }).getByText("1 line", { exact: true }).count()).toBe(1);
    const box = page.locator("#composer");
    await box.fill("!true");
    await box.press("Enter");
    await expect.poll(() => page.locator(".line").getByText("no output", { exact: true }).count()).toBe(2);
    await picture(page, "nooutput");
    await accessible(page);
    const small = await world.page(`#/s/${id}`, phone);
    await small.locator(".line").getByText("no output", { exact: true }).first().waitFor();
    await picture(small, "nooutput-phone");
    expect(problems).toEqual([]);
  });
});
