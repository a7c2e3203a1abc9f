import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ProjectID, SessionID } from "../../protocol/index";
import { useClient } from "../host/context";
import { keep, kept } from "../host/kept";
import { ErrorLine } from "../parts/ErrorLine";
import { Icon } from "../parts/controls";
import { useWords } from "../words/index";
import { ChevronDown } from "lucide-react";
import { HeadRow, ProjectRow, SessionRow } from "./rowviews";
import { deskRows, phoneRows, type Row } from "./rows";
import { see } from "./seen";
import { placesOf, usePlaces } from "./store";
import { projectNames } from "./summary";
import { placesWords } from "./words";

/** Folded projects that are kept. */
const maxFolded = 100;

/** The sessions, drawn as far as they are seen. ↑ and ↓ go through them; Tab leaves. */
export function SessionList({ phone, current }: { phone: boolean; current: SessionID | "" }) {
  const w = useWords(placesWords);
  const store = placesOf(useClient());
  const places = usePlaces();
  const [folded, setFolded] = useState(readFolded);
  const [open, setOpen] = useState<ReadonlySet<ProjectID>>(new Set());
  const [only, setOnly] = useState<ProjectID>();
  const rows = useMemo(() => (phone ? phoneRows(places, only) : deskRows(places, { folded, open })), [phone, places, only, folded, open]);
  const names = useMemo(() => {
    const all = projectNames(places.projects);
    return places.projects.map((p) => [p.projectId, all.get(p.projectId) ?? ""] as const);
  }, [places.projects]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => estimate(rows[i], phone),
    getItemKey: (i) => rows[i]?.key ?? i,
    overscan: 8,
  });
  const summary = current ? places.sessions.find((s) => s.sessionId === current) : undefined;
  useEffect(() => {
    if (!summary) return;
    const look = () => document.visibilityState === "visible" && see(summary);
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [summary]);

  const fold = useCallback(
    (id: ProjectID) => {
      const isFolded = rows.some((r) => r.kind === "project" && r.project.projectId === id && r.folded);
      const empty = !rows.some((r) => r.kind === "session" && r.s.meta.projectId === id);
      setFolded((was) => {
        const next = new Set(was);
        if (isFolded) next.delete(id);
        else next.add(id);
        keep("folded", JSON.stringify([...next].slice(-maxFolded)));
        return next;
      });
      setOpen((was) => {
        const next = new Set(was);
        if (isFolded && empty) next.add(id);
        else next.delete(id);
        return next;
      });
    },
    [rows],
  );

  // One row is a stop of Tab: the one that had the focus last, else the current session, else the first.
  const [stop, setStop] = useState("");
  const stopKey = rows.some((r) => r.key === stop && focusable(r))
    ? stop
    : rows.some((r) => r.key === current)
      ? current
      : (rows.find(focusable)?.key ?? "");
  const key = (e: KeyboardEvent<HTMLDivElement>) => {
    if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(e.key) || e.altKey || e.ctrlKey || e.metaKey) return;
    if (!box.current?.contains(e.target as Node)) return; // in a menu or a dialog of a row
    const at = Number((e.target as Element).closest("[data-index]")?.getAttribute("data-index"));
    if (Number.isNaN(at)) return;
    const step = e.key === "ArrowUp" || e.key === "End" ? -1 : 1;
    let to = e.key === "Home" ? 0 : e.key === "End" ? rows.length - 1 : at + step;
    while (rows[to] && !focusable(rows[to])) to += step;
    const row = rows[to];
    if (!row) return;
    e.preventDefault();
    setStop(row.key);
    virtual.scrollToIndex(to);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-index="${to}"] :is(a, button)`)?.focus()),
    );
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the links and buttons in it
    <div className={phone ? "plist" : "list"} ref={box} onKeyDown={key}>
      <ErrorLine error={places.error} />
      {!places.starting && places.sessions.length === 0 && <p className="railnote t3">{w.none}</p>}
      {/* biome-ignore lint/a11y/noRedundantRoles: a list without marks is none to some screen readers */}
      <ul role="list" className="virtual" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className={place(rows, item.index, phone)}
              style={{ transform: `translateY(${item.start}px)` }}
              onFocus={() => setStop(row.key)}
            >
              {row.kind === "head" && <HeadRow of={row.of} n={row.n} only={only} projects={names} onOnly={phone ? setOnly : undefined} />}
              {row.kind === "project" && (
                <>
                  <ProjectRow
                    project={row.project}
                    name={row.name}
                    folded={row.folded}
                    tabIndex={row.key === stopKey ? 0 : -1}
                    onFold={fold}
                  />
                  {row.empty && !row.folded && <p className="railnote t3">{w.noneHere}</p>}
                </>
              )}
              {row.kind === "session" && (
                <SessionRow
                  s={row.s}
                  place={row.place}
                  tall={row.tall}
                  phone={phone}
                  current={row.s.sessionId === current}
                  tabIndex={row.key === stopKey ? 0 : -1}
                />
              )}
              {row.kind === "more" && (
                <button
                  type="button"
                  className="sess moreof"
                  tabIndex={row.key === stopKey ? 0 : -1}
                  onClick={() => row.projectId && setOpen((was) => new Set([...was, row.projectId as ProjectID]))}
                >
                  <Icon of={ChevronDown} small />
                  <span className="name t3">{w.more}</span>
                </button>
              )}
              {row.kind === "loading" && <Loading text={w.loading} load={() => void store.loadMore(row.projectId)} count={rows.length} />}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The end of what is loaded: being drawn, it asks for more. */
function Loading({ text, load, count }: { text: string; load(): void; count: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when more is there
  useEffect(load, [count]);
  return <p className="railnote t3">{text}</p>;
}

function focusable(r: Row): boolean {
  return r.kind === "session" || r.kind === "project" || r.kind === "more";
}

/** Where a row is in the card of those that wait, on the phone. */
function place(rows: readonly Row[], i: number, phone: boolean): string | undefined {
  if (!phone) return undefined;
  const group = (n: number) => {
    for (let at = n; at >= 0; at--) {
      const r = rows[at];
      if (r?.kind === "head") return r.of;
    }
    return "";
  };
  if (rows[i]?.kind !== "session" || i > 200 || group(i) !== "waiting") return undefined;
  const first = rows[i - 1]?.kind === "head";
  const last = rows[i + 1]?.kind !== "session";
  return ["waitcard", first && "first", last && "last"].filter(Boolean).join(" ");
}

function estimate(r: Row | undefined, phone: boolean): number {
  if (phone) return r?.kind === "session" ? 61 : 44;
  if (r?.kind === "session") return r.tall ? 50 : 32;
  return r?.kind === "more" ? 32 : 38;
}

function readFolded(): ReadonlySet<ProjectID> {
  try {
    const list: unknown = JSON.parse(kept("folded") ?? "[]");
    return new Set(Array.isArray(list) ? list.filter((id): id is ProjectID => typeof id === "string") : []);
  } catch {
    return new Set();
  }
}
