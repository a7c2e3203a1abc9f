import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";
import { program, say, sessionThatSaid } from "./testing";

const write = (path: string, content: string) => ({ call: "Write", input: { path, content } });
const script = [
  { script: 1 },
  {
    if: { user: "read" },
    do: [
      { call: "Read", input: { path: "internal/schedule/next.go" } },
      { call: "Read", input: { path: "old.txt" } },
    ],
  },
  {
    if: { user: "write" },
    do: [
      write(
        "internal/schedule/next.go",
        "package schedule\n\n// Next is the next day.\nfunc Next() {\n\tnext = last.AddDate(0, 0, 1)\n}\n",
      ),
      write("docs/a-very-long-name-of-a-file-that-does-not-fit-into-a-panel.md", "# Title\n"),
      write("old.txt", "new\n"),
    ],
  },
  { again: true, do: [{ text: "Done." }] },
];

if (withoutPages !== "") console.log(withoutPages);

describe.skipIf(withoutPages !== "")("the panels of files", () => {
  let world: World;
  let client: Client;
  let sessionId: SessionID;
  let untouched: SessionID;
  beforeAll(async () => {
    world = await World.start(script);
    const put = (name: string, text: string | Buffer) => {
      mkdirSync(join(world.host.work, name, ".."), { recursive: true });
      writeFileSync(join(world.host.work, name), text);
    };
    put("internal/schedule/next.go", "package schedule\n\nfunc Next() {\n\tnext = last.Add(24 * time.Hour)\n}\n");
    put("old.txt", "old\n");
    put("picture.bin", Buffer.from([1, 0, 2]));
    put("long.txt", "a line of a long text\n".repeat(20_000));
    put("hostile.html", "<script>alert(1)</script>\u202egnp.exe\n");
    client = program(world);
    sessionId = await sessionThatSaid(client, world, "read", ["Read"]);
    await say(client, sessionId, "write", ["Read", "Write"]);
    rmSync(join(world.host.work, "old.txt"));
    untouched = await sessionThatSaid(client, world, "hello");
  });
  afterAll(async () => {
    await client?.close();
    await world?.close();
  });

  const looks = {
    desk,
    phone,
    "phone-dark": phone,
    "desk-zh": { ...desk, locale: "zh-CN" },
    narrow: { ...phone, viewport: { width: 320, height: 700 } },
  };
  for (const [name, options] of Object.entries(looks)) {
    test(`shows what a session has changed: ${name}`, async () => {
      const page = await world.page(`#/s/${sessionId}/changes`, options);
      const panel = page.getByRole("tabpanel");
      await panel.getByRole("button", { name: /next\.go/ }).click();
      await panel.getByText("next = last.AddDate(0, 0, 1)").waitFor();
      expect(await panel.getByRole("listitem").count()).toBe(3);
      if (name.endsWith("dark")) await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await picture(page, `panel-changes-${name}`);
      await accessible(page, ".side");
      expect(problems).toEqual([]);
    });

    test(`shows the files of the project, and one of them: ${name}`, async () => {
      const page = await world.page(`#/s/${sessionId}/files`, options);
      const panel = page.getByRole("tabpanel");
      await panel.getByRole("button", { name: "internal" }).click();
      await panel.getByRole("button", { name: "schedule" }).click();
      if (name.endsWith("dark")) await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await panel.getByRole("button", { name: "next.go" }).waitFor();
      await picture(page, `panel-files-${name}`);
      await accessible(page, ".side");
      await panel.getByRole("button", { name: "next.go" }).press("Enter");
      await panel.getByText("package schedule").waitFor();
      await picture(page, `panel-file-${name}`);
      await accessible(page, ".side");
      await page.keyboard.press("Enter"); // the focus is on the way back
      await panel.getByRole("button", { name: "next.go" }).waitFor();
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("next.go");
      expect(problems).toEqual([]);
    });
  }

  test("finds a file by letters of its name, and says what cannot be shown of it", async () => {
    const page = await world.page(`#/s/${sessionId}/files`);
    const panel = page.getByRole("tabpanel");
    const find = panel.getByRole("searchbox");
    const open = async (query: string, name: string) => {
      await find.fill(query);
      await panel.getByRole("button", { name }).click();
    };
    await open("pic", "picture.bin");
    await panel.getByText("It is not text.").waitFor();
    await panel.getByRole("button", { name: "Back to the files" }).click();
    await open("lont", "long.txt");
    await panel.getByText(/^Only the first 262 kB of 440 kB/).waitFor();
    await panel.getByRole("button", { name: "Back to the files" }).click();
    await open("host", "hostile.html");
    await panel.getByText("<script>alert(1)</script>[U+202E]gnp.exe").waitFor();
    await panel.getByRole("button", { name: "Back to the files" }).click();
    await find.fill("zzzz");
    await panel.getByText("No file has a name like that.").waitFor();
    expect(problems).toEqual([]);
  });

  test("says that a session has changed nothing, and shows what it changes then", async () => {
    const page = await world.page(`#/s/${untouched}/changes`);
    const panel = page.getByRole("tabpanel");
    await panel.getByText("The tools of this session have changed no file.").waitFor();
    await picture(page, "panel-changes-none");
    await say(client, untouched, "write", ["Write"]);
    await panel.getByRole("button", { name: /old\.txt/ }).waitFor();
    expect(problems).toEqual([]);
  });

  test("compares with the last commit where there is one", async () => {
    const page = await world.page(`#/s/${sessionId}/changes`);
    const panel = page.getByRole("tabpanel");
    await panel.getByRole("button", { name: /next\.go/ }).waitFor();
    expect(await panel.getByRole("button", { name: "Last commit" }).count()).toBe(0);
    const git = (...args: string[]) => execFileSync("git", ["-C", world.host.work, "-c", "user.name=n", "-c", "user.email=e@x", ...args]);
    git("init", "-q");
    git("add", "internal");
    git("commit", "-q", "-m", "m");
    await page.reload();
    await panel.getByRole("button", { name: "Last commit" }).click();
    await panel.getByText("Files that this session changed, from the last commit to now.").waitFor();
    expect(await panel.getByRole("button", { name: /next\.go/ }).count()).toBe(0);
    await picture(page, "panel-changes-commit");
    await accessible(page, ".side");
    expect(problems).toEqual([]);
  });
});
