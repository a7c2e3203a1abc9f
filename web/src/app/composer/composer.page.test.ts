import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("the composer", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1 },
        { if: { user: "ask" }, do: [{ call: "Bash", input: { command: "while [ ! -e ask ]; do sleep 0.05; done; echo may-write" } }] },
        { if: { result: "may-write" }, do: [{ call: "Write", input: { path: "asked.txt", content: "asked\n" } }] },
        { if: { user: "wait" }, do: [{ call: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" } }] },
        { again: true, do: [{ text: "Heard." }] },
      ],
      { config: '[permissions]\nallow = ["Bash"]\n' },
    );
  });
  afterAll(async () => world?.close());

  test("queues while a turn runs: a message is moved up, taken back and removed", async () => {
    const sessionId = await world.session("wait for it");
    const page = await world.page(`#/s/${sessionId}`);
    const box = page.getByRole("textbox", { name: "Message" });
    await page.locator(".head").getByText("Working").waitFor();
    for (const text of ["first", "second", "third"]) {
      await box.fill(text);
      await page.keyboard.press("Enter");
      await page.locator(".queue").getByText(text).waitFor();
    }
    await page.getByRole("button", { name: "Earlier" }).last().click();
    await page.locator(".queue li").nth(1).getByText("third").waitFor();
    await picture(page, "composer-queue");
    await accessible(page);
    await page.locator(".queue li").nth(2).getByRole("button", { name: "Edit" }).click();
    await page.locator(".queue li").nth(2).waitFor({ state: "detached" });
    expect(await box.inputValue()).toBe("second");
    await page.locator(".queue li").nth(1).getByRole("button", { name: "Remove" }).click();
    await page.locator(".queue li").nth(1).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".head").getByText("Working").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  for (const [how, options] of Object.entries({ mouse: desk, finger: phone })) {
    test(`moves a waiting message where it is dragged: ${how}`, async () => {
      const sessionId = await world.session("wait for it");
      for (const text of ["first", "second", "third", "fourth"]) {
        await world.host.request("send_message", { content: [{ type: "text", text }] }, sessionId);
      }
      const page = await world.page(`#/s/${sessionId}`, options);
      const rows = page.locator(".queue li > .trunc");
      await rows.nth(3).waitFor();
      const grip = (n: number) => page.locator(".queue li").nth(n).getByRole("button", { name: /drag/ });
      const middle = async (n: number) => {
        const box = await grip(n).boundingBox();
        return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
      };
      const [from, to] = [await middle(3), await middle(1)];
      const touch = await page.context().newCDPSession(page);
      const point = (type: "touchStart" | "touchMove" | "touchEnd", at?: { x: number; y: number }) =>
        touch.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [at] : [] });
      const drag = async (steps: { x: number; y: number }[]) => {
        for (const [i, at] of steps.entries()) {
          if (how === "finger") await point(i === 0 ? "touchStart" : "touchMove", at);
          else if (i > 0) await page.mouse.move(at.x, at.y, { steps: 5 });
          else {
            await page.mouse.move(at.x, at.y);
            await page.mouse.down();
          }
        }
      };
      const letGo = () => (how === "finger" ? point("touchEnd") : page.mouse.up());
      await drag([from, { ...from, y: (from.y + to.y) / 2 }, to]);
      await page.locator(".queue li.dragged", { hasText: "fourth" }).waitFor();
      await picture(page, `composer-dragging-${how}`);
      await letGo();
      await expect.poll(() => rows.allTextContents()).toEqual(["first", "fourth", "second", "third"]);
      await expect.poll(() => page.locator(".queue li:is(.dragged, .moved, .yields)").count()).toBe(0);

      await drag([await middle(0), await middle(2)]);
      await page.locator(".queue li.dragged", { hasText: "first" }).waitFor();
      await page.keyboard.press("Escape"); // it stays where it was, and the turn goes on
      await page.locator(".queue li.dragged").waitFor({ state: "detached" });
      await letGo();
      expect(await rows.allTextContents()).toEqual(["first", "fourth", "second", "third"]);
      await grip(0).press("ArrowDown");
      await expect.poll(() => rows.allTextContents()).toEqual(["fourth", "first", "second", "third"]);
      expect(await page.evaluate(() => document.activeElement?.closest("li")?.querySelector(".trunc")?.textContent)).toBe("first");
      await page.locator(".head").getByText("Working").waitFor();
      await accessible(page);
      await page.getByRole("button", { name: "Stop" }).click();
      expect(problems).toEqual([]);
    });
  }

  test("shows what goes into the turn first, and says so", async () => {
    const sessionId = await world.session("wait again");
    const page = await world.page(`#/s/${sessionId}`);
    const box = page.getByRole("textbox", { name: "Message" });
    await page.locator(".head").getByText("Working").waitFor();
    await box.fill("after the turn");
    await page.keyboard.press("Enter");
    await page.locator(".queue").getByText("after the turn").waitFor();
    await box.fill("into the turn");
    await page.keyboard.press("Control+Enter");
    await expect
      .poll(() => page.locator(".queue li").allTextContents())
      .toEqual(["1into the turnat the next step", "2after the turnafter this turn"]);
    await picture(page, "composer-steered");
    await accessible(page);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".head").getByText("Working").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("keeps what was written over a reload, and what cannot be sent until it can", async () => {
    const sessionId = await world.session("hello");
    const page = await world.page(`#/s/${sessionId}`);
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("half a thou");
    await page.reload();
    await box.waitFor();
    expect(await box.inputValue()).toBe("half a thou");
    const { port } = world;
    await world.host.kill();
    await page.getByText("Not connected.").waitFor();
    await box.fill("said offline");
    await page.keyboard.press("Enter");
    await page.getByText("It is kept, and sent when the host answers.").waitFor();
    await picture(page, "composer-offline");
    await world.host.start(port);
    await page.getByRole("heading", { name: "said offline" }).waitFor();
    await page.getByText("Heard.").last().waitFor();
    expect(await page.getByRole("heading", { name: "said offline" }).count()).toBe(1);
    expect(await box.inputValue()).toBe("");
    problems.length = 0; // the browser says that it could not connect
  });

  test("keeps a draft for each tab, and one that was sent comes back in none", async () => {
    const sessionId = await world.session("hello");
    const one = await world.page(`#/s/${sessionId}`);
    const boxOf = (p: typeof one) => p.getByRole("textbox", { name: "Message" });
    const opened = async () => {
      const page = await one.context().newPage();
      await page.goto(`${world.url}#/s/${sessionId}`);
      await boxOf(page).waitFor();
      return page;
    };
    await boxOf(one).fill("of tab one");
    const two = await opened();
    expect(await boxOf(two).inputValue()).toBe("of tab one"); // it is new
    await boxOf(two).fill("of tab two");
    for (const page of [one, two]) await page.reload();
    await boxOf(one).waitFor();
    await boxOf(two).waitFor();
    expect(await boxOf(one).inputValue()).toBe("of tab one");
    expect(await boxOf(two).inputValue()).toBe("of tab two");
    const three = await opened();
    expect(await boxOf(three).inputValue()).toBe("of tab two");
    await boxOf(two).press("Enter");
    await one.getByRole("heading", { name: "of tab two" }).waitFor();
    await expect.poll(() => boxOf(three).inputValue()).toBe("");
    for (const page of [one, two, three]) {
      await page.reload();
      await boxOf(page).waitFor();
    }
    expect(await boxOf(one).inputValue()).toBe("of tab one");
    expect(await boxOf(two).inputValue()).toBe("");
    expect(await boxOf(three).inputValue()).toBe("");
    const four = await opened();
    expect(await boxOf(four).inputValue()).toBe("");
    expect(problems).toEqual([]);
  });

  test("sets the mode for all who watch, and attaches a picture, on a phone", async () => {
    const sessionId = await world.session("hello");
    const desk = await world.page(`#/s/${sessionId}`);
    const page = await world.page(`#/s/${sessionId}`, phone);
    await desk.getByText("Heard.").waitFor();
    await page.getByText("Heard.").waitFor();
    await page.getByRole("button", { name: /Permission mode/ }).click();
    await picture(page, "composer-modes-phone");
    await page.getByRole("menuitem", { name: /^Plan/ }).click();
    await desk.getByRole("button", { name: "Permission mode: Plan" }).waitFor();
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
    await page.locator('input[type="file"]').setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: png });
    await page.getByText("dot.png").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("look at this");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await desk.getByRole("heading", { name: "look at this" }).waitFor();
    await desk.locator(".said .picture img").waitFor();
    await accessible(page);
  });

  test("keeps what was attached and written while a question is open", async () => {
    const sessionId = await world.session("ask about it");
    const page = await world.page(`#/s/${sessionId}`);
    const box = page.getByRole("textbox", { name: "Message" });
    await page.locator(".head").getByText("Working").waitFor();
    await box.fill("half a thought");
    await page.locator('input[type="file"]').setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await page.getByText("note.txt").waitFor();
    world.host.write("ask", "");
    await page.getByRole("heading", { name: /Edit asked.txt/ }).waitFor();
    expect(await box.isVisible()).toBe(false);
    await page.waitForTimeout(500); // who types while a sheet comes up does not mean it
    await page.getByRole("button", { name: /Allow once/ }).click();
    await box.waitFor();
    expect(await box.inputValue()).toBe("half a thought");
    await page.getByText("note.txt").waitFor();
  });
});
