/** The rows of the list, as data: what is drawn of 13,000 sessions is a window into them. */
import type { Project, ProjectID, SessionSummary } from "../../protocol/index";
import type { Places } from "./store";
import { projectNames, standingOf } from "./summary";

export type Row =
  | { kind: "head"; key: string; of: "waiting" | "working" | "earlier"; n: number }
  | { kind: "project"; key: string; project: Project; name: string; folded: boolean; empty: boolean }
  | { kind: "session"; key: string; s: SessionSummary; place: string; tall: boolean }
  /** more: a button for the rest of a project. loading: asks for the next page as soon as it is drawn. */
  | { kind: "more" | "loading"; key: string; projectId?: ProjectID };

/** How many sessions a project shows before more are asked for. */
export const shownFirst = 5;

/** What a person has folded and unfolded. */
export interface Folds {
  folded: ReadonlySet<ProjectID>;
  /** those that show all their sessions */
  open: ReadonlySet<ProjectID>;
}

/** The desk: what waits, of all projects, then each project with its sessions. */
export function deskRows(places: Places, folds: Folds): Row[] {
  const names = projectNames(places.projects);
  const place = (s: SessionSummary) => (s.meta.projectId && names.get(s.meta.projectId)) || "";
  const waiting: SessionSummary[] = [];
  const byProject = new Map<string, SessionSummary[]>();
  for (const s of places.sessions) {
    if (standingOf(s, true) === "waits") waiting.push(s);
    else {
      const id = s.meta.projectId && names.has(s.meta.projectId) ? s.meta.projectId : "";
      const list = byProject.get(id);
      if (list) list.push(s);
      else byProject.set(id, [s]);
    }
  }
  const waitingIn = new Set(waiting.map((s) => s.meta.projectId as string | undefined));
  const rows: Row[] = [];
  if (waiting.length > 0) rows.push({ kind: "head", key: "waiting", of: "waiting", n: waiting.length });
  for (const s of waiting) rows.push({ kind: "session", key: s.sessionId, s, place: place(s), tall: true });
  const known = new Map(places.projects.map((p) => [p.projectId as string, p]));
  // Projects in the order of their newest sessions; then those of which none is loaded yet.
  const order = [...byProject.keys(), ...places.projects.map((p) => p.projectId as string).filter((id) => !byProject.has(id))];
  for (const id of order) {
    const project = known.get(id);
    const list = byProject.get(id) ?? [];
    if (!project) continue;
    const reach = places.reach.get(project.projectId);
    const more = reach ? reach.more : places.more;
    const untouched = list.length === 0;
    const folded = folds.folded.has(project.projectId) || (untouched && more && !folds.open.has(project.projectId));
    rows.push({
      kind: "project",
      key: `p ${id}`,
      project,
      name: names.get(id) ?? "",
      folded,
      empty: untouched && !more && !waitingIn.has(id),
    });
    if (folded) continue;
    const open = folds.open.has(project.projectId);
    for (const s of open ? list : list.slice(0, shownFirst))
      rows.push({ kind: "session", key: s.sessionId, s, place: names.get(id) ?? "", tall: false });
    if (open ? more : list.length > shownFirst || (more && !untouched))
      rows.push({ kind: open ? "loading" : "more", key: `m ${id}`, projectId: project.projectId });
  }
  const lost = byProject.get("") ?? []; // their project was taken off the list
  if (lost.length > 0) {
    rows.push({ kind: "head", key: "earlier", of: "earlier", n: lost.length });
    for (const s of lost) rows.push({ kind: "session", key: s.sessionId, s, place: "", tall: false });
  }
  return rows;
}

/** The phone: what waits, what works, and the others by time; of one project where one is chosen. */
export function phoneRows(places: Places, only?: ProjectID): Row[] {
  const names = projectNames(places.projects);
  const parts: Record<"waiting" | "working" | "earlier", SessionSummary[]> = { waiting: [], working: [], earlier: [] };
  for (const s of places.sessions) {
    const standing = standingOf(s, true);
    const part = standing === "waits" ? "waiting" : standing === "working" ? "working" : "earlier";
    if (part === "waiting" || !only || s.meta.projectId === only) parts[part].push(s);
  }
  const rows: Row[] = [];
  for (const of of ["waiting", "working", "earlier"] as const) {
    if (parts[of].length === 0 && !(of === "earlier" && only)) continue; // where a project is chosen, it can be changed
    rows.push({ kind: "head", key: of, of, n: parts[of].length });
    for (const s of parts[of])
      rows.push({ kind: "session", key: s.sessionId, s, place: (s.meta.projectId && names.get(s.meta.projectId)) || "", tall: true });
  }
  const more = only ? (places.reach.get(only)?.more ?? true) : places.more;
  if (more && !places.starting) rows.push({ kind: "loading", key: "m", ...(only ? { projectId: only } : {}) });
  return rows;
}
