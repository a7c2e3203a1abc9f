import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, withoutPages } from "../testing/page";
import { hostile } from "./testing/hostile";
import { Pages } from "./testing/pages";

if (withoutPages !== "") console.log(withoutPages);

const narrow = { ...phone, viewport: { width: 320, height: 640 } };
const looks = {
  desk,
  dark: desk,
  contrast: desk,
  phone,
  narrow,
  zh: { ...desk, locale: "zh-CN" },
};
const states = ["markdown", "streaming", "formulas", "code", "diff", "terminal", "picture"];

describe.skipIf(withoutPages !== "")("the text of the page", () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await Pages.start();
  });
  afterAll(async () => pages?.close());

  for (const [look, options] of Object.entries(looks)) {
    test(`is drawn in every state, and everybody can use it: ${look}`, async () => {
      const page = await pages.page("#text", options);
      if (look === "dark" || look === "contrast") {
        await page.evaluate(
          (look) => Object.assign(document.documentElement.dataset, look === "dark" ? { theme: look } : { contrast: "more" }),
          look,
        );
      }
      for (const state of states) {
        await page.goto(`${pages.url}dev.html#text/${state}`);
        const section = page.getByRole("region", { name: `text/${state}`, exact: true });
        await section.waitFor();
        if (state === "formulas") await page.locator("math").first().waitFor();
        if (state === "code" || state === "markdown") await page.locator(".hl-k").first().waitFor();
        if (state === "picture") await page.locator("button.picture").waitFor();
        if (process.env.SCREENSHOTS) await page.waitForTimeout(300); // colours come when the browser has time; the picture is to have them
        await picture(page, `text-${state}-${look}`, true);
        await accessible(page, "main", { colours: look !== "narrow" && look !== "zh" }); // they are as on a phone and the desk
        expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${state} is wider than the page`).toBe(false);
      }
      expect(pages.bad).toEqual([]);
    });
  }

  test("is read in the direction of its letters, paragraph by paragraph", async () => {
    const page = await pages.page("#text/markdown");
    const gap = (text: string) =>
      page.getByText(text).evaluate((el) => {
        const range = document.createRange();
        range.selectNodeContents(el);
        const [words, box] = [range.getBoundingClientRect(), el.getBoundingClientRect()];
        return { left: Math.round(words.left - box.left), right: Math.round(box.right - words.right) };
      });
    expect((await gap("The check compares dates")).left).toBe(0);
    const arabic = await gap("تُضاف الآن أيام");
    expect(arabic.right).toBe(0);
    expect(arabic.left).toBeGreaterThan(0);
  });

  test("copies code as it is seen, and enlarges an image", async () => {
    const page = await pages.page("#text/code");
    await page.locator(".code").first().getByRole("button", { name: "Copy" }).click();
    await page.locator(".code").first().getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("export const greet");
    await page.goto(`${pages.url}dev.html#text/picture`);
    await page.getByRole("button", { name: "Enlarge: Runs of each month" }).click();
    await page.getByRole("dialog", { name: "Runs of each month" }).waitFor();
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    await picture(page, "text-zoom");
    await accessible(page, "[role=dialog]");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const address = await page.locator("button.picture img").getAttribute("src");
    await page.goto(`${pages.url}dev.html#text/diff`);
    await page.locator("button.picture").waitFor({ state: "detached" });
    const alive = await page.evaluate(
      (a) => new Promise((done) => Object.assign(new Image(), { onload: () => done(true), onerror: () => done(false), src: a })),
      address ?? "",
    );
    expect(alive, "the address of an image that is no longer shown").toBe(false);
    await page
      .getByRole("button", { name: /unchanged lines/ })
      .first()
      .click();
    expect(await page.getByText("line 65 of the file").count()).toBeGreaterThan(0);
    pages.bad.splice(0, pages.bad.length, ...pages.bad.filter((b) => !b.includes("ERR_FILE_NOT_FOUND"))); // the address above
    expect(pages.bad).toEqual([]);
  });

  test("runs nothing, asks for nothing and stays answerable, whatever it says", async () => {
    expect(hostile.length).toBeGreaterThanOrEqual(300);
    const page = await pages.page("#hostile/none");
    const slow: string[] = [];
    for (let i = 0; i < hostile.length; i++) {
      const ms = await page.evaluate(async (i) => {
        const begin = performance.now();
        location.hash = `#hostile/${i}`;
        while (!document.querySelector(`[data-sample="${i}"]`) && performance.now() - begin < 30_000)
          await new Promise((r) => setTimeout(r, 0));
        await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
        return performance.now() - begin;
      }, i);
      if (ms > 2000) slow.push(`${hostile[i]?.name}: ${Math.round(ms)} ms`);
      const bad = await page.evaluate(() => {
        const found: string[] = [];
        if ("hacked" in window) found.push("a script ran");
        const shown = document.querySelector("main");
        if (!shown) found.push("nothing is shown");
        for (const el of shown?.querySelectorAll(
          "script, iframe, object, embed, link, style, base, form, img, video, audio, input, [style*=url], [onerror], [onload]",
        ) ?? [])
          found.push(el.outerHTML.slice(0, 200));
        for (const a of shown?.querySelectorAll("a") ?? []) {
          if (!/^(https?|mailto):/.test(a.href) || a.rel !== "noopener noreferrer" || a.target !== "_blank")
            found.push(a.outerHTML.slice(0, 200));
        }
        if (/[\u202a-\u202e\u2066-\u2069\u200b\ufeff]/.test(shown?.textContent ?? "")) found.push("characters that hide");
        return found;
      });
      expect(bad, `${i}: ${hostile[i]?.name}: ${hostile[i]?.text.slice(0, 100)}`).toEqual([]);
      expect(pages.bad, `${i}: ${hostile[i]?.name}: ${hostile[i]?.text.slice(0, 100)}`).toEqual([]);
    }
    console.log(slow.length > 0 ? `took more than two seconds: ${slow.join(", ")}` : "none took two seconds");
  }, 600_000);
});
