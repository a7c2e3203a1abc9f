/** What a call has told of its progress, as steps with times: pure, and tested without a page. */
import { cleanLine } from "../../display/clean";
import type { ProcessEvent, ProcessSummary } from "../../protocol/index";

/** Steps that are shown of a call; the newest stay. */
const maxSteps = 60;

export interface ProcessStep {
  key: string;
  text: string;
  state: "queued" | "running" | "done" | "failed" | "stopped";
  /** How far it is, 0 to 1; undefined is not known. */
  share: number | undefined;
  /** Unix milliseconds of its first and last word. */
  from: number;
  to: number;
}

const states: Record<string, ProcessStep["state"]> = {
  queued: "queued",
  completed: "done",
  failed: "failed",
  cancelled: "stopped",
  skipped: "stopped",
};

/** One step for each stage of an operation, in the order in which they began. over: the call has ended, so nothing of it runs. */
export function stepsOf(events: readonly ProcessEvent[], over: boolean): ProcessStep[] {
  const steps = new Map<string, ProcessStep>();
  const running = new Map<string, ProcessStep>(); // by operation: its newest stage
  for (const e of events) {
    const at = Date.parse(e.timestamp);
    if (Number.isNaN(at)) continue;
    const key = `${e.operationId} ${e.stage ?? ""}`;
    const before = running.get(e.operationId);
    let s = steps.get(key);
    if (!s) {
      s = { key, text: "", state: "running", share: undefined, from: at, to: at };
      steps.set(key, s);
    }
    // A stage lasts until the next one of its operation begins.
    if (before && before !== s && before.state === "running") {
      before.state = "done";
      before.to = Math.max(before.to, at);
    }
    running.set(e.operationId, s);
    s.text = [e.stage, e.message !== e.stage && e.message]
      .filter(Boolean)
      .map((t) => cleanLine(String(t)))
      .join(": ");
    s.state = states[e.status] ?? "running";
    s.to = Math.max(s.to, at);
    s.share = e.percent === undefined ? undefined : Math.min(1, Math.max(0, e.percent / 100));
  }
  const all = [...steps.values()].slice(-maxSteps);
  if (over) for (const s of all) if (s.state === "running" || s.state === "queued") s.state = "done";
  return all;
}

/** The events that the result of a call has kept. */
export function eventsOf(process: unknown): readonly ProcessEvent[] {
  const p = process as ProcessSummary | null | undefined;
  if (typeof p !== "object" || p === null) return [];
  if (Array.isArray(p.events) && p.events.length > 0) return p.events;
  return p.latest ? [p.latest] : [];
}
