import type { Events, GetPath, Live, PersistentEvent, SessionEvent, Todo } from "../protocol/index";
import { applyEvent, emptyLive, isConversation, movedLeaf, todosOf, voidRunning } from "./fold";
import type { Update } from "./replay";

/** How many of the newest events of the path a projection shows unless it is asked for more. */
export const defaultWindow = 200;
/** The most events, and characters of their JSON, that it holds. It always holds one. */
const maxWindow = 2000;
const maxWindowChars = 32 << 20;

/** What a projection shows, as the traces of the Go client record it. */
export interface Screen {
  events: PersistentEvent[];
  more: boolean;
  todos?: Todo[];
  labels?: Record<string, string>;
  live: Live;
}

/** What of a session can be kept between two visits: nothing that was running. */
export interface Kept {
  live: Live;
  path: PersistentEvent[];
  complete: boolean;
}

/**
 * What a person sees of a session, folded from the updates of a subscription: the newest events
 * of the active path, and what is running. Two projections that are at the same place show the
 * same, whatever way their updates took, once nothing is missing.
 */
export class Projection {
  private want: number;
  private state: Live = emptyLive();
  private events: PersistentEvent[] = []; // the end of the active path, oldest first
  private sizes: number[] = []; // of their JSON
  private chars = 0;
  private complete = false; // the path begins with its first event
  private heavy = false; // older ones would be more than maxWindowChars
  private changes = 0;

  constructor(window: number = defaultWindow) {
    this.want = Math.min(window, maxWindow);
  }

  /** The state: what is running, queues, questions, meta, usage. It changes in place. */
  get live(): Live {
    return this.state;
  }

  /** The newest events of the active path, oldest first. A list that changes is replaced. */
  get path(): readonly PersistentEvent[] {
    return this.events;
  }

  /** Whether older events of the path exist than are held. */
  get more(): boolean {
    return !this.complete && Boolean(this.state.leafId);
  }

  /** Whether as many events are held as may be: older ones are not to be had here. */
  get full(): boolean {
    return this.heavy || this.events.length >= maxWindow;
  }

  /** Goes up with each change: what draws compares it. */
  get version(): number {
    return this.changes;
  }

  apply(u: Update): void {
    this.changes++;
    if (u.resync === "full_reload") this.reset();
    else if (u.resync === "persistent_fallback") voidRunning(this.state);
    for (const e of u.events) {
      if (e.seq <= this.state.throughSeq) continue;
      applyEvent(this.state, e);
      this.event(e);
    }
    if (u.live) {
      this.state = u.live;
      this.seek(u.live.leafId ?? "");
    }
  }

  /** The request for events of the path that belong on the screen and are not held, undefined when there are none. */
  missing(): GetPath | undefined {
    const first = this.events[0];
    if (this.complete || this.heavy || this.events.length >= this.want) return undefined;
    if (first) return { beforeId: first.id, limit: this.want - this.events.length };
    return this.state.leafId ? { leafId: this.state.leafId, limit: this.want } : undefined;
  }

  /**
   * Takes in the answer to what was missing and reports whether it did: one that is no longer
   * missing is dropped, so that a late answer replaces nothing that is newer. A page that cannot
   * be had is filled with an empty one, which is the beginning of the path then.
   */
  fill(asked: GetPath, page: Pick<Events, "events" | "more">): boolean {
    const late = asked.beforeId ? this.events[0]?.id !== asked.beforeId : this.events.length > 0 || this.state.leafId !== asked.leafId;
    if (this.complete || late) return false;
    const older = ((page.events ?? []) as PersistentEvent[]).slice().reverse();
    const sizes = older.map(sizeOf);
    this.events = [...older, ...this.events];
    this.sizes = [...sizes, ...this.sizes];
    for (const n of sizes) this.chars += n;
    this.complete = !page.more;
    this.trim();
    this.changes++;
    return true;
  }

  /** Wants n more events of the path on the screen, at most 2,000 in all; they are missing then. */
  older(n: number): void {
    this.want = Math.min(this.want + Math.max(0, n), maxWindow);
  }

  screen(): Screen {
    const s: Screen = { events: this.events, more: this.more, live: this.state };
    const ids = new Set<string>(this.events.map((e) => e.id));
    const labels = (this.state.labels ?? []).filter((l) => ids.has(l.targetEventId));
    if (labels.length > 0) s.labels = Object.fromEntries(labels.map((l) => [l.targetEventId, l.label]));
    for (let i = this.events.length - 1; i >= 0; i--) {
      const e = this.events[i] as PersistentEvent;
      const todos = e.type === "message" ? todosOf(e.message) : undefined;
      if (todos === undefined) continue;
      if (todos.length > 0) s.todos = todos;
      break;
    }
    return s;
  }

  /** What can be kept of at most so many characters of events; the copy shares events and lists. */
  keep(maxChars: number): Kept {
    const live = { ...this.state, usage: { ...this.state.usage } };
    voidRunning(live);
    live.streamEpoch = "" as Live["streamEpoch"];
    let from = this.events.length;
    for (let n = 0; from > 0; from--) {
      n += this.sizes[from - 1] ?? 0;
      if (n > maxChars) break;
    }
    return { live, path: this.events.slice(from), complete: this.complete && from === 0 };
  }

  /** Shows what was kept. */
  restore(kept: Kept): void {
    this.reset();
    this.state = kept.live;
    this.events = kept.path;
    this.sizes = kept.path.map(sizeOf);
    this.chars = this.sizes.reduce((a, b) => a + b, 0);
    this.complete = kept.complete;
    this.trim();
    this.changes++;
  }

  private reset(): void {
    this.state = emptyLive();
    this.events = [];
    this.sizes = [];
    this.chars = 0;
    this.complete = this.heavy = false;
  }

  /** Takes in one event, which is newer than all before and is in the state. */
  private event(e: SessionEvent): void {
    if (movedLeaf(e) !== undefined) return this.seek(this.state.leafId ?? "");
    if (!isConversation(e)) return;
    const p = e as PersistentEvent;
    this.seek(p.parentId ?? "");
    const size = sizeOf(p);
    this.events = [...this.events, p];
    this.sizes.push(size);
    this.chars += size;
    this.trim();
  }

  /** Cuts the path after an event; when that is not held, nothing is. */
  private seek(leaf: string): void {
    if (this.events.length > 0 && this.events.at(-1)?.id === leaf) return;
    const n = this.events.findIndex((e) => e.id === leaf) + 1;
    this.events = this.events.slice(0, n);
    for (const size of this.sizes.splice(n)) this.chars -= size;
    this.heavy = false;
    if (n === 0) this.complete = leaf === "";
  }

  /** Drops the oldest events that are too many. */
  private trim(): void {
    let n = Math.max(0, this.events.length - this.want);
    for (const size of this.sizes.slice(0, n)) this.chars -= size;
    for (; n < this.events.length - 1 && this.chars > maxWindowChars; n++) {
      this.chars -= this.sizes[n] ?? 0;
      this.heavy = true;
    }
    if (n === 0) return;
    this.events = this.events.slice(n);
    this.sizes.splice(0, n);
    this.complete = false;
  }
}

function sizeOf(e: PersistentEvent): number {
  return JSON.stringify(e).length;
}
