/**
 * What this browser has shown of which session, so that the list can say where something new
 * happened. Bounded: when the oldest note goes, everything up to its time counts as seen.
 */
import { useSyncExternalStore } from "react";
import type { SessionSummary } from "../../protocol/index";
import { keep, kept } from "../host/kept";

const keptAs = "seen";
/** Sessions that are noted one by one. */
export const maxSeen = 500;

interface Notes {
  /** Everything that changed until then counts as seen: the first visit begins with nothing new. */
  since: number;
  of: Record<string, number>;
}

let notes: Notes | undefined;
const listeners = new Set<() => void>();

function read(): Notes {
  if (notes) return notes;
  try {
    const said = JSON.parse(kept(keptAs) ?? "") as Notes;
    if (typeof said.since === "number" && typeof said.of === "object" && said.of) notes = said;
  } catch {
    // nothing is kept yet
  }
  notes ??= { since: Date.now(), of: {} };
  return notes;
}

/** Whether what happened last in a session was shown here. */
export function isSeen(s: Pick<SessionSummary, "sessionId" | "updatedAt">, now: Notes = read()): boolean {
  return s.updatedAt <= Math.max(now.since, now.of[s.sessionId] ?? 0);
}

/** Notes that a session is shown as it is. */
export function see(s: Pick<SessionSummary, "sessionId" | "updatedAt">): void {
  if (isSeen(s)) return;
  const { since, of } = read();
  notes = bounded({ since, of: { ...of, [s.sessionId]: s.updatedAt } });
  keep(keptAs, JSON.stringify(notes));
  for (const l of listeners) l();
}

/** Drops the oldest notes above the bound. */
export function bounded({ since, of }: Notes): Notes {
  const sorted = Object.entries(of).sort((a, b) => b[1] - a[1]);
  const gone = sorted.slice(maxSeen);
  if (gone.length === 0) return { since, of };
  return { since: Math.max(since, gone[0]?.[1] ?? 0), of: Object.fromEntries(sorted.slice(0, maxSeen)) };
}

export function useSeen(): Notes {
  return useSyncExternalStore((l) => {
    listeners.add(l);
    return () => listeners.delete(l);
  }, read);
}
