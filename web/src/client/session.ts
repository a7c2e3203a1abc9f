import type {
  EventsFrame,
  LiveFrame,
  PersistentEvent,
  ProjectID,
  ResyncFrame,
  SessionClosed,
  SessionID,
  SessionOpened,
} from "../protocol/index";
import { jitter, waitWindow } from "./backoff";
import type { CacheKey } from "./cache";
import type { Client, Link } from "./client";
import { ClosedError, RequestError, textOf } from "./errors";
import { Listeners } from "./frames";
import { defaultWindow, Projection } from "./projection";
import { Replay, type Update } from "./replay";

/** How often a session is opened again that the host has locked elsewhere or closes at once, before its reader is told. */
const maxReopens = 8;
/** How long changes of a session wait until they are kept, and how many characters of its events are. */
const saveMs = 2_000;
export const maxKeptChars = 2 << 20;

export interface OpenOptions {
  /** How many of the newest events of the path come first, and again when the host cannot go on from what is held. */
  tail?: number;
  /** How many of them the projection shows; it asks for those that are missing. */
  window?: number;
  /** The project of the session, if it has one: under it, it is kept between two visits. */
  projectId?: ProjectID;
  /** A session that another program has does not end: refused says so, and retry tries again. */
  waitsForLock?: boolean;
  /** Takes each update, at once and in order: each persistent event of a session comes once. */
  onUpdate?(u: Update, s: Session): void;
}

/**
 * How a session stands: opening (the host was not reached yet), catchingUp, live, waiting (the
 * connection is gone, and what is shown may be old), closed.
 */
export type SessionState = "opening" | "catchingUp" | "live" | "waiting" | "closed";

/** A subscription to one session, from Client.open. It goes on over reconnects. */
export class Session {
  readonly sessionId: SessionID;
  /** What is shown; it changes in place. */
  readonly projection: Projection;
  /** Settled when the host has opened the session for the first time, or says no for good. */
  readonly ready: Promise<void>;
  /** Settled when the host sends nothing more of it. */
  readonly ended: Promise<void>;
  /** What the host said when the session was opened last. */
  opened: SessionOpened | undefined;
  /** Why the host has not opened it, while another program has it: only with waitsForLock. */
  refused: RequestError | undefined;
  /** Why it has ended, if it has. */
  error: Error | undefined;
  closing = false;

  private readonly client: Client;
  private readonly options: OpenOptions;
  private readonly replay = new Replay();
  private readonly listeners: Listeners;
  private link: Link | undefined; // over which frames are taken
  private available: Link | undefined; // the newest connection
  private restored: Promise<void>; // what is kept has been read
  private everLive = false;
  private tries = 0; // openings in vain since the subscription last was complete
  private timer: ReturnType<typeof setTimeout> | undefined;
  private saving: ReturnType<typeof setTimeout> | undefined;
  private filling = false;
  private reading = false; // what is kept was asked for
  private givingUp = false; // until the host has closed what is of no use
  private settle: { ready(error?: Error): void; ended(): void };

  constructor(client: Client, sessionId: SessionID, options: OpenOptions, after?: Promise<void>) {
    this.client = client;
    this.sessionId = sessionId;
    this.options = options;
    this.projection = new Projection(options.window ?? defaultWindow);
    this.listeners = new Listeners(client.schedule, (error) => this.listenerFailed(error));
    let settle: Partial<typeof this.settle> = {};
    this.ready = new Promise((resolve, reject) => {
      settle = { ...settle, ready: (e) => (e ? reject(e) : resolve()) };
    });
    this.ready.catch(() => {}); // told by error, too
    this.ended = new Promise((resolve) => {
      settle = { ...settle, ended: resolve };
    });
    this.settle = settle as typeof this.settle;
    this.restored = Promise.all([after, this.restore()]).then(() => {});
  }

  get state(): SessionState {
    if (this.error || this.closing) return "closed";
    if (this.replay.streaming && this.everLive && this.link) return "live";
    if (this.link) return "catchingUp";
    return this.everLive ? "waiting" : "opening";
  }

  /** Calls listener with the next frame of the screen after something has changed. It returns what ends that. */
  subscribe(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  /** Shows n more of the older events of the path, at most 2,000 in all. */
  older(n: number): void {
    this.projection.older(n);
    this.fill();
  }

  /** Ends the subscription. It is over when the host has closed it or the connection is gone. */
  async close(): Promise<void> {
    if (!this.closing && !this.error) {
      this.save();
      this.closing = true;
      const link = this.link;
      this.drop();
      this.settle.ready(new ClosedError());
      this.listeners.clear();
      if (link) await this.client.callOn(link, "close_session", {}, this.sessionId).catch(() => {}); // it is closed, or the connection gone
      this.over();
    }
    await this.ended;
  }

  /** Tries at once whether a session that was refused is free now. */
  retry(): void {
    if (!this.refused || this.closing || this.error || this.link || !this.available) return;
    void this.subscribeOn(this.available);
  }

  /** There is a connection: the session is opened on it. */
  connected(link: Link): void {
    this.available = link;
    this.restored = this.restored.then(() => this.restore()); // now the device is known
    void this.restored.then(() => this.reopen());
  }

  /** A connection is gone, and what was open on it. */
  disconnected(link: Link): void {
    if (this.available === link) this.available = undefined;
    if (this.link !== link) return;
    this.drop();
    this.listeners.changed();
  }

  /** Ends it for a reason. */
  end(why: Error): void {
    if (this.error || this.closing) return this.over();
    this.error = why;
    this.refused = undefined;
    this.drop();
    this.settle.ready(why);
    this.listeners.now();
    this.over();
  }

  take(link: Link, f: EventsFrame | LiveFrame | ResyncFrame | SessionClosed): void {
    if (this.link !== link || this.closing) return;
    if (f.type === "session_closed") return this.closedByHost(f);
    const u = this.replay.take(f);
    if (u === "gap") return this.gap(link);
    if (!u) return;
    this.projection.apply(u);
    if (u.live) {
      this.tries = 0;
      this.everLive = true;
    }
    try {
      this.options.onUpdate?.(u, this);
    } catch (e) {
      this.listenerFailed(e);
    }
    this.fill();
    if (u.live || u.events.some((e) => "id" in e)) this.saveSoon();
    this.listeners.changed();
  }

  /** Keeps what is shown, if that is what the host said. */
  save(): void {
    clearTimeout(this.saving);
    this.saving = undefined;
    const key = this.key();
    const at = this.replay.anchors();
    if (!key || !at || !this.everLive || !this.replay.streaming) return;
    this.client.cache?.put(key, this.projection.keep(maxKeptChars)).catch((e) => this.cacheFailed(e));
  }

  private saveSoon(): void {
    if (this.client.cache && this.saving === undefined) this.saving = setTimeout(() => this.save(), saveMs);
  }

  private key(): CacheKey | undefined {
    const { device } = this.client;
    const { projectId = "" as ProjectID } = this.options;
    return device && { deviceId: device, projectId, sessionId: this.sessionId };
  }

  /** Shows what was kept at an earlier visit, if nothing newer has come meanwhile. */
  private async restore(): Promise<void> {
    const key = this.key();
    if (!key || !this.client.cache || this.reading) return;
    this.reading = true;
    try {
      const kept = await this.client.cache.get(key);
      if (!kept || this.link || this.closing || this.error) return;
      this.projection.restore(kept);
      const { live } = kept;
      this.replay.restore({
        deviceId: key.deviceId,
        streamEpoch: live.streamEpoch,
        streamLastSeq: 0,
        persistentLastSeq: live.persistentLastSeq,
        ...(live.persistentLastId && { persistentLastId: live.persistentLastId }),
      });
      this.listeners.changed();
    } catch (e) {
      this.cacheFailed(e);
    }
  }

  /** Opens the session on the connection that there is, after a wait when it was opened in vain before. */
  private reopen(): void {
    if (this.closing || this.error || this.link || !this.available || this.timer !== undefined) return;
    if (this.tries === 0) return void this.subscribeOn(this.available);
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        if (this.available && !this.link && !this.closing && !this.error) void this.subscribeOn(this.available);
      },
      jitter(this.client.random, waitWindow(this.tries - 1)),
    );
  }

  private async subscribeOn(link: Link): Promise<void> {
    if (link.stopping || !link.connected) return; // it opens nothing any more: the next one does
    this.link = link;
    this.replay.begin(link.connected.deviceId);
    const anchors = this.replay.anchors();
    const { tail = this.options.window ?? defaultWindow } = this.options;
    try {
      const opened = await this.client.callOn(link, "open_session", { tail, ...(anchors && { anchors }) }, this.sessionId);
      if (this.link !== link) return;
      this.opened = opened;
      this.refused = undefined;
      this.settle.ready();
      this.listeners.changed();
    } catch (e) {
      if (this.link !== link || this.closing) return;
      this.drop();
      if (!(e instanceof RequestError) || e instanceof ClosedError || !this.available) return; // the connection is gone
      const waits = this.options.waitsForLock === true && isElsewhere(e);
      // Who saw it live expects it back: a host that takes over has the lock in a moment.
      const soon = e.code === "session_locked" && anchors !== undefined && this.tries < maxReopens && (this.everLive || !waits);
      if (!soon && !link.stopping) {
        if (!waits) return this.end(e);
        this.refused = e;
        this.listeners.changed();
        return;
      }
      this.tries++;
      this.reopen();
    }
  }

  private closedByHost(f: SessionClosed): void {
    if (f.error) return this.end(RequestError.of(f.error));
    if (this.givingUp) return;
    // The host ends, or has closed it to open it again.
    this.tries++;
    this.drop();
    this.reopen();
    this.listeners.changed();
  }

  /** The host has not sent all that it has: only a whole reload helps. */
  private gap(link: Link): void {
    this.replay.stop(true);
    this.tries++;
    this.givingUp = true;
    void this.client
      .callOn(link, "close_session", {}, this.sessionId)
      .catch(() => {}) // it is closed, or the connection gone
      .then(() => {
        this.givingUp = false;
        if (this.link !== link) return;
        this.drop();
        this.reopen();
      });
  }

  /** Asks for events of the path that belong on the screen and are not held. */
  private fill(): void {
    const asked = this.state === "live" ? this.projection.missing() : undefined;
    if (!asked || this.filling) return;
    this.filling = true;
    const answered = (events: { events: PersistentEvent[]; more?: boolean }) => {
      this.filling = false;
      if (this.closing || this.error) return;
      if (this.projection.fill(asked, events)) {
        this.saveSoon();
        this.listeners.changed();
      }
      this.fill();
    };
    this.client
      .call("get_path", asked, { sessionId: this.sessionId })
      .then((page) => answered({ events: (page.events ?? []) as PersistentEvent[], more: page.more ?? false }))
      .catch((e) => {
        this.filling = false;
        if (this.closing || this.error || !(e instanceof RequestError) || e instanceof ClosedError) return;
        if (e.code === "rate_limited") return; // the next update asks again
        this.client.problem({ what: "path", message: `older events of the session cannot be read: ${textOf(e)}`, error: e });
        answered({ events: [] });
      });
  }

  /** Takes nothing more of the connection. */
  private drop(): void {
    this.link = undefined;
    this.replay.stop();
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private over(): void {
    clearTimeout(this.saving);
    this.listeners.clear();
    this.client.forget(this);
    this.settle.ended();
  }

  private listenerFailed(error: unknown): void {
    this.client.problem({ what: "listener", message: `a listener of the session failed: ${textOf(error)}`, error });
  }

  private cacheFailed(error: unknown): void {
    this.client.problem({ what: "cache", message: `the session is not kept in this browser: ${textOf(error)}`, error });
  }
}

/** Another program has the session: it may be free later. */
function isElsewhere(e: RequestError): boolean {
  return e.code === "session_locked" && (e.details as { reason?: string } | undefined)?.reason === "elsewhere";
}
