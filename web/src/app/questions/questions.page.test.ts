import type { Page } from "playwright-core";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EntryList } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const script = [
  { script: 1 },
  { if: { user: "write" }, do: [{ call: "Write", input: { path: "due.go", content: "package due\n\nconst days = 25\n" } }] },
  { if: { user: "run" }, do: [{ call: "Bash", input: { command: "echo ran > ran.txt" } }] },
  {
    if: { user: "ask" },
    do: [
      {
        call: "AskUser",
        input: {
          questions: [
            {
              question: "Which changes are breaking?",
              header: "Release",
              options: [
                { label: "The API", description: "its names" },
                { label: "None", description: "all goes on" },
              ],
              multiple: false,
            },
          ],
        },
      },
    ],
  },
  { if: { user: "^late" }, again: true, do: [{ wait: 1000 }, { call: "Bash", input: { command: "touch late.txt" } }] },
  {
    if: { user: "^hidden" },
    do: [
      {
        call: "Bash",
        input: { command: `echo ok # nothing to see here\ntouch proof.txt\nls ${"a".repeat(3000)};echo \u202ethe-end\u001b[31m\u0008` },
      },
    ],
  },
  {
    if: { user: "^endless" },
    do: [{ call: "Bash", input: { command: `echo ${"a".repeat(5000)}\u200d; rm -rf evil; echo ${"b".repeat(5000)}` } }],
  },
  {
    if: { user: "^long" },
    do: [{ text: "A line of an answer.\n\n", times: 60 }, { text: "Then I would run it." }, { call: "Bash", input: { command: "true" } }],
  },
  { if: { user: "^plan" }, do: [{ call: "EnterPlanMode", input: { reason: "it is large \u202eegral" } }] },
  { if: { user: "^schedule" }, do: [{ call: "ScheduleCreate", input: { when: "every 5m", prompt: "look" } }] },
  { again: true, do: [{ text: "So it is." }] },
];

/** Expects the message box not to be covered, in its middle and at its ends. */
async function free(page: Page): Promise<void> {
  const covered = await page.locator("#composer").evaluate((el) => {
    const r = el.getBoundingClientRect();
    return [r.left + 2, r.left + r.width / 2, r.right - 2].filter((x) => document.elementFromPoint(x, r.top + r.height / 2) !== el);
  });
  expect(covered).toEqual([]);
}

describe.skipIf(withoutPages !== "")("a question", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(script);
  });
  afterAll(async () => world?.close());

  test("is asked on every page, and closes on all when one has answered", async () => {
    const sessionId = await world.session("write it");
    const large = await world.page(`#/s/${sessionId}`);
    const small = await world.page(`#/s/${sessionId}`, phone);
    await large.getByRole("heading", { name: /Edit due.go/ }).waitFor();
    await small.getByRole("heading", { name: /Edit due.go/ }).waitFor();
    await large.getByText("const days = 25").first().waitFor();
    await picture(large, "question-desk");
    await picture(small, "question-phone");
    await accessible(large);
    await accessible(small);
    await small.waitForTimeout(500); // who types while a sheet comes up does not mean it
    await small.getByRole("button", { name: /Allow once/ }).click();
    await large.getByText("So it is.").waitFor();
    await small.getByText("So it is.").waitFor();
    expect(await large.locator(".sheet").count()).toBe(0);
    const told = large.getByText("Chrome on Linux has allowed: Write due.go");
    await told.waitFor();
    expect(await small.getByText("has allowed").count()).toBe(0);
    for (const page of [large, small]) await page.locator("#composer").waitFor();
    await free(large); // what is told covers nothing that is written or pressed below
    await picture(large, "question-answered-elsewhere");
    expect(problems).toEqual([]);
  });

  test("says that an answer has not arrived while the host takes long", async () => {
    const sessionId = await world.session("run it");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByRole("heading", { name: /Run/ }).waitFor();
    await page.waitForTimeout(500);
    world.host.hold(true);
    try {
      await page.getByRole("button", { name: /Allow once/ }).click();
      await page.getByText("Your answer has not arrived yet.").waitFor();
      expect(await page.locator(".banner.off").count()).toBe(0); // the page does not know that the line is dead
    } finally {
      world.host.hold(false);
    }
    await page.getByText("So it is.").waitFor();
    expect(await page.getByText("has not arrived yet").count()).toBe(0);
  });

  test("is denied with a reason, by the keyboard alone", async () => {
    const sessionId = await world.session("run it");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByRole("heading", { name: /Run/ }).waitFor();
    expect(await page.locator(".sheet .why code").textContent()).toBe("echo ran");
    expect(await page.locator(".sheet .why").textContent()).not.toContain("`");
    await page.waitForTimeout(500);
    const choices = await page.locator(".choice").count();
    await page.keyboard.press(String(choices));
    await page.keyboard.type("use the vendored docs");
    await page.keyboard.press("Enter");
    await page.getByText("denied: “use the vendored docs”").waitFor();
    await picture(page, "question-denied");
  });

  test("takes no key of somebody who types: the rest of the word goes where its beginning went", async () => {
    const said = "ports 8081 8180 1010 1111 2222 3333 4444 1212 ";
    // On a busy machine the keys may come as from somebody who pauses; then it is typed again.
    for (let tries = 1; ; tries++) {
      const sessionId = await world.session("first");
      const page = await world.page(`#/s/${sessionId}`);
      await page.getByText("So it is.").waitFor();
      await page.evaluate(watchKeys);
      const box = page.getByRole("textbox", { name: "Message" });
      await box.click();
      await world.host.request("send_message", { content: [{ type: "text", text: "late" }] }, sessionId);
      await page.keyboard.type(said, { delay: 60 }); // the question comes meanwhile
      await page.keyboard.type("no1w1"); // who does not look at the page goes on
      const paused = await page.evaluate(() => (window as unknown as { pause: number }).pause);
      if (paused > 400 && tries < 10) {
        await page.context().close();
        continue;
      }
      await page.getByRole("heading", { name: /Run/ }).waitFor();
      expect(new URL(page.url()).hash).toContain(sessionId);
      await page.waitForTimeout(600);
      await page.keyboard.press("Escape");
      await page.getByText("So it is.").nth(1).waitFor();
      expect(await box.inputValue()).toBe(`${said}no1w1`);
      expect(await box.evaluate((el) => el === document.activeElement)).toBe(true);
      expect(existsSync(join(world.host.work, "late.txt"))).toBe(false);
      return;
    }
  });

  test("answers to no digit in a word, and to no letter, once it is shown", async () => {
    const sessionId = await world.session("late");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByRole("heading", { name: /Run/ }).waitFor();
    await page.waitForTimeout(600);
    // As keys that come at once: what a letter begins is a word.
    await page.locator(".sheet").evaluate((sheet) => {
      for (const key of ["n", "o", "1", "t", "1", "w", "3"]) sheet.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    });
    await page.getByRole("heading", { name: /Run/ }).waitFor();
    expect(new URL(page.url()).hash).toContain(sessionId);
    await page.waitForTimeout(600);
    await page.keyboard.press("Escape");
    await page.getByText("So it is.").first().waitFor();
    expect(existsSync(join(world.host.work, "late.txt"))).toBe(false);
  });

  test("shows all that would run: lines as lines, to the last character, and what is not seen", async () => {
    const sessionId = await world.session("hidden");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByRole("heading", { name: /Run/ }).waitFor();
    const shown = ((await page.locator(".sheet .exact").textContent()) ?? "").split("\n");
    expect(shown.slice(0, 2)).toEqual(["echo ok # nothing to see here", "touch proof.txt"]);
    expect(shown[2]).toContain(";echo [U+202E]the-end[U+001B][31m[U+0008]");
    expect(await page.locator(".sheet h2").textContent()).toContain("here ↵ touch proof.txt");
    const all = await page.locator(".sheet").textContent();
    for (const unseen of ["\u202e", "\u001b", "\u0008"]) expect(all).not.toContain(unseen);
    for (const part of [".sheet h2", ".sheet .why", ".sheet .exact", ".choices"]) {
      const [inner, outer] = await page.locator(part).evaluate((el) => [el.scrollWidth, el.clientWidth]);
      expect(inner, part).toBeLessThanOrEqual((outer ?? 0) + 1);
    }
    await picture(page, "question-hidden");
    await accessible(page);
    const small = await world.page(`#/s/${sessionId}`, phone);
    await small.getByRole("button", { name: /Allow once/ }).waitFor();
    await expect(small.getByRole("button", { name: /Allow once/ }).isVisible()).resolves.toBe(true);
    await picture(small, "question-hidden-phone");
    await page.waitForTimeout(600);
    await page.keyboard.press("1");
    await page.getByText("So it is.").waitFor();
    await page.getByRole("button", { name: /^Run/ }).click();
    expect((await page.locator(".unfolded .exact").textContent())?.split("\n")[1]).toBe("touch proof.txt");
    await picture(page, "question-hidden-done");
  });

  for (const [name, options] of Object.entries({ phone, desk })) {
    test(`whose rule is endless keeps all answers in view: ${name}`, async () => {
      const page = await world.page(`#/s/${await world.session("endless")}`, options);
      const refusal = page.getByRole("button", { name: /Deny with a reason/ });
      await refusal.waitFor();
      for (const part of [page.locator(".sheet .exact").first(), page.locator(".sheet .why code", { hasText: "rm -rf evil" }), refusal])
        await expect.poll(() => part.evaluate(inView)).toBe(true);
      expect(await page.locator(".choices").textContent()).toContain("a[U+200D]");
      expect(await page.locator(".choices .rule").nth(1).textContent()).toMatch(
        /^adds 3 rules: Bash\(echo 'a+….*, Bash\(rm -rf evil\), Bash\(echo b/,
      );
      expect(await page.locator(".sheet").textContent()).not.toContain("\u200d");
      await picture(page, `question-endless-${name}`);
      await page.getByText("The rule that would be added, whole").click();
      await page.locator(".wholerule .exact").waitFor();
      await expect.poll(() => refusal.evaluate(inView)).toBe(true);
      await picture(page, `question-endless-rule-${name}`);
      await accessible(page);
      expect(problems).toEqual([]);
    });
  }

  const sizes = { phone, narrow: { ...phone, viewport: { width: 320, height: 568 } }, desk };
  for (const [name, options] of Object.entries(sizes)) {
    test(`leaves what led to it to be read: ${name}`, async () => {
      const page = await world.page(`#/s/${await world.session("first")}`, options);
      await page.getByText("So it is.").waitFor();
      const id = new URL(page.url()).hash.split("/")[2];
      await world.host.request("send_message", { content: [{ type: "text", text: "long" }] }, id as never);
      const led = page.getByText("Then I would run it.");
      const covered = async () => {
        const [said, sheet] = [await led.boundingBox(), await page.locator(".sheet").boundingBox()];
        return (said?.y ?? 9999) + (said?.height ?? 0) > (sheet?.y ?? 0);
      };
      await page.getByRole("heading", { name: /Run/ }).waitFor();
      await expect.poll(covered).toBe(false); // the page follows the end
      await picture(page, `question-end-${name}`);
      await page.reload();
      await page.getByRole("heading", { name: /Run/ }).waitFor();
      await expect.poll(covered).toBe(false);
      expect((await led.boundingBox())?.y).toBeGreaterThan(48);
      await accessible(page);
      expect(problems).toEqual([]);
    });
  }

  test("of any kind is answered by digits and refused by Escape", async () => {
    const sessionId = await world.session("plan it");
    const page = await world.page(`#/s/${sessionId}`);
    await page.locator(".sheet .acts").waitFor();
    expect(await page.locator(".sheet").textContent()).toContain("[U+202E]");
    await picture(page, "question-plan");
    await accessible(page);
    await page.waitForTimeout(600);
    await page.keyboard.press("Escape");
    await page.getByText("So it is.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("ask again");
    await page.keyboard.press("Enter");
    await page.getByText("Which changes are breaking?").first().waitFor();
    await page.waitForTimeout(600);
    await page.keyboard.press("2");
    expect(await page.getByLabel("None").isChecked()).toBe(true);
    await picture(page, "question-ask-keys");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByText("So it is.").nth(1).waitFor();
  });

  test("of lasting effect is agreed to with the grant control only", async () => {
    const sessionId = await world.session("schedule it \u202egnp.exe");
    const page = await world.page(`#/s/${sessionId}`);
    const yes = page.getByRole("button", { name: /Yes/ });
    await yes.waitFor();
    expect(await page.locator(".said h2").textContent()).toBe("schedule it [U+202E]gnp.exe");
    const grant = async (grant: string) => {
      const { entries } = await world.host.request<EntryList>("list_entries", {});
      for (const e of entries ?? []) await world.host.request("set_grant", { clientId: e.clientId, grant });
    };
    await grant("answer");
    await page.getByText("Only an entry with the grant control can agree to this.").waitFor();
    expect(await yes.isDisabled()).toBe(true);
    await page.waitForTimeout(600);
    await page.keyboard.press("1");
    await page.waitForTimeout(300);
    expect(await yes.count(), "the key of what cannot be chosen chooses nothing").toBe(1);
    await accessible(page);
    await grant("control");
    await expect.poll(() => yes.isDisabled()).toBe(false);
    await page.keyboard.press("2");
    await page.getByText("So it is.").waitFor();
    expect((await world.host.request<{ schedules?: unknown[] }>("list_schedules", {})).schedules ?? []).toEqual([]);
  });

  test("of a model is answered with what it offers or in one's own words", async () => {
    const sessionId = await world.session("ask me");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Which changes are breaking?").first().waitFor();
    await page.getByRole("button", { name: /Question waiting for an answer/ }).waitFor();
    await picture(page, "question-ask");
    await accessible(page);
    await page.waitForTimeout(500);
    expect(await page.getByRole("button", { name: "Answer", exact: true }).isDisabled(), "nothing is chosen").toBe(true);
    await page.getByLabel("None").check();
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByText("So it is.").waitFor();
    await page.getByRole("button", { name: /Question/ }).click();
    await page.getByText("None").waitFor();
    expect(problems).toEqual([]);
  });
});

/** Runs in the page: whether nothing cuts the middle of an element off. */
function inView(el: Element): boolean {
  const box = el.getBoundingClientRect();
  const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return at !== null && el.contains(at);
}

/** Runs in the page: the longest pause between two keys, in milliseconds. */
function watchKeys(): void {
  const w = window as unknown as { pause: number };
  w.pause = 0;
  let last = 0;
  addEventListener("keydown", () => {
    const now = performance.now();
    if (last > 0) w.pause = Math.max(w.pause, now - last);
    last = now;
  });
}
