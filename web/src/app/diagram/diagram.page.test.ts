import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, withoutPages } from "../testing/page";
import { Pages } from "../text/testing/pages";
import { diagrams } from "../dev/samples";

if (withoutPages !== "") console.log(withoutPages);

const looks = {
  desk,
  dark: desk,
  contrast: desk,
  phone,
  narrow: { ...phone, viewport: { width: 320, height: 640 } },
  zh: { ...desk, locale: "zh-CN" },
};

describe.skipIf(withoutPages !== "")("diagrams", () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await Pages.start();
  });
  afterAll(async () => pages?.close());

  for (const [look, options] of Object.entries(looks)) {
    test(`are drawn of every kind, and everybody can use them: ${look}`, async () => {
      const page = await pages.page("#text", options);
      if (look === "dark" || look === "contrast") {
        await page.evaluate(
          (look) => Object.assign(document.documentElement.dataset, look === "dark" ? { theme: look } : { contrast: "more" }),
          look,
        );
      }
      await page.goto(`${pages.url}dev.html#text/diagrams`);
      const all = page.locator("figure.diagram");
      await expect.poll(() => all.count()).toBe(Object.keys(diagrams).length);
      for (let i = 0; i < Object.keys(diagrams).length; i++) {
        await all.nth(i).scrollIntoViewIfNeeded();
        await all.nth(i).locator("img, :scope > figcaption:not(:text('being drawn'), :text('正在绘制'))").waitFor();
      }
      await picture(page, `diagrams-${look}`, true);
      await accessible(page, "main");
      expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
      expect(pages.bad).toEqual([]);
    });
  }
});
