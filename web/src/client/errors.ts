import type { Code, ErrorMessage, ProtocolError } from "../protocol/index";

/** The code of a request that failed because the client, or its subscription, was closed. */
export const transportClosed = "transport_closed";

/** A request that failed. The message is one sentence for a person; decide by the code. */
export class RequestError extends Error {
  override readonly name: string = "RequestError";
  readonly code: Code | typeof transportClosed;
  readonly details?: unknown;

  constructor(code: Code | typeof transportClosed, message: string, details?: unknown) {
    super(message);
    this.code = code;
    if (details !== undefined) this.details = details;
  }

  static of(e: ProtocolError | ErrorMessage): RequestError {
    return new RequestError(e.code, e.message, e.details);
  }
}

/** The client, or the subscription, has been closed. */
export class ClosedError extends RequestError {
  override readonly name = "ClosedError";

  constructor() {
    super(transportClosed, "the connection to the host is closed");
  }
}

/** A connection that could not be made, or that broke. The client makes another one. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/**
 * A failure to connect that does not get better by repetition: the host refuses this client, or
 * is not the one that was meant. The code is that of the host's refusal, if it said one.
 */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
  readonly code?: Code;

  constructor(message: string, code?: Code) {
    super(message);
    if (code !== undefined) this.code = code;
  }
}

/** Something that went wrong beside the work of the client, which goes on. */
export interface Problem {
  /** cache: sessions are not kept between two visits. path: older events could not be read. listener: the caller's own code threw. */
  what: "cache" | "path" | "listener";
  /** One sentence for a person. */
  message: string;
  error?: unknown;
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
