import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";
import { program, sessionThatSaid } from "./testing";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const notes = join(root, "internal/host/mcpservers/testdata/servers/notes.py");

if (withoutPages !== "") console.log(withoutPages);

/** What a user has installed: an extension, MCP servers, a skill, an agent, a hook. */
function install(home: string): void {
  const put = (name: string, text: string) => {
    const path = join(home, ".scorel", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  mkdirSync(join(home, ".scorel/extensions"), { recursive: true });
  copyFileSync(join(root, "examples/extensions/todo-tool.ts"), join(home, ".scorel/extensions/todo-tool.ts"));
  put("extensions/broken.ts", "export default function (pi) { throw new Error('it has no heart'); }\n");
  const servers = {
    notes: { command: "python3", args: [notes] },
    broken: { command: "/does/not/exist" },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the host replaces it
    keyed: { command: "python3", args: [notes, "${input:token}"] },
  };
  put(
    "mcp.json",
    JSON.stringify({
      mcpServers: servers,
      inputs: [{ id: "token", type: "promptString", description: "The token of the server", password: true }],
    }),
  );
  put("skills/release-notes/SKILL.md", "---\nname: Release notes\ndescription: Writes release notes\n---\nRead git log.\n");
  put("skills/broken/SKILL.md", "---\nname: [\n---\n");
  put("agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews a change\ntools: Read, Grep\n---\nYou review changes.\n");
  appendFileSync(join(home, ".scorel/config.toml"), '\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "exit 0"\n');
}

describe.skipIf(withoutPages !== "")("the panel of extensions", () => {
  let world: World;
  let client: Client;
  let sessionId: SessionID;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Hello." }] }]);
    install(world.host.home);
    client = program(world);
    sessionId = await sessionThatSaid(client, world, "hello");
  });
  afterAll(async () => {
    await client?.close();
    await world?.close();
  });

  const section = (page: Page, name: string) => page.locator("details.section", { has: page.getByRole("heading", { name, exact: true }) });
  const open = async (page: Page, name: string) => {
    await page.getByRole("heading", { name, exact: true }).click();
    return section(page, name);
  };

  const looks = {
    desk,
    phone,
    "phone-dark": { ...phone },
    "desk-zh": { ...desk, locale: "zh-CN" },
    narrow: { ...phone, viewport: { width: 320, height: 700 } },
  };
  for (const [name, options] of Object.entries(looks)) {
    test(`shows what is installed and how it stands: ${name}`, async () => {
      const page = await world.page(`#/s/${sessionId}/extensions`, options);
      const panel = page.getByRole("tabpanel");
      await panel.getByText("it has no heart").first().waitFor();
      await panel.getByText("/does/not/exist").first().waitFor();
      if (name.endsWith("dark")) await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
      await picture(page, `panel-extensions-${name}`);
      await accessible(page, ".side");
      expect(problems).toEqual([]);
    });
  }

  test("switches an extension off and on, and says what it adds", async () => {
    const page = await world.page(`#/s/${sessionId}/extensions`);
    const list = section(page, "Extensions");
    await list.getByText("Details").first().click();
    await list.getByText("Tools:").waitFor();
    await list.getByRole("button", { name: "Disable A list of things to do" }).click();
    await list.getByRole("button", { name: "Enable todo-tool" }).click();
    await list.getByRole("button", { name: "Disable A list of things to do" }).waitFor();
  });

  test("shows MCP servers: their tools, log, a question; reconnects one and switches it off", async () => {
    const page = await world.page(`#/s/${sessionId}/extensions`);
    const list = section(page, "MCP servers");
    const server = list.getByRole("listitem", { name: "notes" });
    await server.getByText("1 tool · 1 prompt · 1 resource").waitFor();
    await server.getByText("Log").click();
    await server.getByText("The log is empty.").or(server.getByRole("region")).waitFor();
    await server.getByRole("button", { name: "Reconnect notes" }).click();
    await server.getByText("connected", { exact: true }).waitFor();
    const keyed = list.getByRole("listitem", { name: "keyed" });
    await keyed.getByLabel("The token of the server").fill("abc");
    await keyed.getByRole("button", { name: "Save" }).click();
    await keyed.getByText("An answer is saved.").waitFor();
    await picture(page, "panel-servers");
    await accessible(page, ".side");
    await server.getByRole("button", { name: "Disable notes" }).click();
    await server.getByRole("button", { name: "Enable notes" }).waitFor();
    await server.getByRole("button", { name: "Enable notes" }).click();
    await server.getByRole("button", { name: "Disable notes" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("shows skills, agents, tools, hooks and memory, and adds a note", async () => {
    const page = await world.page(`#/s/${sessionId}/extensions`);
    const skills = await open(page, "Skills");
    await skills.getByText("Writes release notes").waitFor();
    await skills.getByRole("listitem", { name: "release-notes" }).getByText("Details").click();
    await skills.getByText("Read git log.").waitFor();
    const agents = await open(page, "Agents");
    await agents.getByText("Reviews a change").waitFor();
    const hooks = await open(page, "Hooks");
    await hooks.getByText("exit 0").waitFor();
    const tools = await open(page, "Tools");
    await tools.getByLabel("Find a tool").fill("bas");
    await tools.getByRole("listitem", { name: "Bash", exact: true }).waitFor();
    expect(await tools.getByRole("listitem", { name: "Edit", exact: true }).count()).toBe(0);
    const memory = await open(page, "Memory");
    await memory.getByText("No notes yet.").waitFor();
    await memory.getByLabel("Add a note").fill("run make generate before the tests");
    await memory.getByRole("button", { name: "Add" }).click();
    await memory.getByRole("listitem", { name: "this project" }).getByText("Details").click();
    await memory.getByText("run make generate before the tests").waitFor();
    await memory.scrollIntoViewIfNeeded();
    await picture(page, "panel-memory");
    await accessible(page, ".side");
    expect(problems).toEqual([]);
  });

  test("says with the host's sentence what it refuses", async () => {
    const page = await world.page(`#/s/${sessionId}/extensions`);
    const memory = await open(page, "Memory");
    await memory.getByLabel("Add a note").fill("password: hunter2-hunter2-hunter2 sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789");
    await memory.getByRole("button", { name: "Add" }).click();
    await memory.getByRole("alert").waitFor();
    await picture(page, "panel-memory-refused");
  });
});
