/** The pictures of the page in docs/screens: `make screenshots`, which names that folder in SCREENS. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { newSessionID } from "../../client/index";
import type { Project, ProjectID } from "../../protocol/index";
import { desk, phone, withoutPages, World } from "./page";

const folder = process.env.SCREENS ?? "";

const before = `package schedule

// Next returns the time of the next run after last.
func (s *Schedule) Next(last time.Time) time.Time {
	next := last.Add(24 * time.Hour)
	if !next.After(s.guard) {
		return s.Next(next)
	}
	return next
}
`;

const script = [
  { script: 1 },
  {
    if: { user: "nightly" },
    do: [
      { thinking: "A day is not always 24 hours, so I look at what Next adds." },
      { text: "I look at how the next run is counted." },
      { call: "Read", input: { path: "next.go" } },
    ],
  },
  {
    if: { result: "package schedule" },
    do: [
      {
        call: "Edit",
        input: {
          path: "next.go",
          edits: [{ old_string: "last.Add(24 * time.Hour)", new_string: "last.AddDate(0, 0, 1)" }],
        },
      },
    ],
  },
  {
    if: { result: "." },
    do: [
      {
        text: "**Found it.** `Next` added 24 hours, and 9 March had only 23 of them, so 02:30 became 03:30 and the guard below took it for a run that had happened.\n\nIt adds a civil day now:\n\n| zone | days with 23 h | days with 25 h |\n|---|--:|--:|\n| America/Chicago | 1 | 1 |\n| Europe/Berlin | 1 | 1 |\n| Asia/Shanghai | 0 | 0 |\n",
      },
    ],
  },
  { again: true, do: [{ text: "Done." }] },
];

describe.skipIf(withoutPages !== "" || folder === "")("pictures of the page", () => {
  let world: World;
  let projectId: ProjectID;
  beforeAll(async () => {
    world = await World.start(script);
    world.host.write("next.go", before);
    projectId = (await world.host.request<Project>("register_project", { workDir: world.host.work })).projectId;
  });
  afterAll(async () => world?.close());

  const begin = async (text: string) => {
    const sessionId = newSessionID();
    await world.host.request("create_session", { projectId, meta: { workDir: world.host.work } }, sessionId);
    await world.host.request("send_message", { content: [{ type: "text", text }] }, sessionId);
    return sessionId;
  };
  const take = async (page: Page, name: string) => {
    await page.waitForTimeout(600); // colours of code come when the browser has time
    writeFileSync(join(folder, `web-${name}.png`), await page.screenshot());
  };

  test("are taken", async () => {
    for (const text of ["Release notes for 0.9", "Why is the search slow on Mondays?"]) await begin(text);
    const sessionId = await begin("The nightly job skipped 9 March. Find out why, and fix it.");
    const dark = { colorScheme: "dark" as const };
    const wide = await world.page(`#/s/${sessionId}`);
    const night = await world.page(`#/s/${sessionId}`, { ...desk, ...dark });
    const small = await world.page(`#/s/${sessionId}`, phone);
    const list = await world.page("#/", { ...phone, ...dark });
    for (const page of [wide, small]) await page.getByRole("heading", { name: /Edit next.go/ }).waitFor();
    await list.getByRole("link", { name: /nightly/ }).waitFor();
    await take(small, "phone-question");
    await take(list, "phone-list-dark");
    await wide.waitForTimeout(500);
    await wide.getByRole("button", { name: /Allow once/ }).click();
    for (const page of [wide, night]) await page.getByText("Found it.").waitFor();
    await wide.getByRole("button", { name: /^Edit/ }).first().waitFor();
    await night.getByRole("button", { name: "Dismiss" }).click();
    await take(wide, "desk");
    await take(night, "desk-dark");
  });
});
