import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { accessible, desk, phone, picture, problems, withoutPages, World } from "../testing/page";
import { SignInServer } from "./signin";
import { program, sessionThatSaid } from "./testing";

if (withoutPages !== "") console.log(withoutPages);

describe.skipIf(withoutPages !== "")("the sign-in to an MCP server", () => {
  let world: World;
  let client: Client;
  let server: SignInServer;
  let sessionId: SessionID;
  beforeAll(async () => {
    server = await SignInServer.start();
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Hello." }] }]);
    const servers = { kept: { type: "http", url: `${server.base}/mcp` } };
    writeFileSync(join(world.host.home, ".scorel/mcp.json"), JSON.stringify({ mcpServers: servers }));
    client = program(world);
    sessionId = await sessionThatSaid(client, world, "hello");
  });
  afterAll(async () => {
    await client?.close();
    await world?.close();
    server?.close();
  });

  test("waits for a person, can be given up, and ends by itself when they have signed in elsewhere", async () => {
    const page = await world.page(`#/s/${sessionId}/extensions`, desk);
    const entry = page.getByRole("listitem", { name: "kept" });
    await entry.getByText("sign-in needed").waitFor();
    await entry.getByRole("button", { name: "Sign in to kept" }).click();
    await entry.getByRole("link", { name: /^Open 127\.0\.0\.1/ }).waitFor();
    await picture(page, "panel-signin");
    await accessible(page, ".side");
    await entry.getByRole("button", { name: "Cancel" }).click();
    await entry.getByRole("button", { name: "Sign in to kept" }).click();
    const link = entry.getByRole("link", { name: /^Open 127\.0\.0\.1/ });
    await entry.getByLabel("Address where it ended").fill("http://127.0.0.1/nothing");
    await entry.getByRole("button", { name: "Use this address" }).click();
    await entry.getByRole("alert").waitFor(); // the host says what is wrong with it, and the sign-in goes on
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(await link.getAttribute("target")).toBe("_blank");
    const address = (await link.getAttribute("href")) ?? "";
    await fetch(address); // the sign-in server sends the browser back to the host
    await entry.getByText("signed in").waitFor();
    await entry.getByText("connected", { exact: true }).waitFor();
    await picture(page, "panel-signed-in");
    expect(problems).toEqual([]);
  });

  test("shows on a phone that somebody has signed in", async () => {
    const page = await world.page(`#/s/${sessionId}/extensions`, phone);
    await page.getByRole("listitem", { name: "kept" }).getByText("signed in").waitFor();
    await picture(page, "panel-signed-in-phone");
    await accessible(page, ".side");
    expect(problems).toEqual([]);
  });
});
