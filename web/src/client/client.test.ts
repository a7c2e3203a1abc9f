import { afterEach, describe, expect, test, vi } from "vitest";
import type { Call, RequestID, SessionID } from "../protocol/index";
import { MemoryCache } from "./cache";
import { Client, type ClientConfig, type Status } from "./client";
import type { DeviceChanges } from "./device";
import { ClosedError, PermanentError, type Problem } from "./errors";
import { newSessionID } from "./ids";
import { watchPage } from "./page";
import { fetchBlob, upload } from "./payload";
import { FakeHost } from "./testing/fake";
import { until } from "./testing/random";

const session = newSessionID();
const soon = (n: number) => new Uint8Array(n); // waits of no time

const atOnce = (run: () => void) => {
  run();
  return () => {};
};

const open: Client[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((c) => c.close()));
});

function start(config: Partial<ClientConfig> = {}) {
  const host = new FakeHost();
  const problems: Problem[] = [];
  const client = new Client({ dial: host.dial, onProblem: (p) => problems.push(p), ...config });
  open.push(client);
  return { host, client, problems };
}

/** A client that waits for no time before it connects again. */
function eager(config: Partial<ClientConfig> = {}) {
  let n = 0;
  const random = (size: number) => {
    const bytes = soon(size);
    if (size > 3) new DataView(bytes.buffer).setUint32(0, n++); // ids differ, waits do not
    return bytes;
  };
  return start({ random, ...config });
}

const send = (c: Client, text: string) => c.call("send_message", { content: [{ type: "text", text }] } as never, { sessionId: session });

const at = (seq: number) => ({
  deviceId: "dev_00000000000000000000000001",
  streamEpoch: "epo_0000000000000001",
  throughSeq: seq,
  persistentLastSeq: seq,
  ...(seq > 0 && { persistentLastId: `evt_${seq}`, leafId: `evt_${seq}` }),
  meta: {},
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  running: false,
});
const message = (seq: number) => ({
  type: "message",
  id: `evt_${seq}`,
  parentId: seq > 1 ? `evt_${seq - 1}` : null,
  seq,
  sessionId: session,
  clientId: "host",
  ts: 1,
  message: { role: "user", content: `message ${seq}` },
});
const resync = (mode: string) => ({ type: "resync", sessionId: session, mode });
const events = (...list: object[]) => ({ type: "events", sessionId: session, events: list });
const live = (seq: number) => ({ type: "live", sessionId: session, live: at(seq) });
const opened = { summary: { sessionId: session, meta: {}, createdAt: 1, updatedAt: 1 } };

describe("requests", () => {
  test("wait for the connection and are sent in the order in which they were made", async () => {
    const { host, client } = start();
    const all = ["a", "b", "c"].map((text) => send(client, text));
    const wire = await host.wire();
    await wire.call("send_message", 2);
    expect(wire.sent.map((c) => JSON.stringify(c).match(/"text":"(.)"/)?.[1])).toEqual(["a", "b", "c"]);
    expect(wire.sent.every((c) => !("repeat" in c))).toBe(true);
    for (const [i, c] of [...wire.sent].reverse().entries()) wire.answers(c, { eventId: `evt_${i}` }); // in any order
    expect((await Promise.all(all)).map((a) => a.eventId)).toEqual(["evt_2", "evt_1", "evt_0"]);
  });

  test("whose connection broke are sent again with the same id, marked as a repeat when they act", async () => {
    const { host, client } = eager();
    const sent = send(client, "once");
    const read = client.call("list_projects", {});
    const first = await host.wire();
    await first.call("list_projects");
    first.break();
    const second = await host.wire(1);
    const again = await second.call("send_message");
    expect(again).toEqual({ ...first.sent[0], repeat: true });
    expect(await second.call("list_projects")).toEqual(first.sent[1]);
    second.answers(again, { eventId: "evt_1" });
    second.answers(again, { eventId: "evt_2" }); // a second answer is dropped
    second.answers(second.sent[1], { projects: [] });
    expect((await sent).eventId).toBe("evt_1");
    expect((await read).projects).toEqual([]);
    expect(client.unanswered).toBe(0);
  });

  test("that break one connection after the other fail at the eighth", async () => {
    const { host, client } = eager();
    const sent = send(client, "poison").catch((e: Error) => e.message);
    for (let i = 0; i < 8; i++) {
      const wire = await host.wire(i);
      await wire.call("send_message");
      wire.break();
    }
    expect(await sent).toMatch(/broke 8 times while the host answered send_message/);
  });

  test("that are too many while there is no connection fail at once, and the others are sent", async () => {
    const { host, client } = eager();
    host.refusal = new Error("not yet");
    const waiting = Array.from({ length: 256 }, (_, i) => send(client, String(i)));
    await expect(send(client, "one more")).rejects.toMatchObject({ code: "rate_limited", message: expect.stringContaining("256") });
    host.refusal = undefined;
    const wire = await host.wire();
    await wire.call("send_message", 255);
    for (const c of wire.sent) wire.answers(c, {});
    await Promise.all(waiting);
  });

  test("that are too long together while there is no connection fail at once", async () => {
    const { host, client } = eager();
    host.refusal = new Error("not yet");
    const waiting = Array.from({ length: 16 }, () => send(client, "x".repeat(1_000_000)));
    await expect(send(client, "x".repeat(1_000_000))).rejects.toMatchObject({ code: "rate_limited" });
    await expect(send(client, "x".repeat(1 << 20))).rejects.toMatchObject({ code: "payload_too_large" });
    const ended = Promise.allSettled(waiting);
    await client.close();
    expect((await ended).every((r) => r.status === "rejected" && r.reason instanceof ClosedError)).toBe(true);
  });

  test("of an earlier program can be repeated by their id", async () => {
    const { host, client } = start();
    const requestId = "req_00000000000000000000000000" as RequestID;
    const sent = client.call("ping", {}, { requestId, repeat: true });
    const wire = await host.wire();
    expect(await wire.call("ping")).toEqual({ type: "ping", requestId, repeat: true });
    wire.answers(wire.sent[0], {});
    await sent;
  });

  test("can be given up, before and after they were sent", async () => {
    const { host, client } = start();
    const stop = new AbortController();
    const sent = client.call("ping", {}, { signal: stop.signal });
    await (await host.wire()).call("ping");
    stop.abort(new Error("given up"));
    await expect(sent).rejects.toThrow("given up");
    await expect(client.call("ping", {}, { signal: stop.signal })).rejects.toThrow("given up");
    expect(client.unanswered).toBe(0);
  });

  test("after close fail, and so do those that wait", async () => {
    const { host, client } = start();
    const sent = client.call("ping", {}).catch((e) => e);
    await (await host.wire()).call("ping");
    await client.close();
    expect(await sent).toBeInstanceOf(ClosedError);
    await expect(client.call("ping", {})).rejects.toBeInstanceOf(ClosedError);
    expect(client.status).toEqual({ state: "disconnected" });
  });
});

describe("the connection", () => {
  test("is tried again, with waits within a window that doubles up to 15 s", async () => {
    const most = (n: number) => new Uint8Array(n).fill(255);
    const { host, client } = start({ random: most });
    host.refusal = new Error("no host");
    const waits: number[] = [];
    client.onStatus((s) => {
      if (s.retryInMs === undefined) return;
      waits.push(s.retryInMs);
      setTimeout(() => client.call("ping", {}).catch(() => {}), 0);
    });
    // Waits are passed over without the count of tries being forgotten.
    const skip = setInterval(() => (client as unknown as { retryNow?: () => void }).retryNow?.(), 1);
    await until(
      () => waits.length >= 9,
      () => String(waits),
    );
    clearInterval(skip);
    for (const [i, w] of waits.slice(0, 9).entries()) expect(w).toBeLessThanOrEqual(Math.min(250 * 2 ** i, 15_000));
    expect(Math.max(...waits)).toBeGreaterThan(250);
  });

  test("is tried at once when somebody asks for it", async () => {
    const { host, client } = start({ random: (n) => new Uint8Array(n).fill(99) });
    host.refusal = new Error("no host");
    await until(
      () => client.status.state === "connecting" && client.status.retryInMs !== undefined,
      () => client.status.state,
    );
    host.refusal = undefined;
    const tries = host.tries;
    client.wake();
    await host.wire();
    expect(host.tries).toBe(tries + 1);
  });

  test("ends for good when the host refuses this client, and says why", async () => {
    const { host, client } = start();
    const states: Status[] = [];
    client.onStatus((s) => states.push(s));
    host.refusal = new PermanentError("the token is wrong", "auth_failed");
    await expect(client.call("ping", {})).rejects.toThrow("the token is wrong");
    expect(states.at(-1)).toMatchObject({ state: "disconnected", error: { code: "auth_failed" } });
    expect(() => client.session(session)).not.toThrow();
    await expect(client.open(newSessionID())).rejects.toThrow("the token is wrong");
  });

  test("is looked after when the page is shown again or has a network again", async () => {
    const { host, client } = start();
    const wire = await host.wire();
    const document = Object.assign(new EventTarget(), { visibilityState: "visible" as DocumentVisibilityState });
    const window = new EventTarget();
    await until(
      () => client.status.state === "connected",
      () => client.status.state,
    );
    const stop = watchPage(client, { document, window } as never);
    document.dispatchEvent(new Event("visibilitychange"));
    window.dispatchEvent(new Event("online"));
    expect(wire.probed).toBe(2);
    stop();
    window.dispatchEvent(new Event("online"));
    expect(wire.probed).toBe(2);
  });
});

describe("a silent line", () => {
  afterEach(() => void vi.useRealTimers());

  test("is asked for a sign of life while a request that acts has no answer, and only then", async () => {
    const { host, client } = start();
    const wire = await host.wire();
    await until(
      () => client.status.state === "connected",
      () => client.status.state,
    );
    vi.useFakeTimers();
    void client.call("list_sessions", {}).catch(() => {});
    await vi.advanceTimersByTimeAsync(30_000);
    expect(wire.probed).toBe(0);
    const sent = send(client, "hello");
    await vi.advanceTimersByTimeAsync(4_000);
    wire.says({ type: "response", requestId: "req_00000000000000000000000000", data: {} }); // it lives
    await vi.advanceTimersByTimeAsync(2_000);
    expect(wire.probed).toBe(0);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(wire.probed).toBe(1);
    wire.answers(
      wire.sent.find((c) => c.type === "send_message"),
      {},
    );
    await sent;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(wire.probed).toBe(1);
    vi.setSystemTime(Date.now() - 40 * 24 * 3_600_000); // longer than a timer can be set for
    void send(client, "again").catch(() => {});
    const timers = vi.spyOn(globalThis, "setTimeout");
    await vi.advanceTimersByTimeAsync(12_000);
    expect(wire.probed).toBeGreaterThan(1);
    expect(timers.mock.calls.length).toBeLessThan(20);
  });
});

describe("a session", () => {
  async function subscribed(config: Partial<ClientConfig> = {}) {
    const all = eager(config);
    const s = all.client.session(session, { window: 10 });
    const wire = await all.host.wire();
    const call = await wire.call("open_session");
    wire.says(resync("full_reload"));
    wire.says(events(message(1), message(2)));
    wire.says(live(2));
    wire.answers(call, opened);
    await s.ready;
    return { ...all, s, wire };
  }

  test("goes on from where it stands when the connection is back", async () => {
    const { host, s, wire } = await subscribed();
    expect(s.state).toBe("live");
    wire.break();
    expect(s.state).toBe("waiting");
    const second = await host.wire(1);
    const call = await second.call("open_session");
    expect(call).toMatchObject({ anchors: { streamEpoch: "epo_0000000000000001", streamLastSeq: 2, persistentLastId: "evt_2" } });
    second.says(resync("stream_resume"));
    second.says(events(message(2), message(3))); // one that was given already
    second.says(live(3));
    second.answers(call, opened);
    expect(s.projection.path.map((e) => e.id)).toEqual(["evt_1", "evt_2", "evt_3"]);
    expect(s.state).toBe("live");
    wire.says(events(message(4))); // of the old connection
    expect(s.projection.path.length).toBe(3);
  });

  test("is read anew when the host has left something out", async () => {
    const { host, s, wire } = await subscribed();
    wire.break();
    const second = await host.wire(1);
    second.answers(await second.call("open_session"), opened);
    second.says(resync("persistent_fallback"));
    second.says(live(5));
    second.answers(await second.call("close_session"), {});
    const again = await second.call("open_session", 1);
    expect(again).not.toHaveProperty("anchors");
    second.says(resync("full_reload"));
    second.says(events(message(1)));
    second.says(live(1));
    second.answers(again, opened);
    expect(s.projection.path.map((e) => e.id)).toEqual(["evt_1"]);
    expect(s.state).toBe("live");
  });

  test("that the host closes without a fault is opened again, with a fault it ends", async () => {
    const { s, wire } = await subscribed();
    wire.says({ type: "session_closed", sessionId: session });
    const again = await wire.call("open_session", 1);
    wire.answers(again, opened);
    wire.says(resync("stream_resume"));
    wire.says(live(2));
    expect(s.state).toBe("live");
    wire.says({ type: "session_closed", sessionId: session, error: { code: "storage_error", message: "the log cannot be read" } });
    expect(s.state).toBe("closed");
    expect(s.error).toMatchObject({ code: "storage_error" });
  });

  test("that another program has ends, or waits to be tried again where that is wanted", async () => {
    const locked = (call: Call) => ({
      type: "error",
      requestId: call?.requestId,
      code: "session_locked",
      message: "The session is in use by another process.",
      details: { path: "sessionId", reason: "elsewhere" },
    });
    const { host, client } = eager();
    const wire = await host.wire();
    const strict = client.session(session);
    wire.says(locked(await wire.call("open_session")));
    await strict.ended;
    expect(strict.error).toMatchObject({ code: "session_locked" });

    const s = client.session(session, { waitsForLock: true });
    wire.says(locked(await wire.call("open_session", 1)));
    await until(
      () => s.refused !== undefined,
      () => s.state,
    );
    expect([s.refused?.code, s.error, s.state]).toEqual(["session_locked", undefined, "opening"]);
    s.retry();
    wire.says(locked(await wire.call("open_session", 2)));
    await until(
      () => s.state === "opening",
      () => s.state,
    );
    s.retry();
    s.retry(); // it is on its way already
    const third = await wire.call("open_session", 3);
    wire.says(resync("full_reload"));
    wire.says(events(message(1)));
    wire.says(live(1));
    wire.answers(third, opened);
    await s.ready;
    expect([s.refused, s.state]).toEqual([undefined, "live"]);
    s.retry(); // there is nothing to try
    expect(wire.sent.filter((c) => c.type === "open_session").length).toBe(4);
  });

  test("asks for what its screen lacks, and a late answer replaces nothing that is newer", async () => {
    const { s, wire } = await subscribed();
    wire.says(events({ ...message(9), parentId: "evt_8" })); // its path was never seen
    const ask = await wire.call("get_path");
    expect(ask).toMatchObject({ beforeId: "evt_9" });
    wire.says(resync("full_reload"));
    wire.says(events(message(1), message(2)));
    wire.says(live(2));
    wire.answers(ask, { events: [{ ...message(8), parentId: null }] });
    await until(
      () => wire.sent.length >= 2,
      () => "",
    );
    expect(s.projection.path.map((e) => e.id)).toEqual(["evt_1", "evt_2"]);
  });

  test("whose older events cannot be read says so and shows the rest", async () => {
    const { s, wire, problems } = await subscribed();
    wire.says(events({ ...message(9), parentId: "evt_8" }));
    wire.refuses(await wire.call("get_path"), "invalid_event_id");
    await until(
      () => problems.length > 0,
      () => "no problem was told",
    );
    expect(problems[0]).toMatchObject({ what: "path" });
    expect(s.projection.more).toBe(false);
  });

  test("tells its listeners once a frame, whatever comes, and text is appended in place", async () => {
    let run: (() => void) | undefined;
    const frames: (() => void)[] = [];
    const schedule = (f: () => void) => {
      frames.push(f);
      run = f;
      return () => {};
    };
    const { s, wire } = await subscribed({ schedule });
    let told = 0;
    s.subscribe(() => told++);
    frames.length = 0;
    const base = { sessionId: session, clientId: "host", ts: 1, turnId: "trn_1" };
    wire.says(events({ ...base, type: "message_start", seq: 3, eventId: "evt_9", parentId: "evt_2", role: "assistant" }));
    const running = s.projection.live.messages?.[0];
    for (let i = 0; i < 10_000; i++)
      wire.says(events({ ...base, type: "text_delta", seq: 4 + i, eventId: "evt_9", blockIndex: 0, delta: "ab " }));
    expect(frames.length).toBe(1);
    expect(told).toBe(0);
    run?.();
    expect(told).toBe(1);
    expect(s.projection.live.messages?.[0]).toBe(running);
    expect(running?.blocks?.[0]?.text.length).toBe(30_000);
  });

  test("is not disturbed by a listener that throws, and the fault is told", async () => {
    const { s, wire, problems } = await subscribed({ schedule: atOnce });
    let told = 0;
    s.subscribe(() => {
      throw new Error("a fault of the page");
    });
    s.subscribe(() => told++);
    wire.says(events(message(3)));
    expect(told).toBe(1);
    expect(problems).toMatchObject([{ what: "listener", message: expect.stringContaining("a fault of the page") }]);
  });

  test("that was closed can be opened again, after the host has closed it", async () => {
    const { client, s, wire } = await subscribed();
    expect(() => client.session(session)).toThrow(/already open/);
    const closed = s.close();
    const next = client.session(session);
    const close = await wire.call("close_session");
    expect(wire.sent.filter((c) => c.type === "open_session").length).toBe(1);
    wire.answers(close, {});
    await closed;
    wire.answers(await wire.call("open_session", 1), opened);
    await next.ready;
  });

  test("that a cache cannot keep is shown all the same, and the person is told", async () => {
    const cache = new MemoryCache();
    cache.put = () => Promise.reject(new Error("the disk is full"));
    const { client, s, problems } = await subscribed({ cache });
    client.save();
    await until(
      () => problems.length > 0,
      () => "no problem was told",
    );
    expect(problems[0]).toMatchObject({ what: "cache", message: expect.stringContaining("the disk is full") });
    expect(s.state).toBe("live");
  });

  test("that was deleted is no longer kept", async () => {
    const cache = new MemoryCache();
    const { client, wire } = await subscribed({ cache });
    client.save();
    const key = { deviceId: client.device as never, projectId: "" as never, sessionId: session };
    expect((await cache.get(key))?.path.length).toBe(2);
    wire.says({ type: "session_changed", deleted: true, summary: opened.summary });
    expect(await cache.get(key)).toBeUndefined();
  });
});

describe("changes of the device", () => {
  test("are told together, of each session the newest, and after a reconnect that something was missed", async () => {
    const { host, client } = eager();
    const wire = await host.wire();
    const summary = (name: string) => ({ type: "session_changed", summary: { ...opened.summary, meta: { name } } });
    wire.says(summary("old"));
    wire.says(summary("new"));
    wire.says({ type: "projects_changed" });
    const told: DeviceChanges[] = [];
    client.onDevice((c) => told.push(c));
    await until(
      () => told.length > 0,
      () => "nothing was told",
    );
    expect(told[0]).toMatchObject({ projects: true, missed: false, sessions: [{ summary: { meta: { name: "new" } } }] });
    wire.break();
    await host.wire(1);
    await until(
      () => told.length > 1,
      () => "nothing was told",
    );
    expect(told[1]).toMatchObject({ projects: false, missed: true, sessions: [] });
  });

  test("that are more than are kept are missed, and it says so", async () => {
    const { host, client } = start();
    const wire = await host.wire();
    for (let i = 0; i < 300; i++) wire.says({ type: "session_changed", summary: { ...opened.summary, sessionId: `ses_${i}` } });
    const told: DeviceChanges[] = [];
    client.onDevice((c) => told.push(c));
    await until(
      () => told.length > 0,
      () => "nothing was told",
    );
    expect(told[0]?.missed).toBe(true);
    expect(told[0]?.sessions.length).toBeLessThanOrEqual(256);
  });
});

describe("a payload", () => {
  const bytes = new Uint8Array(600_000).fill(7);

  test("whose upload breaks in the middle is sent from its beginning", async () => {
    const { host, client } = eager();
    const sent = upload(client, bytes);
    const first = await host.wire();
    first.answers(await first.call("put_blob"), {});
    await first.call("put_blob", 1);
    first.break();
    const second = await host.wire(1);
    const again = await second.call("put_blob");
    expect(again).toMatchObject({ offset: 0 });
    second.answers(again, {});
    const last = await second.call("put_blob", 1);
    expect(last).toMatchObject({ offset: 512 << 10, last: true });
    second.answers(last, { sha256: "abc", size: bytes.length });
    expect((await sent).sha256).toBe("abc");
  });

  test("that comes damaged is refused", async () => {
    const { host, client } = start();
    const got = fetchBlob(client, session as SessionID, "0".repeat(64));
    const wire = await host.wire();
    wire.answers(await wire.call("get_blob"), { data: btoa("other"), size: 5 });
    await expect(got).rejects.toThrow(/damaged/);
  });
});
