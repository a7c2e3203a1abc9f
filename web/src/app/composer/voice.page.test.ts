import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, phone, picture, problems, withoutPages, World } from "../testing/page";

/** Runs in the page: what browsers have for speech, which says what the test has put into window.says. */
function fakeSpeech(): void {
  class Fake extends EventTarget {
    onresult?: (e: unknown) => void;
    onerror?: (e: unknown) => void;
    onend?: () => void;
    start() {
      (window as unknown as { heard: Fake }).heard = this;
    }
    stop() {
      this.onend?.();
    }
    abort() {}
  }
  Object.assign(window, { SpeechRecognition: Fake });
}

/** Runs in the page. */
function say(text: string): void {
  const { heard } = window as unknown as { heard: { onresult(e: unknown): void } };
  heard.onresult({ resultIndex: 0, results: [Object.assign([{ transcript: text }], { isFinal: true })] });
}

describe.skipIf(withoutPages !== "")("speech", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Yes." }] }]);
  });
  afterAll(async () => world?.close());

  test("is asked for once, and goes into the text where it is", async () => {
    const sessionId = await world.session("first");
    const page = await world.page(`#/s/${sessionId}`, phone);
    await page.addInitScript(fakeSpeech);
    await page.reload();
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("Please");
    await page.getByRole("button", { name: "Speak" }).click();
    await page.getByRole("dialog", { name: "Let this browser listen?" }).waitFor();
    await picture(page, "voice-asks");
    await accessible(page);
    await page.getByRole("button", { name: "Listen", exact: true }).click();
    await page.getByRole("button", { name: "Stop listening" }).waitFor();
    await page.evaluate(say, "fix the tests");
    await page.evaluate(say, "and push");
    await expect.poll(() => box.inputValue()).toBe("Please fix the tests and push");
    await picture(page, "voice-listens");
    await page.getByRole("button", { name: "Stop listening" }).click();
    await page.getByRole("button", { name: "Speak" }).click(); // it has been asked
    await page.evaluate(() => {
      const { heard } = window as unknown as { heard: { onerror(e: unknown): void; onend(): void } };
      heard.onerror({ error: "not-allowed" });
      heard.onend();
    });
    await page.getByText("may not use the microphone here").waitFor();
    await page.getByRole("button", { name: "Speak" }).waitFor();
    expect(problems).toEqual([]);
  });
});
