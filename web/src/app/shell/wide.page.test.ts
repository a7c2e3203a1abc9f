/** The page on the largest screen of the design, 3840 × 2160. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, picture, problems, withoutPages, World } from "../testing/page";

const wide = { viewport: { width: 3840, height: 2160 } };
const before = "package schedule\n\nfunc Next() int {\n\treturn 24\n}\n";

describe.skipIf(withoutPages !== "")("the page on a screen of 4K", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1 },
        { if: { user: "." }, do: [{ call: "Read", input: { path: "next.go" } }] },
        { if: { result: "package" }, do: [{ call: "Edit", input: { path: "next.go", edits: [{ old_string: "24", new_string: "1" }] } }] },
        { again: true, do: [{ text: "A day is not always 24 hours, so it counts civil days now. ", times: 12 }] },
      ],
      { config: '[permissions]\nallow = ["Read", "Edit"]\n' },
    );
    world.host.write("next.go", before);
  });
  afterAll(async () => world?.close());

  test("has two columns of panes beside a text that is no wider than elsewhere", async () => {
    const sessionId = await world.session("Why does the nightly job skip a day?");
    const page = await world.page(`#/s/${sessionId}`, wide);
    await page.getByText("A day is not always").first().waitFor();
    const boxes = await page.locator(".side .pane").evaluateAll((all) =>
      all.map((p) => {
        const { left, top, width } = p.getBoundingClientRect();
        return { left, top, width };
      }),
    );
    await picture(page, "wide-session");
    const columns = [...new Set(boxes.map((b) => b.left))];
    expect(columns).toHaveLength(2);
    expect(boxes.filter((b) => b.top === boxes[0]?.top)).toHaveLength(2);
    const text = await page.locator(".prose p").first().boundingBox();
    expect(text?.width).toBeLessThanOrEqual(46 * 20 + 1);
    await accessible(page);
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByText("next.go").last().waitFor();
    await picture(page, "wide-changes");
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    for (const place of ["settings", "usage", "new"]) {
      await page.goto(`${world.url}#/${place === "new" ? place : `p/${place}`}`);
      await page.waitForTimeout(700);
      await picture(page, `wide-${place}`);
    }
    expect(problems).toEqual([]);
  });
});
