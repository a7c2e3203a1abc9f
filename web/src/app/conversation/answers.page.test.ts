/** What messages and results bring with them: pictures, whole outputs, progress, when it was; and the conversation on paper. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newSessionID } from "../../client/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

const report = (stage: string, n: number) =>
  `echo '{"type":"process_event","stage":"${stage}","message":"file ${n}","current":${n},"total":4}' >&2`;
const program = `#!/bin/bash\ncat >/dev/null\n${report("reading", 2)}\nsleep 0.3\n${report("writing", 4)}\nsleep 0.2\necho '{"files":4}'\n`;
const skill = "---\ndescription: Counts files\nentry: run.sh\ninput:\n  type: object\n---\nRun it.\n";

describe.skipIf(withoutPages !== "")("what messages bring with them", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1 },
        {
          if: { user: "^Look" },
          do: [
            { call: "Read", input: { path: "dot.png" } },
            { call: "ExecuteSkill", input: { name: "count-files", input: {} } },
          ],
        },
        { if: { user: "^slowly" }, do: [{ text: "I begin. " }, { wait: 300_000 }, { text: "I end." }] },
        { if: { user: "^Question|^What I sent" }, again: true, do: [{ text: "A line of an answer that goes on.\n\n", times: 20 }] },
        // Cut by the output limit: asked for again without a limit, then continued.
        { if: { user: "^Code" }, stop: "max_tokens", do: [{ text: "Here" }] },
        { if: { user: "^Code" }, stop: "max_tokens", do: [{ text: "Here is the code:\n\n```go\nfunc main() {\n\tprintl" }] },
        {
          if: { user: "cut at the output limit" },
          do: [{ text: 'n("hello")\n' }, { wait: 1000 }, { text: "}\n```\n\nThat is **all** of it." }],
        },
        { do: [{ call: "Bash", input: { command: "seq 1 30000; echo the-last-line" } }] },
        { do: [{ text: "I have looked at it. ", times: 40 }] },
        { again: true, do: [{ text: "Yes.\n\n" }, { text: "A line of an answer that goes on for a while.\n\n", times: 60 }] },
      ],
      { config: '[permissions]\nallow = ["Read", "Bash", "ExecuteSkill"]\n' },
    );
    writeFileSync(join(world.host.work, "dot.png"), png(60, 40, [200, 80, 40]));
    const dir = join(world.host.home, ".scorel", "skills", "count-files");
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "SKILL.md"), skill);
    writeFileSync(join(dir, "run.sh"), program);
    chmodSync(join(dir, "run.sh"), 0o755);
  });
  afterAll(async () => world?.close());

  test("pictures, the whole of an output, the progress of a program, and when it was", async () => {
    const sessionId = newSessionID();
    await world.host.request("create_session", { meta: { workDir: world.host.work } }, sessionId);
    const { sha256 } = (await world.host.request("put_blob", {
      uploadId: "one",
      offset: 0,
      data: png(90, 60, [40, 90, 200]).toString("base64"),
      last: true,
    } as never)) as { sha256: string };
    const content = [
      { type: "text", text: "Look at this picture." },
      { type: "image", blob: sha256, mediaType: "image/png" },
    ];
    await world.host.request("send_message", { content } as never, sessionId);
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("I have looked at it.").first().waitFor();

    await page.locator(".said .picture img").waitFor();
    expect(await page.title()).toBe("Look at this picture. – Scorel");
    await page.getByRole("button", { name: /^Read/ }).click();
    await page.locator(".unfolded .picture img").waitFor();
    await page.getByRole("button", { name: /^ExecuteSkill/ }).click();
    await page.getByText("reading: file 2").waitFor();
    await page.getByText("writing: file 4").waitFor();
    expect(await page.locator(".line .lane .nt").count()).toBe(3);
    await picture(page, "answers-desk");
    await accessible(page);

    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByText("Only a part is shown.").waitFor();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a file" }).click()]);
    expect(file.suggestedFilename()).toMatch(/\.txt$/);
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByText("This is all of it.").waitFor();
    expect(await page.locator(".term").last().textContent()).toContain("\n12345\n");
    await picture(page, "answers-whole");
    await accessible(page);

    await page.locator(".answer").last().hover();
    await page.getByRole("button", { name: "What to do with this answer" }).last().click();
    await picture(page, "answers-menu");
    await page.getByRole("menuitem", { name: "New session from here" }).click();
    await expect.poll(() => page.url()).not.toContain(sessionId);
    await page.getByText("I have looked at it.").first().waitFor();

    const small = await world.page(`#/s/${sessionId}`, phone);
    await small.locator(".said .picture img").waitFor();
    await small.getByRole("button", { name: /^ExecuteSkill/ }).click();
    await picture(small, "answers-phone");
    await accessible(small);
    expect(problems).toEqual([]);
  });

  test("a long conversation opens at its end, brings what is sent there into view, and reads on upwards", async () => {
    const sessionId = await world.session("Question 0");
    const ends = () => world.host.stored(sessionId).split('"end_turn"').length - 1;
    for (let i = 1; i <= 120; i++) {
      await expect.poll(ends, { interval: 10 }).toBe(i);
      await world.host.request("send_message", { content: [{ type: "text", text: `Question ${i}` }] }, sessionId);
    }
    await expect.poll(ends).toBe(121);
    const page = await world.page(`#/s/${sessionId}`);
    const below = () => page.locator(".scroll").evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
    await page.getByText("A line of an answer").last().waitFor();
    await expect.poll(below).toBeLessThan(3);
    await picture(page, "answers-end");
    const held = () => page.locator(".said").count();
    const before = await held();
    for (let i = 0; i < 200 && (await held()) <= before; i++) {
      await page.locator(".scroll").evaluate((el) => el.scrollTo(0, 0));
      await page.waitForTimeout(50);
    }
    expect(await held()).toBeGreaterThan(before);
    expect(await page.locator(".jump").textContent()).toBe("To the end"); // older messages are no new ones
    await page.getByRole("textbox", { name: "Message" }).fill("What I sent just now");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "What I sent just now" }).waitFor();
    await expect.poll(below).toBeLessThan(3);
    expect(problems).toEqual([]);
  });

  test("an answer that the output limit has cut is one, while it comes in and after", async () => {
    const sessionId = await world.session("Code, please");
    const page = await world.page(`#/s/${sessionId}`);
    const whole = async () => {
      await page.locator(".answer pre").getByText('println("hello")').waitFor();
      await page.locator(".answer strong").getByText("all").waitFor();
      expect(await page.locator(".answer").count()).toBe(1);
      expect(await page.locator(".answer pre").count()).toBe(1);
    };
    await page.locator(".answer pre").getByText('println("hello")').waitFor();
    expect(await page.locator(".answer").count()).toBe(1);
    await whole();
    await page.reload();
    await whole();
    await picture(page, "answers-continued");
    const last = [
      ...world.host
        .stored(sessionId)
        .matchAll(/"id":"(evt_[0-9a-z]+)"[^\n]*"type":"message"|"type":"message"[^\n]*"id":"(evt_[0-9a-z]+)"/g),
    ].at(-1);
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#/s/${sessionId}?e=${last?.[1] ?? last?.[2]}`,
    );
    await page.locator(".bar.found .answer").waitFor(); // a link to its last message leads to it
    expect(problems).toEqual([]);
  });

  test("an answer that was stopped says so", async () => {
    const sessionId = await world.session("slowly");
    const page = await world.page(`#/s/${sessionId}`);
    await page.getByText("I begin.").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Cancelled.").waitFor();
    await page.reload();
    await page.getByText("Cancelled.").waitFor();
    await picture(page, "answers-cancelled");
    await accessible(page);
  });

  test("the message of a turn that is read stays on top, and leads back to it; on paper everything stands", async () => {
    const sessionId = await world.session("The first question of two.");
    await world.host.request("send_message", { content: [{ type: "text", text: "And the second question." }] }, sessionId);
    const page = await world.page(`#/s/${sessionId}`, desk);
    await page.getByRole("heading", { name: "And the second question." }).waitFor();
    await page.getByText("A line of an answer").last().waitFor();
    await picture(page, "answers-turnhead0");
    await page.locator(".turnhead").getByText("And the second question.").waitFor();
    await picture(page, "answers-turnhead");
    await accessible(page);
    await page.locator(".turnhead button").click();
    await page.locator(".turnhead").getByText("The first question of two.").waitFor();
    await page.locator(".scroll").evaluate((el) => {
      el.scrollTop = 0;
    });
    await page.locator(".turnhead").waitFor({ state: "detached" });

    for (const [name, options] of Object.entries({ desk, phone })) {
      const other = await world.page(`#/s/${sessionId}`, options);
      const second = other.getByRole("heading", { name: "And the second question." });
      /** Whether there is a head while the second message is so far below the top. */
      const headAt = async (far: number) => {
        await second.evaluate((el, far) => {
          const box = el.closest(".scroll") as HTMLElement;
          const message = el.closest(".bar") as HTMLElement;
          box.scrollTop += message.getBoundingClientRect().top - box.getBoundingClientRect().top - far;
        }, far);
        await other.waitForTimeout(200);
        return other.locator(".turnhead button").isVisible();
      };
      await other.locator(".turnhead button").waitFor();
      await headAt(100);
      await other.locator(".turnhead").getByText("The first question of two.").waitFor();
      expect(await headAt(20)).toBe(false);
      await picture(other, `answers-turnhead-${name}`);
      expect(await headAt(60)).toBe(true);
    }

    const path = (await world.host.request("get_path", {}, sessionId)) as {
      events: { id: string; type: string; message?: { role: string } }[];
    };
    const [answer = ""] = path.events.filter((e) => e.message?.role === "assistant").map((e) => e.id); // the newest is first
    const ran = path.events.find((e) => e.message?.role === "tool_result")?.id ?? "";
    const linked = await world.page(`#/s/${sessionId}?e=${answer}`);
    await linked.locator(".bar.found", { hasText: "Yes." }).waitFor();
    await linked.goto(`${world.url}#/s/${sessionId}?e=${ran}`);
    await linked.locator(".bar.found", { hasText: "the-last-line" }).waitFor();
    await linked.goto(`${world.url}#/s/${sessionId}?e=evt_aaaaaaaaaaaaaaaa`);
    await linked.getByText("look in the tree of branches").waitFor();

    await page.emulateMedia({ media: "print" });
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0).toBeGreaterThan(2);
    await picture(page, "answers-print", true);
    expect(await page.locator(".rail").isVisible()).toBe(false);
    expect(await page.getByRole("textbox").first().isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });
});

/** A picture of one colour. */
function png(width: number, height: number, [r, g, b]: [number, number, number]): Buffer {
  const table = Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c >>> 0;
  });
  const crc = (data: Buffer) => {
    let c = 0xffffffff;
    for (const byte of data) c = (table[(c ^ byte) & 255] as number) ^ (c >>> 8);
    return (c ^ 0xffffffff) >>> 0;
  };
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([r, g, b]))]);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", head),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
