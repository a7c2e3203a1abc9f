import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newSessionID } from "../../client/index";
import type { Project, SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";

if (withoutPages !== "") console.log(withoutPages);

/** Requests that the page has sent, by their names. */
function requestsOf(page: Page): string[] {
  const sent: string[] = [];
  page.on("websocket", (ws) =>
    ws.on("framesent", (f) => {
      for (const [, name] of String(f.payload).matchAll(/"type":"([a-z_]+)"/g)) if (name) sent.push(name);
    }),
  );
  return sent;
}

describe.skipIf(withoutPages !== "")("typing in the message box", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1 },
        { if: { user: "^hang" }, do: [{ text: "I begin." }, { wait: 600_000 }, { text: "I end." }] },
        { if: { user: "wait" }, do: [{ call: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" } }] },
        { again: true, do: [{ text: "Heard." }] },
      ],
      {
        config: `[permissions]\nallow = ["Bash"]\n[models.deep]\ntype = "custom"\napi = "openai-completions"\nid = "deep-1"\nbaseUrl = "http://127.0.0.1:9/v1"\ncontextWindow = 100000\nmaxTokens = 4000\nreasoning = true\n`,
      },
    );
    const { host } = world;
    host.write("next.go", "package schedule\n");
    host.write("my notes.txt", "notes\n");
    mkdirSync(join(host.work, "internal"));
    for (let i = 0; i < 80; i++) host.write(`internal/part${String(i).padStart(2, "0")}.go`, "package internal\n");
    const extensions = join(host.home, ".scorel", "extensions");
    mkdirSync(extensions, { recursive: true });
    writeFileSync(
      join(extensions, "hop.ts"),
      `export default function (pi) {
        pi.registerCommand("hop", { description: "Goes on elsewhere", handler: async (args, ctx) => {
          await ctx.newSession({ withSession: async (to) => { to.ui.setEditorText("half of it"); to.ui.notify("Hopped."); await to.sendUserMessage("over there"); } });
        } });
        pi.registerCommand("leave", { description: "Leaves", handler: async (args, ctx) => ctx.shutdown() });
      }
`,
    );
    const commands = join(host.home, ".scorel", "commands");
    mkdirSync(commands, { recursive: true });
    writeFileSync(join(commands, "greet.md"), "---\ndescription: Greets somebody\nargument-hint: [name]\n---\nGreet $1 warmly.\n");
    writeFileSync(join(commands, "tree.md"), "---\ndescription: Plants one\n---\nPlant a tree.\n");
    writeFileSync(join(commands, "hail.md"), "---\ndescription: Hails everybody\n---\nHail everybody.\n");
  });
  afterAll(async () => world?.close());

  const box = (page: Page) => page.locator("#composer");
  const value = (page: Page) => box(page).inputValue();
  const option = (page: Page, name: string | RegExp) => page.getByRole("option", { name });
  const selected = (page: Page) => page.locator('[role="option"][aria-selected="true"]').textContent();
  const closed = (page: Page) => page.getByRole("listbox").waitFor({ state: "detached" });
  /** The kinds and texts of what is in the log. */
  const stored = (id: SessionID) => world.host.stored(id);
  /** A session of a project: only there are files known. */
  const begun = async () => {
    const { host } = world;
    const { projectId } = await host.request<Project>("register_project", { workDir: host.work });
    const id = newSessionID();
    await host.request("create_session", { projectId, meta: { workDir: host.work } }, id);
    await host.request("send_message", { content: [{ type: "text", text: "hello" }] }, id);
    return id;
  };
  const idle = async (options: object = desk) => {
    const id = await begun();
    const page = await world.page(`#/s/${id}`, options);
    await page.getByText("Heard.").first().waitFor();
    return { id, page };
  };

  test("offers commands and files where a word begins with / or @, and asks nothing while text is typed", async () => {
    const { page } = await idle();
    const sent = requestsOf(page);
    await page.reload();
    await page.getByText("Heard.").first().waitFor();
    const asked = () => sent.filter((n) => /list_commands|list_files|complete_command|list_mcp_resources/.test(n));
    await box(page).pressSequentially("a plain text with/slash and mail@host.example ");
    await page.waitForTimeout(300);
    expect(asked()).toEqual([]);
    expect(await page.getByRole("listbox").count()).toBe(0);

    await box(page).fill("");
    await box(page).pressSequentially("/");
    await option(page, /^\/compact/).waitFor();
    expect(await page.getByRole("option").count()).toBeLessThanOrEqual(50);
    await picture(page, "typing-commands");
    await accessible(page);
    await box(page).pressSequentially("gre");
    await expect.poll(() => page.getByRole("option").count()).toBe(1);
    expect(await box(page).getAttribute("aria-activedescendant")).toBe("offer-0");
    expect(await box(page).getAttribute("aria-controls")).toBe("offers");
    await page.keyboard.press("Enter"); // it takes arguments, so it is not sent
    expect(await value(page)).toBe("/greet ");
    await closed(page);
    await page.keyboard.press("Control+z"); // as if it had been typed
    expect(await value(page)).toBe("/gre");
    await page.keyboard.press("End");
    await option(page, /greet/).waitFor();
    await page.keyboard.press("Escape");
    await closed(page);
    expect(await value(page)).toBe("/gre");

    await box(page).fill("");
    await box(page).pressSequentially("look at @nex");
    await option(page, "next.go").waitFor();
    await page.keyboard.press("Tab");
    expect(await value(page)).toBe("look at @next.go ");
    await box(page).pressSequentially("and @my");
    await option(page, "my notes.txt").click();
    expect(await value(page)).toBe('look at @next.go and @"my notes.txt" ');
    expect(await box(page).evaluate((e) => e === document.activeElement)).toBe(true);
    await box(page).pressSequentially("@part");
    await option(page, /part/).first().waitFor();
    expect(await page.getByRole("option").count()).toBeLessThanOrEqual(50);
    const first = await selected(page);
    await page.keyboard.press("ArrowDown");
    expect(await selected(page)).not.toBe(first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp"); // round to the last one, which is scrolled to
    await expect.poll(() => page.locator('[role="option"][aria-selected="true"]').isVisible()).toBe(true);
    await picture(page, "typing-files");
    await accessible(page);
    const last = await selected(page);
    await page.keyboard.press("Enter");
    expect(await value(page)).toBe(`look at @next.go and @"my notes.txt" @${last?.trim()} `);
    const n = asked().length;
    await box(page).pressSequentially("and go on with plain text");
    await page.waitForTimeout(300);
    expect(asked().length).toBe(n);
    expect(problems).toEqual([]);
  });

  test("a command with the name of one of the page is reached by where it is from", async () => {
    const { page } = await idle();
    await box(page).fill("/tre");
    await option(page, /^\/tree(?!:)/).waitFor();
    await option(page, /^\/tree:template/).click();
    await page.keyboard.press("Enter");
    await page.getByText("Plant a tree.").first().waitFor();
  });

  test("a late answer for an earlier word is not offered", async () => {
    const { page } = await idle();
    await box(page).pressSequentially("@nex", { delay: 90 });
    await option(page, "next.go").waitFor();
    await box(page).pressSequentially("zzz", { delay: 5 });
    await closed(page);
    await page.waitForTimeout(300);
    expect(await page.getByRole("option").count()).toBe(0);
    await page.keyboard.press("Enter"); // nothing is offered, so it is sent as it stands
    await page.getByRole("heading", { name: "@nexzzz" }).waitFor();
  });

  test("arguments are completed, and may be anything", async () => {
    const { page } = await idle();
    await box(page).pressSequentially("/mode pl");
    await option(page, /^plan/).waitFor();
    expect(await box(page).getAttribute("aria-activedescendant")).toBe(null);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await value(page)).toBe("/mode plan");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Permission mode: Plan" }).waitFor();
    await page.locator(".notice").getByText("the mode is plan").waitFor();
    expect(await value(page)).toBe("");
    await page.keyboard.type("/mode none such");
    await page.keyboard.press("Enter");
    await page.locator(".comp").getByRole("alert").waitFor();
    expect(await value(page)).toBe("/mode none such");
    expect(problems).toEqual([]);
  });

  test("a command runs as in the terminal: it sends, tells, prints, leads, or is refused", async () => {
    const { id, page } = await idle();
    await box(page).fill("/greet Ada");
    await page.getByRole("button", { name: "Run", exact: true }).waitFor();
    await picture(page, "typing-command");
    await page.keyboard.press("Enter");
    await expect.poll(() => stored(id)).toContain("Greet Ada warmly.");
    await box(page).fill("");
    await box(page).pressSequentially("/hail");
    await option(page, /hail/).waitFor();
    await page.keyboard.press("Enter"); // it is complete
    await expect.poll(() => stored(id)).toContain("Hail everybody.");

    await box(page).fill("/skill-search nothing-at-all");
    await page.keyboard.press("Enter");
    await page
      .locator(".notice")
      .getByText(/0 of \d+ skills found/)
      .waitFor();
    await box(page).fill("# use tabs");
    await page.getByRole("button", { name: "Add note" }).click();
    await page.locator(".notice").getByText("The note was added.").waitFor();
    await box(page).fill("/memory");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "/memory" }).getByText("use tabs").waitFor();
    await picture(page, "typing-printed");
    await accessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    for (const [typed, says] of [
      ["/no-such-command now", "There is no command /no-such-command. / lists them, and //no-such-command sends it as text."],
      ["/cancel", "The page has no /cancel: Esc or Stop ends the turn."],
      ["/name", "Add the name: /rename NAME."],
      ["!", "Add a command: !COMMAND, or !!COMMAND to hide it from the model."],
    ] as const) {
      await box(page).fill(typed);
      await page.keyboard.press("Escape"); // what is offered
      await page.keyboard.press("Enter");
      await page.locator(".comp").getByRole("alert").filter({ hasText: says }).waitFor();
      expect(await value(page)).toBe(typed);
      if (typed.startsWith("/no-such")) await picture(page, "typing-refused");
    }
    await box(page).fill("//no-such is sent as text");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "/no-such is sent as text" }).waitFor();
    await box(page).fill("/usr/bin is full");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "/usr/bin is full" }).waitFor();

    await box(page).fill("/clone Its twin");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Its twin" }).waitFor();
    expect(page.url()).not.toContain(id);
    await box(page).fill("/rename A better name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "A better name" }).waitFor();
    await box(page).fill("/context");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/\/session$/);
    expect(problems).toEqual([]);
  });

  test("a command that is about what is shown leads to its place", async () => {
    const { id, page } = await idle();
    for (const [typed, place] of [
      ["/tree", `#/s/${id}/tree`],
      ["/rewind", `#/s/${id}/tree`],
      ["/branch", `#/s/${id}/tree`],
      ["/tasks", `#/s/${id}/session`],
      ["/notices", `#/s/${id}/session`],
      ["/mcp", `#/s/${id}/extensions`],
      ["/login", "#/p/settings/models"],
      ["/doctor", "#/p/doctor"],
    ] as const) {
      await page.evaluate((to) => location.assign(`#/s/${to}`), id);
      await box(page).fill(typed);
      await page.keyboard.press("Escape"); // what is offered
      await page.keyboard.press("Enter");
      await expect.poll(() => page.evaluate(() => location.hash)).toBe(place);
      if (typed === "/tree") await page.getByRole("tree").waitFor();
      if (typed === "/tree") await picture(page, "typing-tree");
    }
    await page.evaluate((to) => location.assign(`#/s/${to}`), id);
    await box(page).waitFor();
    expect(await value(page)).toBe("");
    expect(problems).toEqual([]);
  });

  test("a command of an extension leads this page to another session, and no other page", async () => {
    const { id, page } = await idle();
    const other = await world.page(`#/s/${id}`);
    await other.getByText("Heard.").first().waitFor();
    await box(page).fill("/hop");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "over there" }).first().waitFor();
    await page.locator(".told").getByText("Hopped.").waitFor();
    expect(page.url()).not.toContain(id);
    expect(other.url()).toContain(id);
    await expect.poll(() => value(page)).toBe("half of it");
    await picture(page, "typing-led");
    await box(page).fill("/leave");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/#\/$/);
    expect(problems).toEqual([]);
  });

  test("! runs a command of the person, shown as such, and Stop ends it", async () => {
    const { id, page } = await idle();
    await box(page).fill("!echo from the shell");
    await page.getByText("The model sees the command and what it prints.").waitFor();
    expect(await box(page).evaluate((e) => getComputedStyle(e).fontFamily)).toMatch(/mono/i);
    await picture(page, "typing-shell");
    await accessible(page);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const done = page.locator(".step", { hasText: "echo from the shell" });
    await done.getByText("1 line").waitFor();
    await done.getByRole("button").first().click();
    await done.locator(".term").getByText("from the shell").waitFor();
    await picture(page, "typing-shell-done");
    expect(stored(id)).toContain('"inContext":true');

    await box(page).fill("!!sleep 100");
    await page.getByText("The model is not told.").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".step.run, .line.run").getByText("sleep 100").waitFor();
    await page.keyboard.press("Escape");
    const stopped = page.locator(".step", { hasText: "sleep 100" });
    await stopped.getByText("stopped").waitFor();
    await stopped.getByRole("button").first().click();
    await stopped.getByText("The model is not told of this.").waitFor();
    await picture(page, "typing-shell-stopped");
    await accessible(page);
    await page.getByRole("button", { name: /^Stop/ }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("Stop cancels the turn though a command of the person has ended in it", async () => {
    const id = await world.session("hang, please");
    const page = await world.page(`#/s/${id}`, desk);
    await page.getByText("I begin.").waitFor();
    await box(page).fill("!touch over.txt");
    await page.keyboard.press("Enter");
    await expect.poll(() => existsSync(join(world.host.work, "over.txt"))).toBe(true);
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: /^Stop/ }).click();
        const told = page.getByText("The command has ended").waitFor({ timeout: 5000 });
        return told.then(
          () => true,
          () => false, // it had not quite
        );
      })
      .toBe(true);
    await page.getByRole("button", { name: /^Stop/ }).click();
    await page.getByText("Cancelled.").waitFor();
    await page.getByRole("button", { name: /^Stop/ }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("what is to be run without a connection runs once when there is one again", async () => {
    const { id, page } = await idle();
    const { port } = world;
    await world.host.kill();
    await page.getByText("Not connected.").waitFor();
    await box(page).fill("!echo once >> ran.txt");
    await page.keyboard.press("Enter");
    await page.getByText("It is kept, and sent when the host answers.").waitFor();
    await box(page).fill("a later thought");
    await page.evaluate(() => location.assign("#/p/doctor"));
    await box(page).waitFor({ state: "detached" });
    await page.evaluate((to) => location.assign(`#/s/${to}`), id);
    expect(await value(page)).toBe("a later thought"); // and not what is to be run, too
    await box(page).fill("");
    await world.host.start(port);
    await page.locator(".step", { hasText: "echo once" }).locator(".dur", { hasText: /\d s$/ }).waitFor(); // it has ended, however long it took
    expect(readFileSync(join(world.host.work, "ran.txt"), "utf8")).toBe("once\n");
    await page.getByText("It is kept").waitFor({ state: "detached" });
    await page.reload();
    await box(page).waitFor();
    expect(await value(page)).toBe("");
    problems.length = 0; // the browser says that it could not connect
  });

  test("the level of thinking is picked where the model has levels", async () => {
    const { id, page } = await idle();
    const other = await world.page(`#/s/${id}`);
    await other.getByText("Heard.").first().waitFor();
    expect(await page.getByRole("button", { name: /^Thinking/ }).count()).toBe(0);
    await box(page).fill("/model");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter"); // opens the list of models
    await page.getByRole("combobox", { name: "Model" }).fill("deep");
    await option(page, /^deep /).waitFor();
    await page.keyboard.press("Enter");
    await other.getByRole("button", { name: "Model: deep" }).waitFor();
    await page.getByRole("button", { name: /^Thinking/ }).click();
    await page.getByRole("menuitemradio", { name: "medium" }).waitFor();
    await picture(page, "typing-thinking");
    await accessible(page);
    await page.getByRole("menuitemradio", { name: "high" }).click();
    await other.getByRole("button", { name: "Thinking: high" }).waitFor();
    await box(page).fill("/thinking low");
    await page.keyboard.press("Enter");
    await other.getByRole("button", { name: "Thinking: low" }).waitFor();
    await other.getByRole("button", { name: "Thinking: low" }).click();
    expect(await other.getByRole("menuitemradio", { name: "low" }).getAttribute("aria-checked")).toBe("true");
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByText(/models? of providers without a key/).waitFor();
    await picture(page, "typing-models");
    await accessible(page);
    expect(problems).toEqual([]);
  });

  test("ArrowUp in an empty box takes back what was said", async () => {
    const { page } = await idle();
    await box(page).fill("first\nsecond");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "first second" }).waitFor();
    await box(page).fill("!true");
    await page.keyboard.press("Enter");
    await expect.poll(() => value(page)).toBe("");
    await page.keyboard.press("ArrowUp");
    expect(await value(page)).toBe("!true");
    await page.keyboard.press("ArrowUp");
    expect(await value(page)).toBe("first\nsecond");
    await page.keyboard.press("ArrowUp"); // into its first line
    expect(await value(page)).toBe("first\nsecond");
    await page.keyboard.press("ArrowUp");
    expect(await value(page)).toBe("hello");
    await page.keyboard.press("ArrowUp"); // there is none before
    expect(await value(page)).toBe("hello");
    for (const next of ["first\nsecond", "!true", ""]) {
      await page.keyboard.press("ArrowDown");
      expect(await value(page)).toBe(next);
    }
    await box(page).fill("half a thought");
    await page.keyboard.press("ArrowUp");
    expect(await value(page)).toBe("half a thought");
    expect(problems).toEqual([]);
  });

  test("keys that come before the next frame go where the text that was taken back ends", async () => {
    const { page } = await idle();
    await box(page).fill("two\nlines");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "two lines" }).waitFor();
    await page.evaluate(() => {
      window.requestAnimationFrame = (f) => window.setTimeout(() => f(performance.now()), 200);
    });
    await box(page).press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.type("A");
    await page.waitForTimeout(300);
    await page.keyboard.type("B");
    expect(await value(page)).toMatch(/AB.*\n/); // in the first line, one after the other
    expect(problems).toEqual([]);
  });

  test("the buttons fit while a turn runs", async () => {
    const id = await world.session("wait for it");
    await world.host.request("update_info", { changes: { model: "deep", thinkingLevel: "medium" } }, id);
    for (const [name, options] of Object.entries({ desk, phone, "320": { ...phone, viewport: { width: 320, height: 640 } } })) {
      const page = await world.page(`#/s/${id}`, options);
      await page.getByRole("button", { name: "Stop" }).waitFor();
      await page.getByRole("button", { name: "Thinking: medium" }).waitFor();
      await box(page).fill("One more thing");
      await page.getByRole("button", { name: "Send now" }).waitFor();
      const buttons = await page.locator(".tools button").all();
      const places = await Promise.all(buttons.map((b) => b.boundingBox()));
      const sorted = places.flatMap((p) => (p ? [p] : [])).sort((a, b) => a.y - b.y || a.x - b.x);
      const speech = await page.getByRole("button", { name: "Speak" }).count(); // where the browser has it
      expect(sorted.length).toBe(7 + speech);
      sorted.forEach((p, i) => {
        const before = sorted[i - 1];
        expect(p.x + p.width).toBeLessThanOrEqual(options.viewport.width);
        if (before && before.y === p.y) expect(p.x).toBeGreaterThanOrEqual(before.x + before.width);
      });
      await picture(page, `typing-running-${name}`);
      await accessible(page);
    }
    world.host.write("go", "");
    expect(problems).toEqual([]);
  });

  for (const [name, options] of Object.entries({
    dark: { ...desk, colorScheme: "dark" as const },
    phone,
    "320": { ...phone, viewport: { width: 320, height: 640 }, colorScheme: "dark" as const },
    chinese: { ...desk, locale: "zh-CN" },
    "200%": { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  })) {
    test(`is whole: ${name}`, async () => {
      const id = await begun();
      await world.host.request("update_info", { changes: { model: "deep", thinkingLevel: "medium" } }, id);
      const page = await world.page(`#/s/${id}`, options as typeof desk);
      await page.getByText("Heard.").first().waitFor();
      const area = page.locator("#composer");
      await area.focus();
      await page.keyboard.type("/re");
      await page.getByRole("option").first().waitFor();
      const fits = async () => {
        const list = await page.locator(".offers").boundingBox();
        expect(list && list.y >= 0 && list.x >= 0 && list.x + list.width <= options.viewport.width).toBe(true);
        expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
      };
      await fits();
      await picture(page, `typing-${name}-commands`);
      await accessible(page);
      if (options.viewport.width < 400) {
        for (const o of await page.getByRole("option").all()) expect((await o.boundingBox())?.height).toBeGreaterThanOrEqual(44);
        await page.getByRole("option", { name: /^\/reload/ }).tap(); // it is taken, and not run
        expect(await area.inputValue()).toBe("/reload ");
        expect(await area.evaluate((e) => e === document.activeElement)).toBe(true);
      }
      await area.fill("");
      await page.keyboard.type("@part");
      await page.getByRole("option").first().waitFor();
      await fits();
      await picture(page, `typing-${name}-files`);
      await area.fill("!!go test ./... -run Due");
      await picture(page, `typing-${name}-shell`);
      await accessible(page);
      expect(problems).toEqual([]);
    });
  }
});
