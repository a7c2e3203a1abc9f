/**
 * What extensions draw on this page, in dialogs of the kind custom (docs/protocol.md, "What
 * extensions draw"): of each the newest frame, and the keys that wait.
 */
import type { Client } from "../../client/index";
import type { SessionID, UIFrame } from "../../protocol/index";
import { codeOf, sentence } from "../host/context";
import { tell } from "../parts/tell";

/** Components that are kept; the oldest goes first. */
const maxComponents = 64;
/** Keys, and bytes of them, that wait for the host: as many as one ui_input takes. */
const maxKeys = 1024;
const maxKeyBytes = 256 << 10;
/** How long an extension may take to draw what comes of a key before the person is told, in milliseconds. */
export const unansweredMs = 1000;

/** How a component stands on this page. */
export interface Shown {
  /** It is on this page. */
  here: boolean;
  /** The host offers it to this page, or did before the connection was lost: the page is to say its size. */
  given: boolean;
  /** The newest frame, while it is here. */
  frame?: UIFrame;
  /** The extension has not drawn what comes of a key for long. */
  late: boolean;
}

const nowhere: Shown = { here: false, given: false, late: false };

/** One of them. Keys go to the host one request after the other: those that are pressed meanwhile wait, so that their order stays. */
export class Component {
  shown = nowhere;
  private readonly listeners = new Set<() => void>();
  private rev = 0;
  private keys: string[] = [];
  private bytes = 0;
  private size = { width: 0, height: 0 };
  private told = { width: 0, height: 0 };
  private taking = false;
  private sending = false;
  private line = 0; // how often the connection was lost
  private lost = false; // since then it has not been taken again, and keys wait
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly client: Pick<Client, "call">,
    readonly sessionId: SessionID,
    readonly uiId: string,
  ) {}

  subscribe(changed: () => void): () => void {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  }

  /** Brings it to this page, at its size in cells. */
  take(width: number, height: number): void {
    if (this.taking) return;
    this.taking = true;
    this.size = this.told = { width, height };
    this.client.call("take_ui", { uiId: this.uiId, width, height }, { sessionId: this.sessionId }).then(
      (taken) => {
        this.taking = false;
        this.rev = taken.rev;
        this.lost = false;
        this.show({ here: true, given: false, late: false });
        this.send();
      },
      (e) => {
        this.taking = false;
        this.leave();
        failed(e);
      },
    );
  }

  /** Takes what the host says of it. */
  note(f: UIFrame): void {
    if (f.state === "given") this.show({ given: true });
    else if (f.state === "taken") this.leave();
    else if (this.shown.here || this.taking) {
      this.show({ frame: f });
      if (f.rev >= this.rev && this.keys.length === 0) this.answered();
    }
  }

  /** The connection is lost: what was here is to be taken again when the session is open on another one. */
  disconnected(): void {
    if (this.lost) return;
    this.lost = true;
    this.line++;
    if (this.shown.here) this.show({ given: true });
  }

  /** Sends a key or a paste as a terminal sends it; false is one that is lost, because the extension takes none. */
  press(data: string): boolean {
    if (!this.shown.here || this.keys.length === maxKeys || this.bytes + data.length * 3 > maxKeyBytes) return false;
    this.keys.push(data);
    this.bytes += data.length * 3; // at most, in UTF-8
    this.timer ??= setTimeout(() => this.show({ late: true }), unansweredMs);
    this.send();
    return true;
  }

  /** Says the size of the page in cells. */
  resize(width: number, height: number): void {
    this.size = { width, height };
    this.send();
  }

  private send(): void {
    const resized = this.size.width !== this.told.width || this.size.height !== this.told.height;
    if (!this.shown.here || this.sending || this.taking || this.lost || (this.keys.length === 0 && !resized)) return;
    const { keys: data, size } = this;
    this.keys = [];
    this.bytes = 0;
    this.told = size;
    this.sending = true;
    const { line } = this;
    const input = { uiId: this.uiId, rev: ++this.rev, data, ...(resized ? size : {}) };
    const done = () => {
      this.sending = false;
      if ((this.shown.frame?.rev ?? 0) >= this.rev && this.keys.length === 0) this.answered();
      this.send();
    };
    this.client.call("ui_input", input, { sessionId: this.sessionId }).then(done, (e) => {
      if (line !== this.line && codeOf(e) === "conflict") {
        this.keys = [...data, ...this.keys]; // it came before this page was given it again
        this.bytes += data.reduce((n, k) => n + k.length * 3, 0);
      } else failed(e);
      done();
    });
  }

  private answered(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.shown.late) this.show({ late: false });
  }

  private leave(): void {
    this.answered();
    this.keys = [];
    this.bytes = 0;
    this.shown = nowhere;
    this.changed();
  }

  private show(part: Partial<Shown>): void {
    this.shown = { ...this.shown, ...part };
    this.changed();
  }

  private changed(): void {
    for (const l of this.listeners) l();
  }
}

/** What cannot be sent is told, unless it is being closed or taken. */
function failed(e: unknown): void {
  if (codeOf(e) !== "conflict") tell(sentence(e));
}

/** The components of a client, from the first look on. */
class Components {
  private readonly all = new Map<string, Component>();

  constructor(private readonly client: Client) {
    client.onDevice((c) => {
      for (const f of c.frames) this.of(f.sessionId, f.uiId).note(f);
    });
    client.onStatus((s) => {
      if (s.state !== "connected") for (const c of this.all.values()) c.disconnected();
    });
  }

  of(sessionId: SessionID, uiId: string): Component {
    const name = `${sessionId} ${uiId}`;
    let c = this.all.get(name);
    if (!c) {
      c = new Component(this.client, sessionId, uiId);
      this.all.set(name, c);
      for (const oldest of this.all.keys()) if (this.all.size > maxComponents) this.all.delete(oldest);
    }
    return c;
  }
}

const known = new WeakMap<Client, Components>();

/** The components of a client. Who shows sessions asks for them before there are some: the host offers one once. */
export function componentsOf(client: Client): Components {
  const all = known.get(client) ?? new Components(client);
  known.set(client, all);
  return all;
}
