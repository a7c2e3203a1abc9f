/** What a session is called, where it belongs, how it stands, and what it asks: from its summary. */
import { cleanLine } from "../../display/clean";
import type { Project, SessionSummary } from "../../protocol/index";

/** The title of a session for people, "" while it has none. */
export function titleOf(s: SessionSummary): string {
  return cleanLine(s.meta.name || s.state?.title || s.firstPrompt || "");
}

/** The last name of a path; of / itself. */
export function baseOf(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

/** Names of projects by their ids: the name of the folder, with the one above it where two have the same. */
export function projectNames(projects: readonly Project[]): Map<string, string> {
  const count = new Map<string, number>();
  for (const p of projects) count.set(baseOf(p.root), (count.get(baseOf(p.root)) ?? 0) + 1);
  return new Map(
    projects.map((p) => {
      const name = baseOf(p.root);
      const above = baseOf(p.root.slice(0, Math.max(0, p.root.lastIndexOf("/"))));
      return [p.projectId, (count.get(name) ?? 0) > 1 && above ? `${above}/${name}` : name];
    }),
  );
}

/** waits: for a person. done: something happened that this browser has not shown. */
export type Standing = "waits" | "working" | "failed" | "done" | "seen";

export function standingOf(s: SessionSummary, seen: boolean): Standing {
  const job = s.meta.job?.state;
  if (s.state?.asking || job === "waiting") return "waits";
  if (s.state?.running || job === "working") return "working";
  if (s.damaged || job === "failed") return "failed";
  return seen ? "seen" : "done";
}

/** What is asked: a plan, an answer, or the name of the tool that wants to run, and about what. */
export interface Asked {
  what: "plan" | "answer" | "job" | { tool: string };
  about: string;
}

/** What a session that waits asks, from the line that the host has of it (Asked in protocol/display). */
export function askedOf(s: SessionSummary): Asked {
  const line = s.state?.question ?? "";
  if (!s.state?.asking) return { what: "job", about: "" };
  if (line === "Carry out the plan?") return { what: "plan", about: "" };
  const tool = /^Allow ([A-Z][A-Za-z]{1,11}) (.*)$/.exec(line);
  if (tool) return { what: { tool: tool[1] ?? "" }, about: tool[2] ?? "" };
  return { what: "answer", about: line };
}
