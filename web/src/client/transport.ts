import type { Connected, ErrorMessage, Frame, ResponseMessage } from "../protocol/index";

/** A message of the host after the handshake. */
export type HostMessage = Frame | ResponseMessage | ErrorMessage;

/** Takes what comes over one connection, in order. It is called from the connection's own events. */
export interface Receiver {
  message(m: HostMessage): void;
  /** The connection is gone; nothing follows. It is called once, also after close. */
  closed(why: Error): void;
}

/** One connection to a host that has been proved. */
export interface Transport {
  /** Sends the text of one message. False means that nothing of it has left: the connection is gone. */
  send(text: string): boolean;
  /** Ends the connection unless something comes within ms. */
  probe(ms: number): void;
  /** Ends the connection. It may be called more than once. */
  close(): void;
}

/** A connection, and what the host said when it let the client in. */
export interface Dialled {
  transport: Transport;
  connected: Connected;
}

/**
 * Connects to a host. It fails with a PermanentError when another try would fail as well. The
 * end of signal ends the try.
 */
export type Dial = (receiver: Receiver, signal: AbortSignal) => Promise<Dialled>;

const frames = new Set<string>([
  "events",
  "resync",
  "live",
  "session_closed",
  "session_changed",
  "projects_changed",
  "automation_changed",
  "entries_changed",
  "grant_changed",
  "mcp_changed",
  "client_joined",
  "client_left",
  "host_stopping",
  "ui_frame",
] satisfies Frame["type"][]);

const ofSession = new Set<string>(["events", "resync", "live", "session_closed"]);

/** Reads a message of the host; undefined is one of a newer host. It throws for what is no message. */
export function parseMessage(text: string): HostMessage | undefined {
  const m: unknown = JSON.parse(text);
  if (!isObject(m) || typeof m.type !== "string") throw new Error("it has no type");
  if (m.type === "response" || m.type === "error") {
    if (typeof m.requestId !== "string") throw new Error("an answer has no requestId");
    return m as unknown as HostMessage;
  }
  if (!frames.has(m.type)) return undefined;
  if (ofSession.has(m.type) && typeof m.sessionId !== "string") throw new Error(`the frame ${m.type} names no session`);
  if (m.type === "live" && !isLive(m.live)) throw new Error("a state has no place in its session");
  if (m.type === "events" && !(m.events === null || (Array.isArray(m.events) && m.events.every(isEvent)))) {
    throw new Error("an event has no type or no seq");
  }
  return m as unknown as HostMessage;
}

function isEvent(e: unknown): boolean {
  return isObject(e) && typeof e.type === "string" && typeof e.seq === "number" && (e.id === undefined || typeof e.id === "string");
}

function isLive(l: unknown): boolean {
  return isObject(l) && typeof l.throughSeq === "number" && typeof l.persistentLastSeq === "number" && typeof l.streamEpoch === "string";
}

export function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}
