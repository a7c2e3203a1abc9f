/** Diagrams in a conversation: the host's page with the host's policies, and an answer that comes in. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const begun = "This is how it goes:\n\n```mermaid\nsequenceDiagram\n  Page->>Host: send_message\n";
const rest = "  Host-->>Page: accepted\n";

/** Runs in the page. */
function endIsSeen(): boolean {
  const el = document.querySelector("main .scroll");
  return el !== null && el.scrollHeight - el.scrollTop - el.clientHeight < 2;
}

describe.skipIf(withoutPages !== "")("diagrams in a conversation", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([
      { script: 1 },
      { if: { user: "^Draw" }, again: true, do: [{ text: begun }, { wait: 3000 }, { text: rest }, { text: "```\n\nThat is all.\n" }] },
      { again: true, do: [{ text: "Yes." }] },
    ]);
  });
  afterAll(async () => world?.close());

  test("are code while they come in, and drawn when they are complete", async () => {
    const sessionId = await world.session("Draw what happens when I send a message.");
    const page = await world.page(`#/s/${sessionId}`);
    const image = page.getByRole("img", { name: /^Sequence diagram/ });
    await image.waitFor();
    await page.getByText("That is all.").waitFor();
    await world.host.request("send_message", { content: [{ type: "text", text: "Draw it again." }] }, sessionId);
    await page.locator("figure.code", { hasText: "Page->>Host" }).waitFor();
    expect(await page.locator("figure.diagram").count()).toBe(1); // that of the first answer
    await picture(page, "diagram-streaming");
    await expect.poll(() => image.count()).toBe(2);
    await expect.poll(() => page.evaluate(endIsSeen)).toBe(true); // drawn later than the rest came
    expect(await page.getByRole("button", { name: "To the end" }).count()).toBe(0);
    await picture(page, "diagram-answer");
    await accessible(page);
    const frames = await page.locator("iframe").evaluateAll((all) => all.map((f) => [f.getAttribute("sandbox"), f.getAttribute("src")]));
    expect(frames).toHaveLength(1);
    expect(frames[0]?.[0]).toBe("allow-scripts");
    expect(problems.splice(0)).toEqual([]);

    const small = await world.page(`#/s/${sessionId}`, phone);
    await small
      .getByRole("img", { name: /^Sequence diagram/ })
      .last()
      .waitFor();
    await picture(small, "diagram-answer-phone");
    expect(problems.splice(0)).toEqual([]);

    // The document draws in a frame of the page, and is nothing for anybody else.
    const address = String(frames[0]?.[1]);
    const alone = await world.stranger(address, desk);
    expect(await alone.locator("body").textContent()).toContain("opened by nothing else");
    const foreign = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(
        `<iframe src="${address}" onload="document.title='loaded'"></iframe><script>addEventListener("message", () => document.title = "drew")</script>`,
      );
    });
    await new Promise<void>((done) => foreign.listen(0, "127.0.0.1", done));
    try {
      const other = await world.stranger(`http://localhost:${(foreign.address() as AddressInfo).port}/`, desk);
      await expect.poll(() => other.title()).toBe("loaded"); // with what the browser shows instead
      expect(await other.frames()[1]?.locator("script").count()).toBe(0);
    } finally {
      foreign.close();
    }
  });
});
