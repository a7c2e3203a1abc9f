import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientID, PersistentEvent, SessionEvent } from "../protocol/index";
import { base64, utf8 } from "./bytes";
import { MemoryCache } from "./cache";
import { Client } from "./client";
import { PermanentError, RequestError } from "./errors";
import { newKey } from "./handshake";
import { clientIDOf, newClientID, newSessionID } from "./ids";
import { fetchBlob, upload } from "./payload";
import type { Update } from "./replay";
import type { Session } from "./session";
import { pair, webSocket } from "./socket";
import { Host, withoutHost } from "./testing/host";
import { Line } from "./testing/line";
import { Seeded, until } from "./testing/random";

const missing = withoutHost();
if (missing !== "") console.log(missing);

const script = [
  { script: 1, chunk: 3, delayMs: 1 },
  {
    again: true,
    do: [{ thinking: "Let me see… " }, { text: "An answer in pieces 📄 of several bytes. ", times: 4 }],
  },
];

/** Checks what a subscription brings: each stored event once and in order, and running text that equals what is stored. */
class Judge {
  readonly events: PersistentEvent[] = [];
  readonly faults: string[] = [];
  private running = new Map<string, string>();
  updates = 0;

  take(u: Update): void {
    this.updates++;
    if (u.resync === "full_reload") this.events.length = 0;
    if (u.resync === "full_reload" || u.resync === "persistent_fallback") this.running.clear();
    for (const e of u.events) this.event(e);
    if (u.live) {
      this.running = new Map(
        (u.live.messages ?? []).map((m) => [m.eventId, (m.blocks ?? []).map((b) => (b.type === "text" ? b.text : "")).join("")]),
      );
    }
  }

  private event(e: SessionEvent): void {
    if (e.type === "message_start") this.running.set(e.eventId, "");
    if (e.type === "text_delta") this.running.set(e.eventId, (this.running.get(e.eventId) ?? "") + e.delta);
    if (!("id" in e)) return;
    const last = this.events.at(-1);
    if (last && last.seq >= e.seq) this.faults.push(`event ${e.seq} after ${last.seq}`);
    this.events.push(e);
    const text = this.running.get(e.id);
    this.running.delete(e.id);
    if (text === undefined || e.type !== "message" || typeof e.message.content === "string") return;
    const stored = e.message.content.map((b) => (b.type === "text" ? b.text : "")).join("");
    if (text !== stored) this.faults.push(`the text that came of ${e.id} is ${JSON.stringify(text)}, stored is ${JSON.stringify(stored)}`);
  }
}

/** The text of a message of a person, "" for other events. */
function said(e: SessionEvent): string {
  if (e.type !== "message" || e.message.role !== "user") return "";
  const { content } = e.message;
  return typeof content === "string" ? content : (content ?? []).map((b) => (b.type === "text" ? b.text : "")).join("");
}

function count<T>(list: T[], is: (x: T) => boolean): number {
  return list.filter(is).length;
}

describe.skipIf(missing !== "")("with the real host", () => {
  let host: Host;
  let proxy: Line;
  let port = 0;
  const clients: Client[] = [];

  beforeAll(async () => {
    proxy = await Line.listen(() => port);
    host = new Host({ script, names: [`127.0.0.1:${proxy.port}`] });

    await host.start();
    port = host.port;
  });

  afterAll(async () => {
    await Promise.all(clients.map((c) => c.close()));
    await proxy.close();
    await host.remove();
  });

  function client(
    options: { clientId?: ClientID; token?: string; cache?: MemoryCache; pingEveryMs?: number; silenceMs?: number; dialMs?: number } = {},
  ): Client {
    const { cache, clientId = newClientID(), token = host.token, ...times } = options;
    const dial = webSocket({ url: `ws://127.0.0.1:${proxy.port}`, token, clientId, clientName: "test", interactive: false, ...times });
    const c = new Client({ dial, ...(cache && { cache }) });
    clients.push(c);
    return c;
  }

  async function create(c: Client) {
    const sessionId = newSessionID();
    const { projectId } = await c.call("register_project", { workDir: host.work });
    await c.call("create_session", { projectId, meta: { workDir: host.work, model: host.model } as never }, { sessionId });
    return { sessionId, projectId };
  }

  /** Sends a message and waits for the end of its turn. */
  async function turn(c: Client, s: Session, text: string): Promise<void> {
    await c.call("send_message", { content: [{ type: "text", text }] } as never, { sessionId: s.sessionId });
    const shown = () => s.projection.path.some((e) => said(e) === text);
    await until(
      () => s.state === "live" && shown() && !s.projection.live.running,
      () =>
        `${text}: ${s.state}, shown ${shown()}, running ${s.projection.live.running}, ${c.status.state} ${c.status.error?.message ?? ""}`,
    );
  }

  test("a client proves the token, sends a message and sees its answer as it comes in", async () => {
    proxy.next = () => undefined;
    const c = client();
    const { sessionId } = await create(c);
    const judge = new Judge();
    const s = await c.open(sessionId, { onUpdate: (u) => judge.take(u) });
    expect(s.opened?.summary.sessionId).toBe(sessionId);
    await turn(c, s, "hello");
    expect(judge.faults).toEqual([]);
    const last = s.projection.path.at(-1);
    expect(last?.type === "message" && last.message.role).toBe("assistant");
    expect(c.status.connected?.deviceId).toBe(host.device);
    await s.close();
    expect(s.state).toBe("closed");
    const again = await c.open(sessionId); // one that was closed can be opened again
    await until(
      () => again.state === "live",
      () => again.state,
    );
    expect(again.projection.path.map((e) => e.id)).toEqual(s.projection.path.map((e) => e.id));
  });

  test("a wrong token ends the client and names the way out", async () => {
    const c = client({ token: "wrong" });
    const error = await c.call("ping", {}).catch((e) => e);
    expect(error).toBeInstanceOf(PermanentError);
    expect(error.message).toMatch(/scorel host token/);
    expect(c.status.state).toBe("disconnected");
  });

  test("a request that fails has the host's code", async () => {
    const c = client();
    const error = await c.call("get_path", { limit: 1 }, { sessionId: newSessionID() }).catch((e) => e);
    expect(error).toBeInstanceOf(RequestError);
    expect(error.code).toBe("session_not_found");
    await expect(c.open(newSessionID())).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("a payload comes back as it was sent", async () => {
    const c = client();
    const { sessionId } = await create(c);
    const s = await c.open(sessionId);
    const bytes = utf8("0123456789abcdef".repeat(80_000)); // several parts
    const ref = await upload(c, bytes);
    const file = { type: "file", name: "a.txt", mediaType: "text/plain", blob: ref.sha256 };
    await c.call("send_message", { content: [{ type: "text", text: "read it" }, file] } as never, { sessionId });
    const got = await fetchBlob(c, sessionId, ref.sha256 as string);
    expect(Buffer.compare(got, bytes)).toBe(0);
    await s.close();
  });

  test("a session that was kept is shown at once, and only what was missed comes", async () => {
    const cache = new MemoryCache();
    const first = client({ cache });
    const { sessionId, projectId } = await create(first);
    const options = { projectId };
    const s = await first.open(sessionId, options);
    await turn(first, s, "one");
    const before = s.projection.path.map((e) => e.id);
    await first.close();
    const other = client();
    const o = await other.open(sessionId);
    await turn(other, o, "two");
    const updates: Update[] = [];
    const second = client({ cache });
    await until(
      () => second.status.state === "connected",
      () => second.status.state,
    );
    const t = second.session(sessionId, { ...options, onUpdate: (u) => updates.push(u) });
    await t.ready;
    expect(t.projection.path.slice(0, before.length).map((e) => e.id)).toEqual(before);
    await until(
      () => t.state === "live",
      () => t.state,
    );
    expect(updates[0]?.resync).toBe("persistent_fallback");
    expect(t.projection.path).toEqual(o.projection.path);
  });

  const rounds = Number(process.env.ROUNDS ?? 220);
  const seed = Number(process.env.SEED ?? 18);

  test(`${rounds} rounds over a line that is cut and freezes, with a host that is killed: each event once and in order, each request acts once (SEED=${seed})`, async () => {
    const random = new Seeded(seed);
    const c = client({ pingEveryMs: 100, silenceMs: 400, dialMs: 1000 });
    proxy.next = () => undefined;
    const { sessionId } = await create(c);
    const judge = new Judge();
    const s = await c.open(sessionId, { tail: 2000, window: 2000, onUpdate: (u) => judge.take(u) });
    await turn(c, s, "hello"); // the first turn stores the prompt of the system, which is longer than most lines live
    // Each connection lives for some bytes; the handshake has about 700.
    let lines = 0;
    proxy.next = () => {
      const freeze = ++lines % 20 === 0;
      return { after: 1 + random.below(freeze ? 3_000 : random.chance(0.2) ? 900 : 30_000), freeze };
    };
    proxy.breakAll();
    let connections = 0;
    c.onStatus(({ state }) => {
      if (state === "connected") connections++;
      if (state === "reconnecting" || state === "connecting") setTimeout(() => c.retry(), random.below(5));
    });
    let kills = 0;
    let labelled = 0;
    // The host is killed after it has acted, and before its answer has come.
    const killWith = async (label: string) => {
      const { next } = proxy;
      const before = connections;
      proxy.next = () => undefined; // so that the request reaches the host
      proxy.breakAll();
      await until(
        () => connections > before && s.state === "live",
        () => s.state,
      );
      proxy.mute = true;
      const answer = c.call("set_label", { targetEventId: s.projection.path.at(-1)?.id as string, label } as never, { sessionId });
      labelled++;
      await until(
        () => host.stored(sessionId).includes(`"${label}"`),
        () => `${label} was not stored; ${c.status.state}`,
      );
      kills++;
      await host.kill();
      proxy.mute = false;
      proxy.next = next;
      proxy.breakAll();
      await host.start();
      port = host.port;
      await answer;
    };
    for (let i = 0; i < rounds; i++) {
      if (i % 40 === 21) await killWith(`${i} killed`);
      else if (i % 4 === 0) await turn(c, s, `round ${i}`);
      else {
        // Requests that leave one event each in the log.
        const of = s.projection.path.at(-1)?.id as string;
        const all = [`${i} a`, `${i} b`].map((label) => c.call("set_label", { targetEventId: of, label } as never, { sessionId }));
        labelled += all.length;
        await Promise.all(all);
      }
    }
    proxy.next = () => undefined;
    proxy.breakAll();
    const log: SessionEvent[] = [];
    for (let after = 0; ; ) {
      const page = await c.call("get_tree", { afterSeq: after, limit: 1000 } as never, { sessionId });
      log.push(...(page.events ?? []));
      if (!page.more) break;
      after = log.at(-1)?.seq ?? 0;
    }
    await until(
      () => s.state === "live" && judge.events.at(-1)?.seq === log.at(-1)?.seq,
      () => `${s.state}: ${judge.events.at(-1)?.seq} of ${log.at(-1)?.seq}`,
    );
    expect(judge.faults).toEqual([]);
    // What came is the log from some event on.
    const from = log.findIndex((e) => e.seq === judge.events[0]?.seq);
    expect(judge.events.map((e) => [e.seq, e.id])).toEqual(log.slice(from).map((e) => [e.seq, "id" in e ? e.id : ""]));
    expect(from).toBeLessThan(10);
    for (let i = 0; i < rounds; i += 4)
      expect(
        count(log, (e) => said(e) === `round ${i}`),
        `round ${i}`,
      ).toBe(1);
    const labels = log.flatMap((e) => (e.type === "label" ? [e.label] : []));
    expect(labels.length, "each label once").toBe(labelled);
    expect(new Set(labels).size).toBe(labelled);
    // Another client that comes now sees the same.
    const other = client();
    const o = await other.open(sessionId, { tail: 2000, window: 2000 });
    await until(
      () => o.state === "live" && o.projection.missing() === undefined && s.projection.missing() === undefined,
      () => o.state,
    );
    expect(s.projection.screen()).toEqual(o.projection.screen());
    console.log(
      `${rounds} rounds: ${proxy.cut} cuts, ${proxy.frozen} frozen, ${kills} kills, ${judge.updates} updates, ${log.length} events`,
    );
    expect(proxy.cut).toBeGreaterThan(rounds / 4);
    expect(proxy.frozen).toBeGreaterThan(0);
  });

  test("a client comes in with its own key, which nobody can read", async () => {
    const key = await newKey();
    expect(key.privateKey.extractable).toBe(false);
    const own = new Host({ script, keys: [{ clientId: await clientIDOf(key.publicKey), publicKey: base64(key.publicKey) }] });
    const c = { client: undefined as Client | undefined };
    try {
      await own.start();
      const url = `ws://127.0.0.1:${own.port}`;
      c.client = new Client({ dial: webSocket({ url, key, device: own.device as never, clientName: "browser", interactive: true }) });
      expect((await c.client.call("get_status", {})).version).toBeTypeOf("string");
      expect(c.client.status.connected?.grant).toBe("control");
      const stranger = new Client({
        dial: webSocket({ url, key: await newKey(), device: own.device as never, clientName: "x", interactive: true }),
      });
      await expect(stranger.call("ping", {})).rejects.toBeInstanceOf(PermanentError);
      const other = new Client({
        dial: webSocket({ url, key, device: "dev_00000000000000000000000000" as never, clientName: "x", interactive: true }),
      });
      await expect(other.call("ping", {})).rejects.toThrow(/not the host that was meant/);
    } finally {
      await c.client?.close();
      await own.remove();
    }
  });

  test("a code of the host lets a key in once, also when the connection breaks after the proof", async () => {
    let own: Host | undefined;
    let cut = 0;
    const line = await Line.listen(() => own?.port ?? 0);
    own = new Host({ script, names: [`127.0.0.1:${line.port}`] });
    const url = `ws://127.0.0.1:${line.port}`;
    const mine: Client[] = [];
    try {
      await own.start();
      line.next = () => undefined;
      const owner = new Client({
        dial: webSocket({ url, token: own.token, clientId: newClientID(), clientName: "owner", interactive: true }),
      });
      mine.push(owner);
      const changes: boolean[] = [];
      owner.onDevice((c) => changes.push(c.entries));
      const { code, addresses } = await owner.call("create_pairing", {});
      expect(addresses).toEqual([`http://127.0.0.1:${own.port}`]);
      const key = await newKey();
      const config = { url, key, clientName: "Firefox on Linux", interactive: true };
      await expect(pair(config, code.slice(1))).rejects.toThrow(/42 characters/);
      expect(await pair(config, code)).toEqual({ device: own.device, grant: "control" });
      await expect(pair({ ...config, key: await newKey() }, code)).rejects.toMatchObject({ code: "auth_failed", message: /used already/ });
      await until(
        () => changes.includes(true),
        () => "the owner was not told",
      );
      const client = new Client({ dial: webSocket({ ...config, device: own.device as never }) });
      mine.push(client);
      expect((await client.call("list_entries", {})).entries?.map((e) => [e.label, e.online])).toEqual([["Firefox on Linux", true]]);
      await owner.call("set_grant", { clientId: await clientIDOf(key.publicKey), grant: "view" });
      await until(
        () => client.status.connected?.grant === "view",
        () => `the grant is ${client.status.connected?.grant}`,
      );
      // The line breaks within the handshake, at each of its bytes in turn: the code counts until it is used.
      for (let after = 100; after < 2400; after += 230) {
        line.next = () => (cut++ === 0 ? { after, freeze: false } : undefined);
        cut = 0;
        const again = await owner.call("create_pairing", {});
        const other = { ...config, key: await newKey() };
        const got = await pair(other, again.code).catch((e) => (e instanceof PermanentError ? Promise.reject(e) : pair(other, again.code)));
        expect(got).toEqual({ device: own.device, grant: "control" });
      }
    } finally {
      await Promise.all(mine.map((c) => c.close()));
      await line.close();
      await own.remove();
    }
  });
});
