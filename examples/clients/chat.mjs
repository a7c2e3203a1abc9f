// A client of the Scorel host, for Node 18 or later without packages. It prints what the
// model says, asks on the terminal what is asked, and goes on where it was when the
// connection breaks. docs/protocol.md explains each step.
//
//     node chat.mjs "Which tests are slow?" "Make them faster."
//     node chat.mjs --session ses_… "Go on."
//     node chat.mjs --list
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { homedir } from "node:os";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

class Refused extends Error {} // the host said no, and would say it again; any other error is that of a connection

const letters = "0123456789abcdefghijklmnopqrstuv";
const random = () => Array.from(randomBytes(26), (b) => letters[b & 31]).join("");
const requestId = () => "req_" + random().slice(1) + letters[randomInt(8) * 4]; // 128 bits and two zero bits
function sessionId() { // 48 bits of milliseconds, 82 random bits
  let bits = (BigInt(Date.now()) << 82n) | (BigInt("0x" + randomBytes(11).toString("hex")) >> 6n), id = "";
  for (let i = 0; i < 26; i++, bits >>= 5n) id = letters[Number(bits & 31n)] + id;
  return "ses_" + id;
}

// WebSocket is what is needed of RFC 6455: JSON messages over a Unix socket.
class WebSocket {
  async open(socketPath, authorization) {
    const req = request({ socketPath, path: "/v1/ws", headers: { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"), Authorization: authorization } });
    const refused = once(req, "response").then(([res]) => { // any other answer than 101
      throw new ([400, 401, 403].includes(res.statusCode) ? Refused : Error)(`the host answers HTTP ${res.statusCode}`);
    });
    refused.catch(() => {}); // after the upgrade nobody waits for it
    req.end();
    const [, socket, head] = await Promise.race([once(req, "upgrade"), refused]);
    this.socket = socket.setTimeout(60_000, () => socket.destroy()); // the host sends a ping every 20 s
    socket.on("error", () => {}); // reading meets it, too
    this.buffer = head;
    this.input = socket[Symbol.asyncIterator]();
    return this;
  }

  write(data, opcode = 1) {
    const n = data.length, size = Buffer.alloc(n < 126 ? 1 : n < 65536 ? 3 : 9);
    if (n < 126) size[0] = n;
    else if (n < 65536) size.writeUInt16BE(n, 1), (size[0] = 126);
    else size.writeBigUInt64BE(BigInt(n), 1), (size[0] = 127);
    size[0] |= 128;
    this.socket.write(Buffer.concat([Buffer.of(128 | opcode), size, Buffer.alloc(4), data])); // the mask is zero: there is no proxy
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
      if (n === 126) n = (await this.take(2)).readUInt16BE();
      else if (n === 127) n = Number((await this.take(8)).readBigUInt64BE());
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
    Object.assign(this, { options, session: options.session, client: "cli_" + random() });
    if (this.session || options.list) return;
    this.session = sessionId();
    this.creation = this.act("create_session", { meta: { workDir: process.cwd() } });
    console.error("session", this.session);
  }

  new(type, fields) {
    return { type, requestId: requestId(), sessionId: this.session, ...fields };
  }

  act(type, fields) { // a request that acts: it is sent until it has an answer
    const message = this.new(type, fields);
    this.pending.set(message.requestId, message);
    return message.requestId;
  }

  send(message) {
    this.sent.add(message.requestId);
    this.ws.write(Buffer.from(JSON.stringify(message)));
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
    this.ws.write(Buffer.from(JSON.stringify({ type: "hello", protocolVersion: 1, clientId: this.client, clientName: "chat.mjs", interactive: true })));
    fine(await this.ws.receive());
    this.sent.clear();
    this.streaming = false;
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
        if (!this.ws) { await this.connect(); continue; }
        for (const [id, message] of this.pending) if (!this.sent.has(id)) this.send(message);
        await this.step();
        await this.ask();
        wait = 250;
      } catch (e) {
        if (e instanceof Refused) throw e;
        this.ws?.socket?.destroy();
        this.ws = null;
        console.error("reconnecting:", e.message);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * wait));
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
      this.mode = m.mode;
      this.streaming = m.mode === "stream_resume";
      if (m.mode === "full_reload") this.anchors = { deviceId: "", persistentLastSeq: 0, persistentLastId: "" };
      if (m.mode !== "stream_resume") Object.assign(this.anchors, { streamEpoch: "", streamLastSeq: 0 });
    } else if (m.type === "live") this.live(m.live);
    else if (m.type === "session_closed") throw new Error("the host has closed the session");
    for (const event of m.events ?? []) this.event(event);
  }

  live(live) {
    const gap = this.mode !== "full_reload" && live.persistentLastSeq > this.anchors.persistentLastSeq;
    this.anchors = gap ? null : { deviceId: live.deviceId, streamEpoch: live.streamEpoch, streamLastSeq: live.throughSeq,
      persistentLastSeq: live.persistentLastSeq, persistentLastId: live.persistentLastId ?? "" };
    if (gap) throw new Error("the host left something out"); // only a full reload helps
    this.streaming = true;
    if (this.printed < 0) this.printed = live.persistentLastSeq;
    this.questions = new Map([...(live.permissions ?? []), ...(live.ui ?? [])].map((q) => [q.permissionId ?? q.uiId, q]));
    this.over ||= this.mode !== "stream_resume" && this.stored && !live.running; // it ended meanwhile
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
    else if (e.type === "runtime_end") {
      this.over ||= this.stored;
      if (e.error) console.error(e.error.message);
    }
  }

  async ask() {
    for (const [id, q] of this.questions) {
      if (this.asked.has(id)) continue;
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

let lines;
async function prompt(text) {
  process.stderr.write(text + ": ");
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  return ((await lines.next()).value ?? "").trim();
}

const { values, positionals } = parseArgs({ allowPositionals: true,
  options: { home: { type: "string", default: homedir() + "/.scorel" }, session: { type: "string", default: "" }, list: { type: "boolean" } } });
const chat = new Chat(values);
try {
  await chat.until(() => true);
  for (const text of positionals) {
    chat.stored = chat.over = false;
    chat.mine = chat.act("send_message", { content: [{ type: "text", text }], whenBusy: "reject" });
    await chat.until(() => chat.over);
  }
} catch (e) {
  console.error(e.message);
  process.exitCode = 1;
}
process.exit();
