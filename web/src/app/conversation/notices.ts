/**
 * What the host, extensions and hooks tell people of a session beside the conversation: what was
 * found when it was opened, and the event notice. Each is told once, and can be read again as long
 * as the page is open.
 */
import { useCallback, useEffect, useSyncExternalStore } from "react";
import { cleanLine, cleanText } from "../../display/clean";
import type { SessionID } from "../../protocol/index";
import { useLive, useSession, useUpdates } from "../host/context";
import { tell } from "../parts/tell";
import { useWords } from "../words/index";
import { conversationWords } from "./words";

export interface Heard {
  key: number;
  /** When it came, in Unix milliseconds. */
  at: number;
  text: string;
  bad: boolean;
}

/** Notices of a session, and sessions of which some are kept; the oldest go first. */
const maxHeard = 100;
const maxSessions = 32;
/** Characters of a notice that are told at once; the whole of it stays to be read. */
const maxTold = 500;

const heard = new Map<SessionID, readonly Heard[]>();
const listeners = new Set<() => void>();
const none: readonly Heard[] = [];
let next = 1;

/** Tells the notices of the session that is shown. */
export function useNotices(): void {
  const w = useWords(conversationWords);
  const { sessionId } = useSession();
  useUpdates((u) => {
    for (const e of u.events) {
      if (e.type !== "notice") continue;
      const source = cleanLine(e.source ?? "");
      const said = cleanText(e.text);
      hear(sessionId, e.ts, source ? `${source}: ${said}` : said, e.level !== "info");
    }
  });
  const opened = useLive((_, s) => s.opened);
  useEffect(() => {
    const { findings = [], holds = [], interrupted } = opened ?? {};
    const found = [
      ...findings.map((f) => w.found(cleanText(f))),
      ...holds.map(cleanText),
      ...(interrupted ? [cleanText(interrupted)] : []),
    ];
    // A session is opened again with each connection, and says the same again.
    for (const text of found) if (!heard.get(sessionId)?.some((h) => h.text === text)) hear(sessionId, Date.now(), text, true);
  }, [sessionId, opened, w]);
}

function hear(sessionId: SessionID, at: number, text: string, bad: boolean): void {
  heard.set(sessionId, [...(heard.get(sessionId) ?? none), { key: next++, at, text, bad }].slice(-maxHeard));
  for (const first of heard.keys()) if (heard.size > maxSessions) heard.delete(first);
  for (const l of listeners) l();
  tell(text.length > maxTold ? `${text.slice(0, maxTold)}…` : text, { bad });
}

/** The notices of the session that is shown, oldest first. */
export function useHeard(): readonly Heard[] {
  const { sessionId } = useSession();
  return useSyncExternalStore(
    useCallback((changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    }, []),
    () => heard.get(sessionId) ?? none,
  );
}
