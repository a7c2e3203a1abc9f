import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Hello } from "../protocol/index";
import { base64, utf8 } from "./bytes";
import { ConnectionError, PermanentError } from "./errors";
import { proof } from "./handshake";
import { newClientID } from "./ids";
import { type WebSocketConfig, webSocket } from "./socket";
import type { HostMessage } from "./transport";

const address = "127.0.0.1:4444";
const deviceId = "dev_00000000000000000000000001";

/** A WebSocket whose other end is the test. */
class FakeSocket {
  onopen: (() => unknown) | null = null;
  onmessage: ((e: { data: unknown }) => unknown) | null = null;
  onclose: ((e: { code?: number; reason?: string }) => unknown) | null = null;
  onerror: (() => unknown) | null = null;
  readyState = 0;
  closed = false;
  readonly sent: { type: string; requestId?: string }[] = [];

  constructor(private readonly answer: (s: FakeSocket, m: Hello & { type: string }) => void) {
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(text: string): void {
    const m = JSON.parse(text);
    this.sent.push(m);
    this.answer(this, m);
  }

  close(): void {
    this.closed = true;
    this.readyState = 3;
  }

  says(m: unknown): void {
    this.onmessage?.({ data: typeof m === "string" ? m : JSON.stringify(m) });
  }
}

/** Plays the host's side of the handshake. */
async function honest(s: FakeSocket, m: Hello & { type: string }, key = "token"): Promise<void> {
  if (m.type === "connect") return s.says({ type: "connected", deviceId, grant: "control", version: "test" });
  if (m.type !== "hello") return;
  const challenge = { deviceId, nonce: base64(new Uint8Array(32)), proof: "" } as never;
  s.says({ ...(challenge as object), type: "challenge", proof: base64(await proof(utf8(key), "host", { address, hello: m, challenge })) });
}

function dial(answer: (s: FakeSocket, m: Hello & { type: string }) => void = honest, config: Partial<WebSocketConfig> = {}) {
  const state = { socket: undefined as FakeSocket | undefined, messages: [] as HostMessage[], gone: undefined as Error | undefined };
  const WebSocket = class extends FakeSocket {
    constructor() {
      super(answer);
      state.socket = this;
    }
  };
  const receiver = { message: (m: HostMessage) => state.messages.push(m), closed: (why: Error) => (state.gone = why) };
  const base = { url: `ws://${address}`, token: "token", clientId: newClientID(), clientName: "test", interactive: true, WebSocket };
  return { state, dialled: webSocket({ ...base, ...config })(receiver, new AbortController().signal) };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("the handshake", () => {
  test("sends no proof to a host that does not know the token", async () => {
    const { state, dialled } = dial((s, m) => honest(s, m, "another"));
    await expect(dialled).rejects.toBeInstanceOf(PermanentError);
    expect(state.socket?.sent.map((m) => m.type)).toEqual(["hello"]);
    expect(JSON.stringify(state.socket?.sent)).not.toContain('"token"');
    expect(state.socket?.closed).toBe(true);
  });

  test("ends for good when the host refuses, with what it says made safe to show", async () => {
    const { dialled } = dial((s) =>
      s.says({ type: "error", requestId: "", code: "unsupported_protocol", message: `\u001b[31mno${"x".repeat(9_000)}` }),
    );
    const error = await dialled.catch((e) => e);
    expect(error).toBeInstanceOf(PermanentError);
    expect(error.code).toBe("unsupported_protocol");
    expect(error.message).not.toContain("\u001b");
    expect(error.message.length).toBeLessThan(600);
  });

  test.each([
    ["no JSON", "hello?"],
    ["another message", { type: "live" }],
    ["a message that is too long", `"${"x".repeat(20_000)}"`],
  ])("fails when %s comes, and may be tried again", async (_, m) => {
    await expect(dial((s) => s.says(m)).dialled).rejects.toBeInstanceOf(ConnectionError);
  });

  test("takes at most 15 s", async () => {
    const { dialled } = dial(() => {});
    const failed = expect(dialled).rejects.toThrow(/too long/);
    await vi.advanceTimersByTimeAsync(15_000);
    await failed;
  });

  test.each([
    ["without a token or a key", { token: undefined }, /not both/],
    ["to a host of no known device with a key", { token: undefined, key: { privateKey: {}, publicKey: new Uint8Array(32) } }, /device/],
    ["without encryption to another machine", { url: "ws://desk.example" }, /encryption/],
  ])("is not begun %s", async (_, config, why) => {
    const { state, dialled } = dial(honest, config as Partial<WebSocketConfig>);
    await expect(dialled).rejects.toThrow(why);
    expect(state.socket).toBeUndefined();
  });
});

describe("a connection", () => {
  async function connected() {
    const { state, dialled } = dial();
    const { transport } = await dialled;
    const socket = state.socket as FakeSocket;
    return { state, socket, transport, pings: () => socket.sent.filter((m) => m.type === "ping").length };
  }

  test("on which nothing comes is asked every 20 s and ended after 60 s", async () => {
    const { state, socket, pings } = await connected();
    await vi.advanceTimersByTimeAsync(40_000);
    expect(pings()).toBe(2);
    socket.says({ type: "response", requestId: "req_x", data: {} });
    await vi.advanceTimersByTimeAsync(59_000);
    expect(state.gone).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(state.gone?.message).toMatch(/silent for 6\d s|silent for 7\d s/);
    expect(socket.closed).toBe(true);
  });

  test("is asked and ended also when the clock was set back meanwhile", async () => {
    const { state, pings } = await connected();
    vi.setSystemTime(Date.now() - 24 * 3_600_000);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(pings()).toBeGreaterThan(1);
    expect(state.gone?.message).toMatch(/silent/);
  });

  test("after sleep is asked first, and ended when no answer comes within 5 s", async () => {
    const { state, pings } = await connected();
    vi.setSystemTime(Date.now() + 3_600_000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(pings()).toBe(1);
    expect(state.gone).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(state.gone?.message).toMatch(/not answered/);
  });

  test("that answers after sleep stays", async () => {
    const { state, socket } = await connected();
    vi.setSystemTime(Date.now() + 3_600_000);
    await vi.advanceTimersByTimeAsync(20_000);
    socket.says({ type: "response", requestId: "req_x", data: {} });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(state.gone).toBeUndefined();
  });

  test("skips frames of a newer host, and hands on the others in order", async () => {
    const { state, socket } = await connected();
    socket.says({ type: "projects_changed" });
    socket.says({ type: "of_tomorrow", sessionId: 7 });
    socket.says({ type: "resync", sessionId: "ses_1", mode: "full_reload" });
    expect(state.messages.map((m) => m.type)).toEqual(["projects_changed", "resync"]);
    expect(state.gone).toBeUndefined();
  });

  test.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["an answer to nothing", { type: "response" }],
    ["events without a place", { type: "events", sessionId: "ses_1", events: [{ type: "message" }] }],
    ["events of no session", { type: "events", events: [] }],
    ["a state that is none", { type: "live", sessionId: "ses_1", live: {} }],
  ])("ends when the host sends %s", async (_, m) => {
    const { state, socket } = await connected();
    socket.says(m);
    expect(state.gone?.message).toMatch(/not a message/);
    expect(state.messages).toEqual([]);
  });

  test("ends when a message is not text or too long", async () => {
    const one = await connected();
    one.socket.onmessage?.({ data: new ArrayBuffer(1) });
    expect(one.state.gone?.message).toMatch(/not text/);
    const two = await connected();
    two.socket.says("x".repeat((16 << 20) + 1));
    expect(two.state.gone?.message).toMatch(/16 MiB/);
  });

  test("that is gone sends nothing more", async () => {
    const { state, socket, transport } = await connected();
    socket.onclose?.({ code: 1001, reason: "the host stops" });
    expect(state.gone?.message).toBe("the host has closed it: the host stops");
    expect(transport.send("{}")).toBe(false);
    transport.close();
  });
});
