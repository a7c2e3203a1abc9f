import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, phone, picture, problems, withoutPages, World } from "../testing/page";

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
  { again: true, do: [{ text: "So it is." }] },
];

describe.skipIf(withoutPages !== "")("a question", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(script);
  });
  afterAll(async () => world?.close());

  test("is asked on every page, and closes on all when one has answered", async () => {
    const sessionId = await world.session("write it");
    const desk = await world.page(`#/s/${sessionId}`);
    const small = await world.page(`#/s/${sessionId}`, phone);
    await desk.getByRole("heading", { name: /Edit due.go/ }).waitFor();
    await small.getByRole("heading", { name: /Edit due.go/ }).waitFor();
    await desk.getByText("const days = 25").first().waitFor();
    await picture(desk, "question-desk");
    await picture(small, "question-phone");
    await accessible(desk);
    await accessible(small);
    await small.waitForTimeout(500); // who types while a sheet comes up does not mean it
    await small.getByRole("button", { name: /Allow once/ }).click();
    await desk.getByText("So it is.").waitFor();
    await small.getByText("So it is.").waitFor();
    expect(await desk.locator(".sheet").count()).toBe(0);
    await desk.getByText("Chrome on Linux has allowed it.").waitFor();
    expect(await small.getByText("has allowed it.").count()).toBe(0);
    await picture(desk, "question-answered-elsewhere");
    expect(problems).toEqual([]);
  });

  test("is denied with a reason, by the keyboard alone", async () => {
    const sessionId = await world.session("run it");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByRole("heading", { name: /Run/ }).waitFor();
    await page.waitForTimeout(500);
    const choices = await page.locator(".choice").count();
    await page.keyboard.press(String(choices));
    await page.keyboard.type("use the vendored docs");
    await page.keyboard.press("Enter");
    await page.getByText("denied: “use the vendored docs”").waitFor();
    await picture(page, "question-denied");
  });

  test("of a model is answered with what it offers or in one's own words", async () => {
    const sessionId = await world.session("ask me");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("Which changes are breaking?").first().waitFor();
    await picture(page, "question-ask");
    await accessible(page);
    await page.waitForTimeout(500);
    await page.getByLabel("None").check();
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByText("So it is.").waitFor();
    await page.getByRole("button", { name: /Question/ }).click();
    await page.getByText("None").waitFor();
    expect(problems).toEqual([]);
  });
});
