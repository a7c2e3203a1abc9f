import type { ListSessions, SessionID, SessionList, SessionSummary } from "../protocol/index";
import type { DeviceChanges } from "./device";

/** Changes that are remembered while a list is on its way. */
const maxRemembered = 1024;
/** How often a page is asked for when more has changed meanwhile. */
const maxTries = 3;

/**
 * Sessions by their ids, from lists and from what changed since. What came after a list was asked
 * for is newer than its answer and stays: a late answer replaces nothing that is newer. When
 * changes were missed, begin with a new one.
 */
export class SessionIndex {
  private readonly summaries = new Map<SessionID, SessionSummary>();
  private readonly since = new Set<SessionID>(); // those that have changed, or were deleted
  private forgotten = false; // there were more
  private asking = 0;

  get(id: SessionID): SessionSummary | undefined {
    return this.summaries.get(id);
  }

  /** All that are known, those that changed last first. */
  list(): SessionSummary[] {
    return [...this.summaries.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.sessionId < b.sessionId ? 1 : -1));
  }

  /** Takes in what has changed on the device. */
  changed(changes: Pick<DeviceChanges, "sessions">): void {
    for (const { summary, deleted } of changes.sessions) {
      if (deleted) this.summaries.delete(summary.sessionId);
      else this.summaries.set(summary.sessionId, summary);
      if (this.asking === 0) continue;
      if (this.since.size < maxRemembered) this.since.add(summary.sessionId);
      else this.forgotten ||= !this.since.has(summary.sessionId);
    }
  }

  /** Asks for a page and takes it in. ask is the request list_sessions. */
  async load(ask: (request: ListSessions) => Promise<SessionList>, request: ListSessions = {}): Promise<SessionList> {
    this.asking++;
    try {
      for (let tries = 1; ; tries++) {
        const page = await ask(request);
        if (this.forgotten && tries < maxTries) {
          this.forgotten = false; // more has changed meanwhile than is remembered: the page may be old
          this.since.clear();
          continue;
        }
        for (const s of page.sessions ?? []) {
          if (!this.since.has(s.sessionId)) this.summaries.set(s.sessionId, s);
        }
        return page;
      }
    } finally {
      this.asking--;
      if (this.asking === 0) {
        this.since.clear();
        this.forgotten = false;
      }
    }
  }
}
