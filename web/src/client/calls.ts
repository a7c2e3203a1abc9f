import { acts, type Call, type ErrorMessage, type RequestID, type RequestName, type ResponseMessage } from "../protocol/index";
import { ConnectionError, RequestError } from "./errors";
import { tooLong } from "./socket";

/** Requests that wait for a connection, and the characters of their JSON. */
export const maxWaiting = 256;
export const maxWaitingChars = 16 << 20;
/** Connections that break while one request is on its way: it may be what breaks them. */
const maxBroken = 8;

const mutates = new Set<string>(acts);

/** The upload's connection broke: what was sent of it is gone, and it has to begin again. */
export class UploadLostError extends Error {
  override readonly name = "UploadLostError";
}

/** A connection, as far as requests are concerned. */
export interface Wire {
  send(text: string): boolean;
}

interface Waiting {
  call: Call;
  text: string; // of the call, without repeat
  only: Wire | undefined; // the one connection on which it means something
  on: Wire | undefined; // where it was sent
  broken: number;
  resolve(data: unknown): void;
  reject(error: unknown): void;
}

export interface CallOptions {
  /** Ends the waiting. A request that was sent may act all the same. */
  signal?: AbortSignal | undefined;
  /** The one connection on which the request means something. */
  only?: Wire | undefined;
}

/** Requests without an answer, in the order in which they were made, over one connection after the other. */
export class Calls {
  private readonly waiting = new Map<RequestID, Waiting>();
  private wire: Wire | undefined;
  private unsent = 0; // characters of those that were never sent
  private ended: Error | undefined;

  /** How many have no answer. */
  get size(): number {
    return this.waiting.size;
  }

  /** Whether a request that acts was sent and has no answer, while nothing is uploaded. */
  get acting(): boolean {
    let found = false;
    for (const { on, call } of this.waiting.values()) {
      if (on && call.type === "put_blob") return false;
      found ||= on !== undefined && mutates.has(call.type);
    }
    return found;
  }

  /** Sends a request, or keeps it until there is a connection. The promise is settled once. */
  add(call: Call, options: CallOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal, only } = options;
      if (this.ended) return reject(this.ended);
      if (signal?.aborted) return reject(signal.reason);
      const text = JSON.stringify(call);
      const long = tooLong(call.type, text);
      if (long !== "") return reject(new RequestError("payload_too_large", long));
      if (this.waiting.has(call.requestId))
        return reject(new RequestError("invalid_request", "A request with this requestId waits for its answer already."));
      if (only && only !== this.wire) return reject(new ConnectionError("the connection to the host is gone"));
      if (!this.wire && (this.waiting.size >= maxWaiting || this.unsent + text.length > maxWaitingChars)) {
        return reject(
          new RequestError(
            "rate_limited",
            `There is no connection to the host, and ${this.waiting.size} requests wait for it already. Try again when it is back.`,
          ),
        );
      }
      const abort = () => {
        this.remove(w);
        w.reject(signal?.reason);
      };
      const settle =
        (done: (v: unknown) => void) =>
        (v: unknown): void => {
          signal?.removeEventListener("abort", abort);
          done(v);
        };
      const w: Waiting = { call, text, only, on: undefined, broken: 0, resolve: settle(resolve), reject: settle(reject) };
      signal?.addEventListener("abort", abort, { once: true });
      this.waiting.set(call.requestId, w);
      this.unsent += text.length;
      if (this.wire) this.transmit(w, this.wire);
    });
  }

  /** Sends over a new connection what has no answer, oldest first. */
  connected(wire: Wire): void {
    this.wire = wire;
    for (const w of [...this.waiting.values()]) this.transmit(w, wire);
  }

  /** A connection is gone: what was on its way is kept, and marked as a repeat when it acts. */
  disconnected(wire: Wire, why: Error): void {
    if (this.wire === wire) this.wire = undefined;
    for (const w of [...this.waiting.values()]) {
      if (w.only === wire) this.fail(w, why);
      if (w.on !== wire || w.only) continue;
      w.on = undefined;
      w.broken++;
      if (w.broken >= maxBroken)
        this.fail(w, new Error(`the connection broke ${maxBroken} times while the host answered ${w.call.type}: ${why.message}`));
      else if (mutates.has(w.call.type)) w.call = { ...w.call, repeat: true } as Call;
      else if (partial(w.call)) this.fail(w, new UploadLostError("the connection broke in the middle of the upload; send it again"));
    }
  }

  /** Takes an answer. One that nobody waits for is dropped. */
  answer(m: ResponseMessage | ErrorMessage): void {
    const w = this.waiting.get(m.requestId as RequestID);
    if (!w) return;
    this.remove(w);
    if (m.type === "response") w.resolve(m.data);
    else w.reject(RequestError.of(m));
  }

  /** Ends all, for a reason. */
  end(why: Error): void {
    this.ended = why;
    for (const w of [...this.waiting.values()]) this.fail(w, why);
  }

  private transmit(w: Waiting, wire: Wire): void {
    if (!wire.send(w.call.repeat ? JSON.stringify(w.call) : w.text)) return; // the next connection sends it
    if (w.on === undefined && w.broken === 0) this.unsent -= w.text.length;
    w.on = wire;
  }

  private fail(w: Waiting, why: unknown): void {
    this.remove(w);
    w.reject(why);
  }

  private remove(w: Waiting): void {
    if (!this.waiting.delete(w.call.requestId)) return;
    if (w.on === undefined && w.broken === 0) this.unsent -= w.text.length;
  }
}

/** Whether a request means something only on the connection of those before it. */
function partial(call: Call<RequestName>): boolean {
  return call.type === "put_blob" && call.offset > 0;
}
