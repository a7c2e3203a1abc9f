/**
 * The sessions and projects of the device: one list for the whole page, for as long as its client
 * lives. Sessions come in pages, newest first, and per project as far as they are looked at; what
 * changes on the device is taken in at once. Those of sub-agents are left out.
 */
import { useCallback, useSyncExternalStore } from "react";
import { type Client, SessionIndex } from "../../client/index";
import type { Project, ProjectID, SessionID, SessionState, SessionSummary } from "../../protocol/index";
import { useClient } from "../host/context";

/** How many sessions are asked for at once: the first page is small, so that it is there at once. */
const firstPage = 100;
const nextPage = 500;
/** Open sessions that no page has had are asked for by their ids, at most so many at once. */
const maxStrays = 20;
/** What open sessions are at is asked for after a change, and again while something goes on. */
const stateAfterMs = 400;
const stateEveryMs = 10_000;

/** How far a list is loaded: after what it goes on, and whether there is more. */
interface Reach {
  last?: SessionSummary;
  more: boolean;
  loading: boolean;
}

export interface Places {
  /** Those that are known, those that changed last first. The list is replaced when it changes. */
  sessions: readonly SessionSummary[];
  projects: readonly Project[];
  /** Nothing is known yet. */
  starting: boolean;
  /** There are older ones of all projects. */
  more: boolean;
  error: Error | undefined;
  /** How far single projects are loaded. */
  reach: ReadonlyMap<ProjectID, { more: boolean; loading: boolean }>;
}

/** The list of one client. Its methods may be called at any time; what fails is in error until something succeeds. */
export class PlaceStore {
  private index = new SessionIndex();
  private all: Reach = { more: false, loading: false };
  private own = new Map<ProjectID, Reach>();
  private readonly hidden = new Set<SessionID>(); // open ones that belong in no list
  private readonly listeners = new Set<() => void>();
  private readonly off: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private fresh = true; // the first page is on its way: what is shown stays
  private turn = 0; // goes up when all begins again: answers of before are dropped
  places: Places = { sessions: [], projects: [], starting: true, more: false, error: undefined, reach: new Map() };

  constructor(private readonly client: Client) {
    this.off = client.onDevice((c) => {
      if (c.missed) return this.begin();
      if (c.projects) void this.loadProjects();
      const sessions = c.sessions.filter((s) => s.deleted || !s.summary.parent);
      if (sessions.length === 0) return;
      this.index.changed({ sessions });
      this.changed({}, !this.fresh);
      this.stateSoon(stateAfterMs);
    });
    client.onStatus((s) => s.state === "disconnected" && this.end());
    this.begin();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get(id: SessionID): SessionSummary | undefined {
    return this.index.get(id);
  }

  /** Loads older ones: of a project, or of all. */
  async loadMore(projectId?: ProjectID): Promise<void> {
    const reach = projectId ? (this.own.get(projectId) ?? { more: true, loading: false }) : this.all;
    if (projectId) this.own.set(projectId, reach);
    if (reach.loading || !reach.more) return;
    await this.load(reach, nextPage, projectId);
  }

  /** Asks for everything again; what is shown stays until the answer is there. */
  begin(): void {
    this.turn++;
    this.fresh = true;
    const index = new SessionIndex();
    this.all = { more: true, loading: false };
    this.own = new Map();
    void this.loadProjects();
    const before = this.index;
    this.index = index;
    void this.load(this.all, firstPage).then((ok) => {
      if (!ok && this.index === index) {
        this.index = before; // what was known is better than nothing
        this.fresh = false;
      } else this.stateSoon(0);
    });
  }

  private async load(reach: Reach, limit: number, projectId?: ProjectID): Promise<boolean> {
    const { turn, index } = this;
    reach.loading = true;
    this.changed({}, false);
    const { last } = reach;
    try {
      const page = await index.load((r) => this.client.call("list_sessions", r), {
        limit,
        ...(projectId ? { projectId } : {}),
        ...(last ? { before: last.sessionId, beforeTime: last.updatedAt } : {}),
      });
      if (turn !== this.turn) return true;
      reach.loading = false;
      reach.more = page.more ?? false;
      const end = page.sessions?.at(-1);
      if (end) reach.last = end;
      this.fresh = false;
      this.changed({ starting: false, error: undefined });
      return true;
    } catch (e) {
      if (turn !== this.turn) return true;
      reach.loading = false;
      this.changed({ starting: false, error: asError(e) }, false);
      return false;
    }
  }

  private async loadProjects(): Promise<void> {
    try {
      const { projects } = await this.client.call("list_projects", {});
      this.changed({ projects: projects ?? [] }, false);
    } catch (e) {
      this.changed({ error: asError(e) }, false);
    }
  }

  private stateSoon(ms: number): void {
    if (this.timer !== undefined && ms === stateEveryMs) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.loadStates();
    }, ms);
  }

  /** Asks what open sessions are at: no frame comes for each step of a turn. */
  private async loadStates(): Promise<void> {
    const { turn } = this;
    let states: SessionState[];
    try {
      states = (await this.client.call("get_status", {})).sessions ?? [];
    } catch {
      return; // frames still tell who runs and who asks; the next change asks again
    }
    if (turn !== this.turn) return;
    const open = new Map(states.map((s) => [s.sessionId, s]));
    const changed = this.index
      .list()
      .filter((s) => !same(s.state, open.get(s.sessionId)))
      .map((s) => ({ type: "session_changed" as const, summary: withState(s, open.get(s.sessionId)) }));
    if (changed.length > 0) {
      this.index.changed({ sessions: changed });
      this.changed({});
    }
    await this.loadStrays(states.filter((s) => !this.index.get(s.sessionId) && !this.hidden.has(s.sessionId)));
    if (states.some((s) => s.running || s.asking)) this.stateWhenSeen();
  }

  private stateWhenSeen(): void {
    if (document.visibilityState === "visible") this.stateSoon(stateEveryMs);
    else document.addEventListener("visibilitychange", () => this.stateSoon(0), { once: true });
  }

  /** Open sessions that are too old for the pages: one of them may wait for an answer. */
  private async loadStrays(states: SessionState[]): Promise<void> {
    const asked = states.slice(0, maxStrays);
    const { index } = this;
    for (const { sessionId } of asked) {
      try {
        await index.load((r) => this.client.call("list_sessions", r), { query: sessionId, limit: 1 });
      } catch {
        return; // it is tried again with the next states
      }
      if (!index.get(sessionId)) this.hidden.add(sessionId); // of a sub-agent
    }
    if (asked.length > 0 && index === this.index) this.changed({});
  }

  private changed(part: Partial<Places>, relist = true): void {
    this.places = {
      ...this.places,
      ...(relist ? { sessions: this.index.list() } : {}),
      more: this.all.more,
      reach: new Map([...this.own].map(([id, r]) => [id, { more: r.more, loading: r.loading }])),
      ...part,
    };
    for (const listener of [...this.listeners]) listener();
  }

  private end(): void {
    clearTimeout(this.timer);
    this.off();
  }
}

function withState(s: SessionSummary, state: SessionState | undefined): SessionSummary {
  const { state: _, ...rest } = s;
  return state ? { ...rest, state } : rest;
}

function same(a: SessionState | undefined, b: SessionState | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function asError(e: unknown): Error {
  return e instanceof Error ? e : new Error(String(e));
}

const stores = new WeakMap<Client, PlaceStore>();

/** The list of a client; it is made when it is first asked for. */
export function placesOf(client: Client): PlaceStore {
  let store = stores.get(client);
  if (!store) {
    store = new PlaceStore(client);
    stores.set(client, store);
  }
  return store;
}

export function usePlaces(): Places {
  const store = placesOf(useClient());
  return useSyncExternalStore(
    useCallback((changed) => store.subscribe(changed), [store]),
    () => store.places,
  );
}
