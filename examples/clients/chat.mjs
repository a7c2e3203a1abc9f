// A client of the Scorel host, for Node 18 or later without packages. It prints what the
// model says, asks on the terminal what is asked, and goes on where it was when the
// connection breaks. docs/protocol.md explains each step.
//     node chat.mjs --list
//     node chat.mjs [--session ses_…] "Which tests are slow?" "Make them faster."
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { homedir } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";

class Refused extends Error {} // the host said no, and would say it again; any other error is that of a connection
const random = (bits) => BigInt("0x" + randomBytes(17).toString("hex")) >> BigInt(136 - bits);
const newId = (prefix, value) => prefix + value.toString(32).padStart(26, "0");

class WebSocket { // what is needed of RFC 6455: JSON messages over a Unix socket
  open = (socketPath, authorization) => new Promise((resolve, reject) => {
    const headers = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"), Authorization: authorization };
    const refused = ({ statusCode: n }) => reject(new ([400, 401, 403].includes(n) ? Refused : Error)(`the host answers HTTP ${n}`));
    request({ socketPath, path: "/v1/ws", headers }, refused).on("error", reject).on("upgrade", (_, socket, head) => {
      socket.setTimeout(60_000, () => socket.destroy()).on("error", () => {}); // the host pings every 20 s; who reads meets errors
      resolve(Object.assign(this, { socket, buffer: head, input: socket[Symbol.asyncIterator]() }));
    }).end();
  });

  write(data, opcode = 1) {
    const n = data.length, low = [n >> 8, n & 255], mask = [0, 0, 0, 0]; // a mask is for proxies, and there is none here
    const size = n < 126 ? [128 | n] : n < 65536 ? [254, ...low] : [255, 0, 0, 0, 0, 0, n >> 16, ...low]; // at most 1 MiB
    this.socket.write(Buffer.concat([Buffer.from([128 | opcode, ...size, ...mask]), data]));
  }

  async take(n) {
    while (this.buffer.length < n) {
      const { value, done } = await this.input.next();
      if (done) throw new Error("it has ended");
      this.buffer = Buffer.concat([this.buffer, value]);
    }
    const data = this.buffer.subarray(0, n);
    this.buffer = this.buffer.subarray(n);
    return data;
  }

  async receive() {
    for (let text = []; ; ) {
      let [first, n] = await this.take(2);
      if (n > 125) n = (await this.take(n === 126 ? 2 : 8)).reduce((sum, byte) => sum * 256 + byte, 0);
      const data = await this.take(n);
      if ((first & 15) === 9) this.write(data, 10); // a ping
      else if ((first & 15) < 2 && text.push(data) && first & 128) return JSON.parse(Buffer.concat(text));
    }
  }
}

class Chat {
  ws = null; pending = new Map(); sent = new Set(); answer = null; // pending: requests that act and have no answer; sent: on this connection
  anchors = null; mode = ""; streaming = false; printed = -1; // the seq of the newest message that was printed
  questions = new Map(); asked = new Set();
  mine = ""; stored = false; over = true; creation = ""; // mine: the request of my newest message

  constructor(options) {
    Object.assign(this, { options, session: options.session, client: newId("cli_", random(130)) });
    if (this.session || options.list) return;
    this.session = newId("ses_", (BigInt(Date.now()) << 82n) | random(82));
    this.creation = this.act("create_session", { meta: { workDir: process.cwd() } });
    console.error("session", this.session);
  }

  new = (type, fields) => ({ type, requestId: newId("req_", random(128) << 2n), sessionId: this.session, ...fields });

  act(type, fields) { // a request that acts: it is sent until it has an answer
    const message = this.new(type, fields);
    this.pending.set(message.requestId, message);
    return message.requestId;
  }

  send(message) {
    this.ws.write(Buffer.from(JSON.stringify(message)));
    this.sent.add(message.requestId);
    message.repeat = true; // in every copy after the first
  }

  async call(message) { // waits for the answer
    this.send(message);
    while (this.answer?.requestId !== message.requestId) await this.step();
    return fine(this.answer).data;
  }

  async connect() {
    const header = readFileSync(this.options.home + "/host.header", "utf8").trim();
    this.ws = await new WebSocket().open(this.options.home + "/host.sock", header.replace(/^Authorization: /, ""));
    const hello = { type: "hello", protocolVersion: 1, clientId: this.client, clientName: "chat.mjs", interactive: true };
    this.ws.write(Buffer.from(JSON.stringify(hello)));
    fine(await this.ws.receive());
    Object.assign(this, { sent: new Set(), streaming: false });
    if (this.options.list) {
      for (const s of (await this.call(this.new("list_sessions"))).sessions) console.log(s.sessionId, s.meta.name ?? s.firstPrompt ?? "");
      process.exit();
    }
    if (this.pending.has(this.creation)) await this.call(this.pending.get(this.creation));
    await this.call(this.new("open_session", { anchors: this.anchors, tail: this.printed < 0 ? 0 : 2000 }));
    while (!this.streaming) await this.step();
  }

  async until(done) { // takes messages until done, over as many connections as that needs
    for (let wait = 250; !(this.ws && done()); ) {
      try {
        if (!this.ws) { await this.connect(); wait = 250; continue; }
        for (const [id, message] of this.pending) if (!this.sent.has(id)) this.send(message);
        await this.step();
        await this.ask();
      } catch (e) {
        if (e instanceof Refused) process.exit(console.error(e.message) ?? 1);
        this.ws = this.ws?.socket?.destroy() && null;
        console.error("reconnecting:", e.message);
        await setTimeout(Math.random() * wait);
        wait = Math.min(wait * 2, 15_000);
      }
    }
  }

  async step() { // takes one message of the host
    const m = await this.ws.receive(), failed = m.type === "error";
    if (failed || m.type === "response") {
      this.answer = m;
      if (this.pending.delete(m.requestId) && failed && m.code !== "conflict") console.error(m.message); // conflict: somebody else has answered
      this.over ||= m.requestId === this.mine && (failed || "handled" in m.data);
    } else if (m.sessionId !== this.session) return; // news of the device
    else if (m.type === "resync") {
      Object.assign(this, { mode: m.mode, streaming: m.mode === "stream_resume" });
      if (m.mode === "full_reload") this.anchors = { deviceId: "", persistentLastSeq: 0, persistentLastId: "" };
      if (m.mode !== "stream_resume") Object.assign(this.anchors, { streamEpoch: "", streamLastSeq: 0 });
    } else if (m.type === "live") this.live(m.live);
    else if (m.type === "session_closed") throw new Error("the host has closed the session");
    for (const event of m.events ?? []) this.event(event);
  }

  live(live) {
    const { deviceId, streamEpoch, throughSeq, persistentLastSeq, persistentLastId = "" } = live;
    const gap = this.mode !== "full_reload" && persistentLastSeq > this.anchors.persistentLastSeq;
    this.anchors = gap ? null : { deviceId, streamEpoch, streamLastSeq: throughSeq, persistentLastSeq, persistentLastId };
    if (gap) throw new Error("the host left something out"); // only a full reload helps
    this.streaming = true;
    if (this.printed < 0) this.printed = persistentLastSeq;
    this.questions = new Map([...(live.permissions ?? []), ...(live.ui ?? [])].map((q) => [q.permissionId ?? q.uiId, q]));
    if (!this.over && this.mode !== "stream_resume" && this.stored && !live.running) this.end(live.ended); // it ended meanwhile
  }

  event(e) {
    const question = e.permissionId ?? e.uiId;
    if (e.seq <= (e.id ? this.anchors.persistentLastSeq : this.anchors.streamLastSeq)) return;
    if (e.id) Object.assign(this.anchors, { persistentLastSeq: e.seq, persistentLastId: e.id });
    if (this.streaming) this.anchors.streamLastSeq = e.seq;
    this.stored ||= e.cause?.requestId === this.mine;
    if (e.type === "message" && e.message.role === "assistant" && e.seq > this.printed && this.printed >= 0) {
      this.printed = e.seq;
      for (const block of e.message.content) if (block.type === "text") console.log(block.text);
    } else if (question && e.type.endsWith("_request")) this.questions.set(question, e);
    else if (question) this.questions.delete(question);
    else if (e.type === "runtime_end") this.end(e);
  }

  end(how) { // the turn has ended; live does not say how when the host was restarted since
    this.over ||= this.stored;
    if (how?.error) console.error(how.error.message);
  }

  async ask() {
    for (const [id, q] of [...this.questions].filter(([id]) => !this.asked.has(id))) {
      this.asked.add(id);
      if (q.permissionId) {
        const said = await prompt(`May ${q.toolName} run? ${JSON.stringify(q.args)} ${q.suggestions.map((s, i) => `${i}: ${s.label}`)}`);
        this.act("answer_permission", { permissionId: id, choice: said in q.suggestions && said !== "" ? Number(said) : -1 });
      } else { // null closes what an extension asks
        const value = [];
        for (const a of q.data.questions ?? []) value.push(await prompt(`${a.question} ${a.options.map((o) => o.label)}`));
        this.act("answer_ui", { uiId: id, value: value.length ? value : null });
      }
    }
  }
}

function fine(m) {
  if (m.type !== "error") return m;
  throw new (["rate_limited", "session_locked", "internal_error"].includes(m.code) ? Error : Refused)(m.message);
}
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const prompt = async (text) => (process.stderr.write(text + ": "), ((await lines.next()).value ?? "").trim());

const { values, positionals } = parseArgs({ allowPositionals: true,
  options: { home: { type: "string", default: homedir() + "/.scorel" }, session: { type: "string", default: "" }, list: { type: "boolean" } } });
const chat = new Chat(values);
await chat.until(() => true);
for (const text of positionals) {
  chat.stored = chat.over = false;
  chat.mine = chat.act("send_message", { content: [{ type: "text", text }], whenBusy: "reject" });
  await chat.until(() => chat.over);
}
process.exit();
