/**
 * Messages that the host has not acknowledged yet. Each is kept in this browser with its
 * requestId until the host has it, so that it is sent after the page was closed too, and counts
 * once. The messages of a session are sent one after the other.
 */
import { base64, fromBase64 } from "../../client/bytes";
import { type Client, ClosedError, newRequestID, PermanentError, upload } from "../../client/index";
import type { Block, DeviceID, RequestID, SessionID } from "../../protocol/index";
import { tell } from "../parts/tell";
import { language, words } from "../words/index";
import { keep, kept, keptNames } from "./kept";

/** How many messages are kept over the end of the page, and how many characters each and all have with their files. */
const maxKept = 100;
const maxChars = 1_500_000;
const maxAllChars = 3_000_000;
/** How long a message may take before it is shown as on its way, in milliseconds. */
const patienceMs = 400;
/** Characters of a message that are told. */
const maxTold = 80;

const outboxWords = words(
  { refused: (text: string, why: string) => `Not sent: ${text}. ${why}` },
  { refused: (text: string, why: string) => `未发送：${text}。${why}` },
);

export interface Unsent {
  requestId: RequestID;
  sessionId: SessionID;
  /** steer goes into the turn that runs. */
  type: "send_message" | "steer";
  /** As it stood in the box. */
  typed: string;
  /** What is sent of it. */
  text: string;
  files: readonly File[];
  /** When it was written, in milliseconds; no two messages of a page have the same. */
  at: number;
  /** The host may have it: it has left over some connection. */
  left: boolean;
  /** It outlives the page. */
  stored: boolean;
  /** It takes longer than a moment. */
  late: boolean;
  /** Why the host has refused it. */
  error?: string;
}

/** How a message is written into the storage; owner is the page that sends it. */
interface Stored extends Omit<Unsent, "files" | "stored" | "late"> {
  owner: string;
  files: { name: string; type: string; data: string }[];
}

const none: readonly Unsent[] = [];

export class Outbox {
  private all: readonly Unsent[] = none;
  private readonly bySession = new Map<SessionID, readonly Unsent[]>();
  private readonly listeners = new Set<() => void>();
  private readonly takers = new Map<SessionID, (m: Unsent) => void>();
  private readonly sending = new Set<SessionID>();
  private readonly page = newRequestID();
  private readonly awaited = new Set<string>();
  private readonly client: Client;
  private readonly prefix: string;
  private last = 0;

  constructor(client: Client, device: DeviceID) {
    this.client = client;
    this.prefix = `unsent ${device} `;
    // Other pages see by this lock that this one is still there and sends its own messages.
    navigator.locks?.request(lockOf(this.page), () => new Promise(() => {})).catch(() => {});
    addEventListener("storage", (e) => {
      if (e.newValue !== null && e.key?.includes(this.prefix)) this.findOwners();
    });
    this.findOwners();
    client.onStatus(() => this.sendAll());
  }

  of(id: SessionID): readonly Unsent[] {
    return this.bySession.get(id) ?? none;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Takes a message that is to be sent. */
  add(m: Pick<Unsent, "sessionId" | "type" | "typed" | "text" | "files">): void {
    this.last = Math.max(this.last + 1, Date.now());
    const unsent: Unsent = { ...m, requestId: newRequestID(), at: this.last, left: false, stored: true, late: false };
    this.put([...this.all, unsent]);
    void this.store(unsent.requestId);
    this.watch(unsent.requestId);
    void this.send(m.sessionId);
  }

  /** Takes a message out again, unless the host may have it already. */
  takeBack(id: RequestID): Unsent | undefined {
    const m = this.find(id);
    if (!m || (m.left && !m.error)) return undefined;
    this.remove(id);
    return m;
  }

  /** Has taker called with each message of a session that the host has refused. It returns what ends that. */
  onRefused(id: SessionID, taker: (m: Unsent) => void): () => void {
    this.takers.set(id, taker);
    this.giveBack(id, taker);
    return () => {
      if (this.takers.get(id) === taker) this.takers.delete(id);
    };
  }

  private find(id: RequestID): Unsent | undefined {
    return this.all.find((m) => m.requestId === id);
  }

  private put(all: readonly Unsent[]): void {
    this.all = all;
    const ids = new Set([...this.bySession.keys(), ...all.map((m) => m.sessionId)]);
    for (const id of ids) {
      const list = all.filter((m) => m.sessionId === id);
      const old = this.of(id);
      if (list.length === 0) this.bySession.delete(id);
      else if (list.length !== old.length || list.some((m, i) => m !== old[i])) this.bySession.set(id, list);
    }
    for (const l of this.listeners) l();
  }

  private change(id: RequestID, changes: Partial<Unsent>): void {
    this.put(this.all.map((m) => (m.requestId === id ? { ...m, ...changes } : m)));
  }

  private remove(id: RequestID): void {
    this.put(this.all.filter((m) => m.requestId !== id));
    keep(this.prefix + id, undefined);
  }

  private watch(id: RequestID): void {
    setTimeout(() => this.find(id) && this.change(id, { late: true }), patienceMs);
  }

  /** Writes a message into the storage, as it is then. One that finds no room lasts as long as the page. */
  private async store(id: RequestID): Promise<void> {
    const written = this.find(id);
    if (!written?.stored) return;
    let files: Stored["files"] = [];
    let stored = written.files.reduce((n, f) => n + f.size, 0) * (4 / 3) < maxChars;
    try {
      // Without files it is kept at once: the page may end.
      if (stored && written.files.length > 0) {
        files = await Promise.all(
          written.files.map(async (f) => ({ name: f.name, type: f.type, data: base64(new Uint8Array(await f.arrayBuffer())) })),
        );
      }
    } catch {
      stored = false; // the file is gone: sending it says so
    }
    const m = this.find(id);
    if (!m) return;
    const { stored: _, late: __, ...rest } = m;
    const text = JSON.stringify({ ...rest, files, owner: this.page } satisfies Stored);
    if (stored && this.fits(id, text) && keep(this.prefix + id, text)) return;
    keep(this.prefix + id, undefined);
    this.change(id, { stored: false });
  }

  private fits(id: RequestID, text: string): boolean {
    const others = keptNames("unsent ").filter((n) => n !== this.prefix + id);
    const chars = others.reduce((n, name) => n + (kept(name)?.length ?? 0), text.length);
    return others.length < maxKept && text.length <= maxChars && chars <= maxAllChars;
  }

  /** Takes over what other pages leave when they end, and have left. */
  private findOwners(): void {
    for (const name of keptNames(this.prefix)) {
      const owner = storedOf(name)?.owner;
      if (!owner || owner === this.page || this.awaited.has(owner)) continue;
      this.awaited.add(owner);
      const take = () => this.adopt(owner);
      if (navigator.locks) navigator.locks.request(lockOf(owner), take).catch(take);
      else take();
    }
  }

  private adopt(owner: string): void {
    this.awaited.delete(owner);
    const found: Unsent[] = [];
    for (const name of keptNames(this.prefix)) {
      const s = storedOf(name);
      if (s?.owner !== owner || this.find(s.requestId)) continue;
      keep(name, JSON.stringify({ ...s, owner: this.page }));
      const { owner: _, files, ...rest } = s;
      found.push({ ...rest, files: files.map(fileOf), stored: true, late: false });
    }
    if (found.length === 0) return;
    this.put([...this.all, ...found].sort((a, b) => a.at - b.at));
    for (const m of found) this.watch(m.requestId);
    this.sendAll();
  }

  private sendAll(): void {
    for (const id of [...this.bySession.keys()]) void this.send(id);
  }

  /** Sends what waits in a session, as long as there is a connection on which this browser may. */
  private async send(sessionId: SessionID): Promise<void> {
    if (this.sending.has(sessionId)) return;
    this.sending.add(sessionId);
    try {
      for (;;) {
        const m = this.of(sessionId).find((m) => !m.error);
        if (!m || this.client.status.connected?.grant !== "control") return;
        if (!(await this.sendOne(m))) return;
      }
    } finally {
      this.sending.delete(sessionId);
    }
  }

  /** Sends one message and reports whether it is done with. */
  private async sendOne({ requestId, sessionId, type, text, files }: Unsent): Promise<boolean> {
    try {
      const content: Block[] = text === "" ? [] : [{ type: "text", text }];
      for (const f of files) content.push(await this.upload(f));
      const m = this.find(requestId);
      if (!m) return true; // it was taken back meanwhile
      const repeat = m.left;
      this.change(requestId, { left: true });
      await this.store(requestId);
      await this.client.call(type, { content }, { sessionId, requestId, repeat });
      this.remove(requestId);
      return true;
    } catch (e) {
      if (e instanceof ClosedError || e instanceof PermanentError) return false; // the next visit sends it
      this.refuse(requestId, e instanceof Error ? e.message : String(e));
      return true;
    }
  }

  /** A message that the host does not take goes back to where it was written, or is told and kept for that. */
  private refuse(id: RequestID, error: string): void {
    const m = this.find(id);
    if (!m) return;
    const taker = this.takers.get(m.sessionId);
    this.change(id, { error });
    void this.store(id);
    if (taker) this.giveBack(m.sessionId, taker);
    else tell(outboxWords[language()].refused((m.typed || m.files[0]?.name || "").slice(0, maxTold), error));
  }

  private giveBack(id: SessionID, taker: (m: Unsent) => void): void {
    for (const m of this.of(id)) {
      if (!m.error) continue;
      this.remove(m.requestId);
      taker(m);
    }
  }

  private async upload(f: File): Promise<Block> {
    const ref = await upload(this.client, new Uint8Array(await f.arrayBuffer()));
    const base = { mediaType: f.type || "application/octet-stream", ...(ref.sha256 ? { blob: ref.sha256 } : {}) };
    return f.type.startsWith("image/") ? { type: "image", ...base } : { type: "file", name: f.name, ...base };
  }
}

function lockOf(page: string): string {
  return `scorel.page ${page}`;
}

/** A message in the storage; undefined for what is none. */
function storedOf(name: string): Stored | undefined {
  try {
    const s = JSON.parse(kept(name) ?? "") as Partial<Stored> | null;
    const texts = [s?.requestId, s?.sessionId, s?.typed, s?.text, s?.owner];
    const known = s?.type === "send_message" || s?.type === "steer";
    return known && Array.isArray(s?.files) && texts.every((t) => typeof t === "string") ? (s as Stored) : undefined;
  } catch {
    return undefined;
  }
}

function fileOf({ name, type, data }: Stored["files"][number]): File {
  return new File([fromBase64(data)], name, { type });
}

const outboxes = new WeakMap<Client, Outbox>();

/** The messages of a client that are on their way; the first call begins to send what an earlier page has left. */
export function outboxOf(client: Client, device: DeviceID): Outbox {
  const known = outboxes.get(client);
  if (known) return known;
  const made = new Outbox(client, device);
  outboxes.set(client, made);
  return made;
}
