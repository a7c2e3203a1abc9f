import type { Call, Connected, DeviceID, Frame, RequestID, RequestName, Requests, SessionID } from "../protocol/index";
import { fastRetries, firstWaitMs, jitter, waitWindow } from "./backoff";
import { cryptoRandom, type Random } from "./bytes";
import type { Cache } from "./cache";
import { Calls, type Wire } from "./calls";
import { type DeviceChanges, DeviceNews } from "./device";
import { ClosedError, ConnectionError, PermanentError, type Problem, textOf } from "./errors";
import { Listeners, nextFrame, type Schedule } from "./frames";
import { newRequestID } from "./ids";
import { type OpenOptions, Session } from "./session";
import type { Dial, HostMessage, Transport } from "./transport";

/** How long the host may take to answer after the page was hidden, or the network has changed. */
const wakeMs = 5_000;
/** How long the host may be silent while a request that acts has no answer, and how long it may then take for a sign of life. */
const quietMs = 5_000;
const signMs = 10_000;

/** How a client stands with its host. One that has been connected goes back and forth between the last two. */
export type State = "disconnected" | "connecting" | "connected" | "reconnecting";

/** A state, and what goes with it. */
export interface Status {
  state: State;
  /** What the host said, while connected. */
  connected?: Connected;
  /** Why there is no connection; while disconnected, why the client has ended. */
  error?: Error;
  /** When the next try begins, in milliseconds. */
  retryInMs?: number;
}

export interface ClientConfig {
  /** Connects. It is called again when the connection is gone, until the client is closed or it fails with a PermanentError. */
  dial: Dial;
  /** The host that is meant, when it is known: what is kept of its sessions is shown before it answers. */
  device?: DeviceID;
  /** Where sessions are kept between two visits. */
  cache?: Cache;
  /** Takes what went wrong beside. Without it that is written to the console. */
  onProblem?(p: Problem): void;
  /** When listeners are told of changes; by default with the next frame of the screen. */
  schedule?: Schedule;
  random?: Random;
}

/** One connection. */
export class Link implements Wire {
  transport: Transport | undefined;
  connected: Connected | undefined;
  used = false; // something came over it after the handshake
  heard = Date.now(); // when something came last
  stopping = false; // the host has said that it ends
  restarting = false; // and that another takes over at once

  send(text: string): boolean {
    return this.transport?.send(text) ?? false;
  }
}

/**
 * A client of a host that keeps itself connected. A request whose connection broke is sent again
 * and acts once; a session goes on from where it stands. close ends everything.
 */
export class Client {
  readonly random: Random;
  readonly schedule: Schedule;
  readonly cache: Cache | undefined;
  private readonly config: ClientConfig;
  private readonly calls = new Calls();
  private readonly sessions = new Map<SessionID, Session>();
  private readonly news = new DeviceNews();
  private readonly stateListeners: Listeners;
  private readonly deviceListeners = new Set<(c: DeviceChanges) => void>();
  private readonly newsListeners: Listeners;
  private readonly stop = new AbortController();
  private readonly done: Promise<void>;
  private current: Status = { state: "connecting" };
  private link: Link | undefined;
  private failed = 0; // tries in vain, for the next wait
  private retryNow: (() => void) | undefined;
  private attending: ReturnType<typeof setTimeout> | undefined;

  constructor(config: ClientConfig) {
    this.config = config;
    this.random = config.random ?? cryptoRandom;
    this.schedule = config.schedule ?? nextFrame;
    this.cache = config.cache;
    const failed = (error: unknown) => this.problem({ what: "listener", message: `a listener failed: ${textOf(error)}`, error });
    this.stateListeners = new Listeners(this.schedule, failed); // told at once: none is left out
    this.newsListeners = new Listeners(this.schedule, failed);
    this.newsListeners.add(() => this.tellNews(failed));
    this.done = this.run();
  }

  get status(): Status {
    return this.current;
  }

  /** The host's device, when it is known. */
  get device(): DeviceID | undefined {
    return this.link?.connected?.deviceId ?? this.config.device;
  }

  /** How many requests have no answer yet. */
  get unanswered(): number {
    return this.calls.size;
  }

  /** Calls listener at each change of the status, in order. It returns what ends that. */
  onStatus(listener: (s: Status) => void): () => void {
    return this.stateListeners.add(() => listener(this.current));
  }

  /** Calls listener with what has changed on the device, at most once a frame. What changed before the first one is kept for it. */
  onDevice(listener: (c: DeviceChanges) => void): () => void {
    const own = (c: DeviceChanges) => listener(c);
    this.deviceListeners.add(own);
    this.newsListeners.changed();
    return () => this.deviceListeners.delete(own);
  }

  /**
   * Sends a request and waits for its answer. It rejects with a RequestError when the request
   * failed. Without a connection it waits for the next one, up to 256 requests and 16 MiB; further
   * ones fail with rate_limited. With a requestId that the caller has kept and repeat, it is the
   * request that an earlier program sent as the same client.
   */
  async call<N extends RequestName>(
    type: N,
    request: Requests[N]["request"],
    options: { sessionId?: SessionID; signal?: AbortSignal; requestId?: RequestID; repeat?: boolean } = {},
  ): Promise<Requests[N]["response"]> {
    const answer = this.calls.add(this.message(type, request, options), { signal: options.signal });
    this.attend();
    return (await answer) as Requests[N]["response"];
  }

  /** Subscribes to a session. A session can be open once a client. The promise is settled when the host has opened it, or says no. */
  async open(sessionId: SessionID, options: OpenOptions = {}): Promise<Session> {
    const s = this.session(sessionId, options);
    await s.ready;
    return s;
  }

  /** As open, at once: what is kept of the session is shown while the host is asked. */
  session(sessionId: SessionID, options: OpenOptions = {}): Session {
    const known = this.sessions.get(sessionId);
    if (known && !known.closing) throw new Error(`The session ${sessionId} is already open on this client.`);
    const s = new Session(this, sessionId, options, known?.ended);
    this.sessions.set(sessionId, s);
    if (this.stop.signal.aborted || this.current.state === "disconnected") s.end(this.current.error ?? new ClosedError());
    else if (this.link) s.connected(this.link);
    return s;
  }

  /** Ends the subscription to a session, if there is one; it resolves when the host has closed it for this client. */
  async leave(sessionId: SessionID): Promise<void> {
    await this.sessions.get(sessionId)?.close();
  }

  /** Tries at once when the client waits before it connects again. */
  retry(): void {
    this.failed = 0;
    this.retryNow?.();
  }

  /** Looks whether the connection is still there, after sleep or a change of network; without one it tries at once. */
  wake(): void {
    if (this.link) this.link.transport?.probe(wakeMs);
    else this.retry();
  }

  /** Keeps the sessions at once: the page may be about to end. */
  save(): void {
    for (const s of this.sessions.values()) s.save();
  }

  /** Ends the connection and all sessions. What waits fails with a ClosedError; what was on its way may have acted. */
  async close(): Promise<void> {
    this.save();
    this.stop.abort();
    this.link?.transport?.close();
    this.retryNow?.();
    await this.done;
  }

  problem(p: Problem): void {
    if (this.config.onProblem) this.config.onProblem(p);
    else console.error(`scorel: ${p.message}`);
  }

  /** Sends a request that means something on one connection only. */
  callOn<N extends RequestName>(
    link: Link,
    type: N,
    request: Requests[N]["request"],
    sessionId: SessionID,
  ): Promise<Requests[N]["response"]> {
    return this.calls.add(this.message(type, request, { sessionId }), { only: link }) as Promise<Requests[N]["response"]>;
  }

  /** Forgets a session that has ended. */
  forget(s: Session): void {
    if (this.sessions.get(s.sessionId) === s) this.sessions.delete(s.sessionId);
  }

  private message<N extends RequestName>(
    type: N,
    request: Requests[N]["request"],
    options: { sessionId?: SessionID; requestId?: RequestID; repeat?: boolean },
  ): Call {
    const { sessionId, requestId = newRequestID(this.random), repeat } = options;
    return { ...request, type, requestId, ...(sessionId && { sessionId }), ...(repeat && { repeat: true }) } as unknown as Call;
  }

  /** Keeps the client connected until it is closed or the host refuses it. It ends with either. */
  private async run(): Promise<void> {
    await Promise.resolve(); // so that the constructor has ended
    const { signal } = this.stop;
    let waitIn: State = "connecting";
    let fast = 0;
    for (;;) {
      const link = new Link();
      let why: Error;
      try {
        why = await this.connect(link);
        waitIn = "reconnecting";
        if (link.used) this.failed = 0;
        fast = link.restarting ? fastRetries : 0;
      } catch (e) {
        why = e instanceof Error ? e : new ConnectionError(textOf(e));
      }
      if (signal.aborted) return this.finish(new ClosedError());
      if (why instanceof PermanentError) return this.finish(why);
      const wait = jitter(this.random, fast > 0 ? firstWaitMs : waitWindow(this.failed));
      if (fast > 0) fast--;
      else this.failed++;
      this.tell({ state: waitIn, error: why, retryInMs: wait });
      await this.pause(wait);
      if (signal.aborted) return this.finish(new ClosedError());
    }
  }

  /** Connects, and waits until the connection is gone; it returns why. */
  private async connect(link: Link): Promise<Error> {
    const { signal } = this.stop;
    let over: (why: Error) => void = () => {};
    const gone = new Promise<Error>((resolve) => {
      over = resolve;
    });
    let dead = false;
    const closed = (why: Error) => {
      dead = true;
      this.detach(link, why, over);
    };
    const dialled = await this.config.dial({ message: (m) => this.receive(link, m), closed }, signal);
    if (signal.aborted) {
      dialled.transport.close();
      throw new ClosedError();
    }
    if (dead) return gone;
    link.transport = dialled.transport;
    link.connected = dialled.connected;
    this.link = link;
    if (this.news.connected()) this.newsListeners.changed();
    this.tell({ state: "connected", connected: dialled.connected });
    this.calls.connected(link);
    this.attend();
    for (const s of this.sessions.values()) s.connected(link);
    return gone;
  }

  private detach(link: Link, why: Error, over: (why: Error) => void): void {
    if (this.link === link) this.link = undefined;
    this.calls.disconnected(link, why);
    for (const s of this.sessions.values()) s.disconnected(link);
    over(why);
  }

  private receive(link: Link, m: HostMessage): void {
    link.used = true;
    link.heard = Date.now();
    if (m.type === "response" || m.type === "error") {
      if (m.requestId !== "") this.calls.answer(m);
      return;
    }
    if (m.type === "host_stopping") {
      link.stopping = true;
      link.restarting = m.restarting ?? false;
    }
    if (m.type === "grant_changed" && link === this.link && link.connected) {
      link.connected = { ...link.connected, grant: m.grant };
      this.tell({ state: "connected", connected: link.connected });
    }
    this.frame(link, m);
  }

  /**
   * A line can be dead without a word. While a request that acts has no answer, a silent one is
   * asked for a sign of life, so that this is not noticed only after a minute. Uploads do not
   * count: they may fill a slow line for longer. Nor do requests that only read: their answers may.
   */
  private attend(ms = quietMs): void {
    if (this.attending !== undefined || !this.link || !this.calls.acting) return;
    this.attending = setTimeout(() => {
      this.attending = undefined;
      const { link } = this;
      if (!link || !this.calls.acting) return;
      const quiet = Date.now() - link.heard;
      const left = quiet < 0 ? 0 : quietMs - quiet; // a clock that was set back says nothing
      if (left <= 0) link.transport?.probe(signMs);
      this.attend(left > 0 ? left : quietMs);
    }, ms);
  }

  private frame(link: Link, f: Frame): void {
    switch (f.type) {
      case "events":
      case "live":
      case "resync":
      case "session_closed":
        this.sessions.get(f.sessionId)?.take(link, f);
        return;
    }
    if (f.type === "session_changed" && f.deleted && this.device) {
      const failed = (error: unknown) =>
        this.problem({ what: "cache", message: `a deleted session is still kept here: ${textOf(error)}`, error });
      this.cache?.remove(this.device, f.summary.sessionId).catch(failed);
    }
    if (this.news.note(f)) this.newsListeners.changed();
  }

  private tellNews(failed: (error: unknown) => void): void {
    if (this.deviceListeners.size === 0) return;
    const changes = this.news.take();
    if (!changes) return;
    for (const listener of [...this.deviceListeners]) {
      try {
        listener(changes);
      } catch (e) {
        failed(e);
      }
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.retryNow = () => {
        clearTimeout(timer);
        resolve();
      };
    }).then(() => {
      this.retryNow = undefined;
    });
  }

  private finish(why: Error): void {
    clearTimeout(this.attending);
    this.calls.end(why);
    for (const s of [...this.sessions.values()]) s.end(why);
    this.newsListeners.clear();
    this.deviceListeners.clear();
    this.tell({ state: "disconnected", ...(!(why instanceof ClosedError) && { error: why }) });
    this.stateListeners.clear();
  }

  private tell(s: Status): void {
    this.current = s;
    this.stateListeners.now();
  }
}
