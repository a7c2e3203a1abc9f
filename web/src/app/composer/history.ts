/** What was said before in a session, for the up arrow: messages of people on the path, and what was typed on this page. */
import type { PersistentEvent, SessionID } from "../../protocol/index";
import { textOf } from "../conversation/rows";

/** Inputs of this page that are remembered in a session, and sessions; messages come back from the path. */
const maxInputs = 50;
const maxSessions = 50;

const typed = new Map<SessionID, string[]>();

/** Remembers what was sent: a command or a shell line is on no path. */
export function remember(id: SessionID, text: string): void {
  const list = [...(typed.get(id) ?? []).filter((t) => t !== text), text].slice(-maxInputs);
  typed.delete(id);
  typed.set(id, list);
  const oldest = typed.keys().next().value;
  if (typed.size > maxSessions && oldest) typed.delete(oldest);
}

/** All of it, the newest last, each text once: what somebody said, not what came from a schedule or a channel. */
export function historyOf(id: SessionID, path: readonly PersistentEvent[]): string[] {
  const said: string[] = [];
  for (const e of path) {
    if (e.type !== "message" || e.message.role !== "user") continue;
    const { source } = e.message.meta ?? {};
    if (source && source !== "steer" && source !== "followUp") continue;
    const { content } = e.message;
    const text = typeof content === "string" ? content : textOf(content);
    if (text.trim() !== "") said.push(text);
  }
  return [...new Set([...said, ...(typed.get(id) ?? [])].reverse())].reverse();
}

type Answer = Extract<Extract<PersistentEvent, { type: "message" }>["message"], { role: "assistant" }>;

/** The newest answer of a model that fits. */
export function lastAnswer(path: readonly PersistentEvent[], fits: (m: Answer) => boolean): Answer | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const e = path[i];
    if (e?.type === "message" && e.message.role === "assistant" && fits(e.message)) return e.message;
  }
  return undefined;
}

/** A walk through the history: shown is what stands in the box because of it. */
export interface Walk {
  list: readonly string[];
  at: number;
  shown: string;
}

/** One step back (-1) or forward (1), undefined where there is none. Behind the newest is the empty box. */
export function step(walk: Walk, by: -1 | 1): Walk | undefined {
  const at = walk.at + by;
  if (at < 0 || at > walk.list.length) return undefined;
  return { ...walk, at, shown: walk.list[at] ?? "" };
}
