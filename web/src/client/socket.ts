import { cleanLine } from "../display/clean";
import {
  type Challenge,
  type ClientID,
  type Connected,
  type DeviceID,
  type Grant,
  type Hello,
  maxMessage,
  protocolVersion,
} from "../protocol/index";
import { type Address, parseAddress } from "./address";
import { base64, byteLength, cryptoRandom, fromBase64, type Random, utf8 } from "./bytes";
import { ConnectionError, PermanentError, textOf } from "./errors";
import {
  type ClientKey,
  equalProof,
  newKey,
  nonceSize,
  type PairingCode,
  paired,
  proof,
  shared,
  splitCode,
  type Transcript,
  wrongChallenge,
  wrongHello,
} from "./handshake";
import { clientIDOf, newRequestID } from "./ids";
import { type Dial, type Dialled, isObject, parseMessage, type Receiver, type Transport } from "./transport";

/** The longest message of the host, in characters: docs/protocol.md has 16 MiB. */
const maxIncoming = 16 << 20;
/** The longest message of the handshake, in characters: the host is not known yet. */
const maxGreeting = 16 << 10;
/** Messages of the handshake that may wait. */
const maxGreetings = 4;
/** The longest refusal that is shown, in characters: it may come from a stranger. */
const maxRefusal = 500;
/** How long a connection may take with its handshake. */
const dialMs = 15_000;
/** How often the host is asked for a sign of life while nothing comes, and when it is gone. */
const pingEveryMs = 20_000;
const silenceMs = 60_000;
/** How long a host may take to answer after this program has slept. */
const wakeMs = 5_000;

/** The codes of a refusal with which another try is in vain. */
const permanent: readonly unknown[] = ["auth_failed", "unsupported_protocol", "forbidden", "invalid_request"];

/** What is used of a WebSocket: that of browsers, of Node from 22 on, or of the package ws. */
export interface WebSocketLike {
  onopen: ((e: never) => unknown) | null;
  onmessage: ((e: never) => unknown) | null;
  onclose: ((e: never) => unknown) | null;
  onerror: ((e: never) => unknown) | null;
  send(text: string): void;
  close(): void;
  readonly readyState: number;
}

/** Where a host listens and how this client proves itself to it. */
export interface WebSocketConfig {
  /** ws://127.0.0.1:PORT on this machine alone, or wss://HOST:PORT; http and https mean ws and wss. */
  url: string;
  /** The text of the host's token. Either it or key is set. It is never sent. */
  token?: string;
  /** This client's own key; then device must name the host. */
  key?: ClientKey;
  /** The host that is meant; without it any that knows the token. */
  device?: DeviceID;
  /** Who this is, from newClientID; kept by the caller. With a key it belongs to that and is left out. */
  clientId?: ClientID;
  /** Shown to people. */
  clientName: string;
  /** Whether this client can put a question to a person. */
  interactive: boolean;
  /** Node 20 has no WebSocket unless it is started with --experimental-websocket. */
  WebSocket?: new (
    url: string,
  ) => WebSocketLike;
  random?: Random;
  /** Shorter times than those of docs/protocol.md: for a proxy that cuts silent connections earlier. */
  pingEveryMs?: number;
  silenceMs?: number;
  /** How long a connection may take with its handshake; 15 s unless it is set. */
  dialMs?: number;
}

/** A Dial over WebSocket: it connects and proves, in at most 15 s. */
export function webSocket(config: WebSocketConfig): Dial {
  return (receiver, signal) => dial(config, receiver, signal);
}

/** What a code has led to. The device is that of the host; the client comes in with its key and this from now on. */
export interface Paired {
  device: DeviceID;
  /** pending: a person has to confirm the client on the host's machine first; grant_changed tells when. */
  grant: Grant;
}

/**
 * Redeems a code that a host has made: the host learns the key of the config, and this client
 * which host it is. It fails with a PermanentError whose message is the host's sentence when the
 * code is worth nothing, and with a ConnectionError when the host was not reached and the code can
 * be tried again.
 */
export async function pair(
  config: Omit<WebSocketConfig, "token" | "device"> & { key: ClientKey },
  code: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Paired> {
  const parts = splitCode(code);
  if (!parts) throw new PermanentError("this is not a code of a host: it has 42 characters");
  const nothing: Receiver = { message: () => {}, closed: () => {} };
  const { device: _, token: __, ...rest } = config as WebSocketConfig;
  const sent: { proved?: DeviceID } = {};
  try {
    return leave(await dial(rest, nothing, signal, { ...parts, sent }));
  } catch (e) {
    if (!(e instanceof ConnectionError) || !sent.proved || signal.aborted) throw e;
    // The connection broke after the proof had left: the host may have taken the key.
    return leave(await dial({ ...rest, device: sent.proved }, nothing, signal));
  }
}

/** Ends the connection of a pairing: the client makes its own. */
function leave({ transport, connected }: Dialled): Paired {
  transport.close();
  return { device: connected.deviceId, grant: connected.grant };
}

/** A code that is being redeemed; sent notes the host to which this side has proved itself. */
type Redeeming = PairingCode & { sent: { proved?: DeviceID } };

async function dial(config: WebSocketConfig, receiver: Receiver, signal: AbortSignal, code?: Redeeming): Promise<Dialled> {
  const WebSocket = config.WebSocket ?? (globalThis.WebSocket as unknown as WebSocketConfig["WebSocket"]);
  if (!WebSocket)
    throw new PermanentError("this program has no WebSocket: use Node 22, start Node 20 with --experimental-websocket, or give one");
  if (!globalThis.crypto?.subtle) throw new PermanentError("this page has no WebCrypto: open it over https, or on localhost");
  if ((config.token === undefined) === (config.key === undefined)) {
    throw new PermanentError("a connection needs the host's token or this client's own key, and not both");
  }
  if (config.key && !config.device && !code)
    throw new PermanentError("a connection with a key needs the id of the host's device: without it any host would pass");
  let address: Address;
  try {
    address = parseAddress(config.url);
  } catch (e) {
    throw new PermanentError(textOf(e));
  }
  signal.throwIfAborted();
  let ws: WebSocketLike;
  try {
    ws = new WebSocket(address.url);
  } catch (e) {
    throw new PermanentError(`a connection to ${address.url} is not possible from here: ${textOf(e)}`);
  }
  const socket = new Socket(ws, config);
  const timer = setTimeout(
    () => socket.fail(new ConnectionError(`no host of Scorel answers on ${address.url}: it took too long`)),
    config.dialMs ?? dialMs,
  );
  const abort = () => socket.fail(new ConnectionError("the try to connect was ended"));
  signal.addEventListener("abort", abort);
  try {
    const connected = await new Handshake(socket, config, address, code).run();
    socket.start(receiver);
    return { transport: socket, connected } satisfies Dialled;
  } catch (e) {
    socket.fail(e instanceof Error ? e : new Error(textOf(e)));
    throw e;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** One connection: first with messages that are waited for, then with a receiver. */
class Socket implements Transport {
  private receiver?: Receiver;
  private failed?: Error;
  private opened = false;
  private greeting: string[] = []; // of the handshake, not waited for yet
  private wake?: () => void;
  private heard = Date.now(); // when something came last
  private ticked = Date.now();
  private keeper?: ReturnType<typeof setInterval>;
  private probing: ReturnType<typeof setTimeout> | undefined;
  private readonly ws: WebSocketLike;
  private readonly config: WebSocketConfig;

  constructor(ws: WebSocketLike, config: WebSocketConfig) {
    this.ws = ws;
    this.config = config;
    ws.onopen = () => {
      this.opened = true;
      this.wake?.();
    };
    ws.onmessage = (e: { data: unknown }) => this.take(e.data);
    ws.onclose = (e: { code?: number; reason?: string }) => this.fail(closeError(e, this.opened));
    ws.onerror = () => this.fail(closeError({}, this.opened)); // Node 20 lets no close follow
  }

  /** Waits for the next message of the handshake, "" for the opening. */
  async next(): Promise<string> {
    for (;;) {
      if (this.failed) throw this.failed;
      const text = this.opened ? this.greeting.shift() : undefined;
      if (text !== undefined) return text;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async open(): Promise<void> {
    while (!this.opened && !this.failed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.failed) throw this.failed;
  }

  start(receiver: Receiver): void {
    if (this.failed) throw this.failed;
    this.receiver = receiver;
    this.heard = this.ticked = Date.now();
    this.keeper = setInterval(() => this.keep(), this.config.pingEveryMs ?? pingEveryMs);
    for (const text of this.greeting.splice(0)) this.take(text); // came right after the handshake
  }

  send(text: string): boolean {
    if (this.failed || this.ws.readyState !== 1) return false;
    try {
      this.ws.send(text);
      return true;
    } catch {
      return false;
    }
  }

  probe(ms: number): void {
    if (this.failed || this.probing !== undefined) return;
    this.ping();
    this.probing = setTimeout(() => this.fail(new ConnectionError(`the host has not answered for ${Math.ceil(ms / 1000)} s`)), ms);
  }

  close(): void {
    this.fail(new ConnectionError("the connection was closed"));
  }

  /** Marks the connection as gone; the first error counts. */
  fail(why: Error): void {
    if (this.failed) return;
    this.failed = why;
    clearInterval(this.keeper);
    clearTimeout(this.probing);
    this.ws.onmessage = this.ws.onclose = null;
    this.ws.onopen = () => this.ws.close(); // one that was still being opened
    this.ws.close();
    this.wake?.();
    this.receiver?.closed(why);
  }

  private take(data: unknown): void {
    if (this.failed) return;
    if (typeof data !== "string") return this.fail(new ConnectionError("the host sent a message that is not text"));
    this.heard = Date.now();
    clearTimeout(this.probing);
    this.probing = undefined;
    if (!this.receiver) {
      if (data.length > maxGreeting || this.greeting.length === maxGreetings)
        return this.fail(new ConnectionError("what answers there does not speak the language of a host"));
      this.greeting.push(data);
      return this.wake?.();
    }
    if (data.length > maxIncoming) return this.fail(new ConnectionError(`the host sent a message of more than ${maxIncoming >> 20} MiB`));
    let m: ReturnType<typeof parseMessage>;
    try {
      m = parseMessage(data);
    } catch (e) {
      return this.fail(new ConnectionError(`the host sent what is not a message: ${textOf(e)}`));
    }
    if (m) this.receiver.message(m);
  }

  /** Asks for a sign of life while nothing comes, and ends a connection on which none comes. */
  private keep(): void {
    const now = Date.now();
    const every = this.config.pingEveryMs ?? pingEveryMs;
    const late = now - this.ticked > 2 * every;
    this.ticked = now;
    if (now < this.heard) this.heard = now; // the clock was set back
    const quiet = now - this.heard;
    if (late) {
      // This program has slept, and what came meanwhile may still wait to be handed on.
      this.probe(wakeMs);
    } else if (quiet >= (this.config.silenceMs ?? silenceMs)) {
      this.fail(new ConnectionError(`the host has been silent for ${Math.floor(quiet / 1000)} s`));
    } else if (quiet >= every / 2) {
      this.ping();
    }
  }

  private ping(): void {
    this.send(JSON.stringify({ type: "ping", requestId: newRequestID(this.config.random) })); // nobody waits for the answer
  }
}

function closeError(e: { code?: number; reason?: string }, opened: boolean): Error {
  if (e.reason) return new ConnectionError(`the host has closed it: ${e.reason.slice(0, maxRefusal).replace(/\.$/, "")}`);
  if (e.code === 1000 || e.code === 1001) return new ConnectionError("the host has closed the connection");
  return new ConnectionError(
    opened ? "the connection to the host broke" : "no host of Scorel answers there, or it does not accept connections from here",
  );
}

/** The handshake: this side proves nothing before the host has proved itself. */
class Handshake {
  constructor(
    private readonly socket: Socket,
    private readonly config: WebSocketConfig,
    private readonly address: Address,
    private readonly code: Redeeming | undefined,
  ) {}

  async run(): Promise<Connected> {
    const { config } = this;
    const hello: Hello = {
      protocolVersion,
      clientId: config.clientId ?? ("" as ClientID),
      clientName: config.clientName,
      interactive: config.interactive,
      nonce: base64((config.random ?? cryptoRandom)(nonceSize)),
    };
    let ephemeral: ClientKey | undefined;
    if (config.key) {
      ephemeral = await newKey();
      hello.publicKey = base64(config.key.publicKey);
      hello.ephemeral = base64(ephemeral.publicKey);
      hello.clientId = config.clientId ?? (await clientIDOf(config.key.publicKey));
    }
    if (this.code) hello.pairing = this.code.pairing;
    const wrong = await wrongHello(hello);
    if (wrong !== "") throw new PermanentError(`this client cannot introduce itself: ${wrong}`);
    await this.socket.open();
    this.socket.send(JSON.stringify({ type: "hello", ...hello }));
    const challenge = (await this.receive("challenge")) as unknown as Challenge;
    const stranger = await wrongChallenge(hello, challenge, config.device ?? "");
    if (stranger !== "") {
      throw new PermanentError(
        `What listens on ${this.address.url} is not the host that was meant: ${stranger}. Nothing secret was sent to it.`,
        "auth_failed",
      );
    }
    const said: Transcript = { address: this.address.proved, hello, challenge };
    const { ofHost, mine } = await this.keys(challenge, ephemeral);
    if (!ofHost || !mine || !equalProof(await proof(ofHost, "host", said), challenge.proof)) {
      if (this.code) {
        throw new PermanentError(
          `What listens on ${this.address.url} could not prove that it has made this code: it is another host, or a stranger holds the address. The code was not sent to it.`,
          "auth_failed",
        );
      }
      throw new PermanentError(
        `What listens on ${this.address.url} could not prove that it is the host: the token is wrong or was changed there, or a stranger holds the address. Nothing secret was sent to it; scorel host token prints there which token counts.`,
        "auth_failed",
      );
    }
    if (this.code) this.code.sent.proved = challenge.deviceId;
    this.socket.send(JSON.stringify({ type: "connect", proof: base64(await proof(mine, "client", said)) }));
    const connected = (await this.receive("connected")) as unknown as Connected;
    if (connected.deviceId !== challenge.deviceId) throw new ConnectionError("the host changed its name within the handshake");
    return connected;
  }

  /** The keys of both proofs, none for a host whose keys are of low order. */
  private async keys(challenge: Challenge, ephemeral: ClientKey | undefined) {
    if (!this.config.key || !ephemeral) {
      const token = utf8(this.config.token ?? "");
      return { ofHost: token, mine: token };
    }
    try {
      const ofHost = await shared(ephemeral.privateKey, fromBase64(challenge.publicKey ?? ""));
      const mine = await shared(this.config.key.privateKey, fromBase64(challenge.ephemeral ?? ""));
      if (!this.code) return { ofHost, mine };
      return { ofHost: await paired(this.code.secret, ofHost), mine: await paired(this.code.secret, mine) };
    } catch {
      return {};
    }
  }

  /** The next message, which is of one type or a refusal. */
  private async receive(want: string): Promise<Record<string, unknown>> {
    const text = await this.socket.next();
    let m: unknown;
    try {
      m = JSON.parse(text);
    } catch {
      m = undefined;
    }
    if (!isObject(m)) throw new ConnectionError("what answers there does not speak the language of a host");
    if (m.type === want) return m;
    if (m.type !== "error") throw new ConnectionError(`the host sent a message of another type than ${want}`);
    const message = cleanLine(String(m.message).slice(0, maxRefusal));
    if (permanent.includes(m.code)) throw new PermanentError(message, m.code as NonNullable<PermanentError["code"]>);
    throw new ConnectionError(message);
  }
}

/** What is wrong with the size of a request, "" if nothing is. */
export function tooLong(name: string, text: string): string {
  const bytes = text.length * 3 <= maxMessage ? 0 : byteLength(text);
  return bytes > maxMessage
    ? `The ${name} request has ${bytes} bytes; a request may have ${maxMessage}. Attach long content as a file.`
    : "";
}
