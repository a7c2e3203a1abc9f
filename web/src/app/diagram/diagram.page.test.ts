import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, withoutPages } from "../testing/page";
import { Pages } from "../text/testing/pages";
import { diagrams } from "../dev/samples";
import { hostileDiagrams, slowDiagrams } from "./testing/hostile";

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
    pages = await Pages.start("whole"); // which keeps a frame without rights in a process of its own
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
      await accessible(page, "main", { colours: look !== "narrow" && look !== "zh" }); // they are as on a phone and the desk
      expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
      expect(pages.bad).toEqual([]);
    });
  }

  test("run nothing, ask for nothing and end, whatever their text says", async () => {
    const page = await pages.page("#diagram/0");
    const count = hostileDiagrams.length + slowDiagrams.length;
    pages.bad.length = 0;
    const refused = () => pages.bad.filter((b) => !/Content Security Policy|sandboxed/.test(b)); // the frame's policy refused it
    let drawn = 0;
    for (let i = 0; i < count; i++) {
      await page.evaluate((i) => {
        location.hash = `#diagram/${i}`;
      }, i);
      const sample = page.locator(`[data-sample="${i}"] figure.diagram`);
      await sample.locator("img, :scope > figcaption:not(:text('being drawn'))").waitFor();
      const about = `${i}: ${(hostileDiagrams[i] ?? slowDiagrams[i - hostileDiagrams.length])?.slice(0, 150)}`;
      const found = await page.evaluate(() => {
        const bad: string[] = [];
        if ("hacked" in window || "hacked" in {}) bad.push("a script ran");
        const frames = [...document.querySelectorAll("iframe")];
        if (frames.length > 1) bad.push(`${frames.length} frames`);
        for (const f of frames) if (f.getAttribute("sandbox") !== "allow-scripts" || f.contentDocument) bad.push("a frame with rights");
        for (const el of document.querySelectorAll("main :is(script, iframe, object, embed, style, foreignObject, form, input)")) {
          bad.push(el.outerHTML.slice(0, 200));
        }
        for (const el of document.querySelectorAll<HTMLImageElement>("main img")) {
          if (!el.src.startsWith("data:image/svg+xml;")) bad.push(el.src.slice(0, 100));
          if (/<script|javascript:/i.test(decodeURIComponent(el.src).replace(/<text.*?<\/text>/gs, "")))
            bad.push(`a picture with a script: ${decodeURIComponent(el.src).slice(0, 3000)}`);
        }
        return bad;
      });
      expect(found, about).toEqual([]);
      expect(refused(), about).toEqual([]);
      if ((await sample.locator("img").count()) > 0) drawn++;
    }
    console.log(`${drawn} of ${count} hostile diagrams were drawn`);
    expect(drawn).toBeGreaterThan(20);
    pages.bad.length = 0;
  });

  test("that have no end are stopped, while the page goes on, and the next one is drawn", async () => {
    const endless = hostileDiagrams.length + slowDiagrams.findIndex((t) => t.startsWith("mindmap"));
    const page = await pages.page(`#diagram/${endless}`);
    const frames = page.evaluate(
      () =>
        new Promise<number>((done) => {
          const gaps: number[] = [];
          let last = performance.now();
          const step = (now: number) => {
            gaps.push(now - last);
            last = now;
            if (document.querySelector("figure.diagram > figcaption:not(:empty)")?.textContent?.includes("seconds"))
              done(Math.max(...gaps));
            else requestAnimationFrame(step);
          };
          requestAnimationFrame(step);
        }),
    );
    await page.getByText("This diagram was not drawn within 5 seconds").waitFor();
    console.log(`the longest gap between frames of the page was ${Math.round(await frames)} ms`);
    expect(await frames).toBeLessThan(2000);
    expect(await page.locator("iframe").count()).toBe(0);
    await picture(page, "diagram-stopped");
    await page.goto(`${pages.url}dev.html#text/diagrams`);
    await page.locator("figure.diagram img").first().waitFor();
    expect(pages.bad).toEqual([]);
  });

  test("can be read as text, copied and enlarged, and follow the theme", async () => {
    const page = await pages.page("#text/diagrams");
    const first = page.locator("figure.diagram").first();
    const image = first.getByRole("img", { name: "Flowchart: How a run is started. Show it as text to read it." });
    await image.waitFor();
    const light = await image.getAttribute("src");
    await first.getByRole("button", { name: "Show as text" }).click();
    await first.getByText("Is the host").waitFor();
    expect(await first.getByRole("img", { name: /Flowchart/ }).count()).toBe(0);
    await first.getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("flowchart TD");
    await first.getByRole("button", { name: "Show as diagram" }).click();
    await first.getByRole("button", { name: "Enlarge" }).click();
    await page.getByRole("dialog", { name: "Flowchart: How a run is started" }).waitFor();
    await picture(page, "diagram-enlarged");
    await accessible(page, "[role=dialog]");
    await page.keyboard.press("Escape");
    await page.evaluate(() => {
      document.documentElement.dataset.theme = "dark";
    });
    await expect.poll(() => image.getAttribute("src")).not.toBe(light);
    await page.emulateMedia({ media: "print" });
    expect(await image.evaluate((el) => getComputedStyle(el).filter)).toContain("invert");
    await picture(page, "diagram-print", true);
    expect(pages.bad).toEqual([]);
  });
});
