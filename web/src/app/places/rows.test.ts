import { expect, test } from "vitest";
import type { Project, ProjectID, SessionSummary } from "../../protocol/index";
import { deskRows } from "./rows";
import type { Places } from "./store";

const id = "prj_one" as ProjectID;
const session = (name: string, asking: boolean) =>
  ({ sessionId: `ses_${name}`, meta: { projectId: id, name }, state: { asking } }) as unknown as SessionSummary;
const places = (sessions: SessionSummary[]): Places => ({
  sessions,
  projects: [{ projectId: id, root: "/home/ada/one", workDir: "/home/ada/one" } as unknown as Project],
  starting: false,
  more: false,
  error: undefined,
  reach: new Map(),
});
const emptyOf = (sessions: SessionSummary[]) =>
  deskRows(places(sessions), { folded: new Set(), open: new Set() }).flatMap((r) => (r.kind === "project" ? [r.empty] : []));

test("a project is empty without a session, and not when its only one waits above", () => {
  expect(emptyOf([])).toEqual([true]);
  expect(emptyOf([session("waits", true)])).toEqual([false]);
  expect(emptyOf([session("rests", false)])).toEqual([false]);
});
