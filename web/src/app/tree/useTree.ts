/** The events of the session as a tree: asked for page by page, and read on when something was added. */
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { useClient, useLive, useSession } from "../host/context";
import { TreeBuilder } from "./nodes";

/** Events that are asked for at once. */
const page = 1000;
/** How often a tree is drawn while its pages come, in milliseconds. */
const drawMs = 700;

export interface TreeState {
  /** Goes up when the tree is another: the builder changes in place. */
  version: number;
  loading: boolean;
  error: Error | undefined;
}

/** Reads the log of a session on from where it was read to, one page at a time. */
class TreeReader {
  readonly builder = new TreeBuilder();
  state: TreeState = { version: 0, loading: true, error: undefined };
  private readonly listeners = new Set<() => void>();
  private reading = false;
  private again = false;
  private abort = new AbortController();

  constructor(
    private readonly client: Client,
    private readonly sessionId: SessionID,
  ) {}

  readonly subscribe = (l: () => void) => {
    this.listeners.add(l);
    return () => this.listeners.delete(l);
  };

  /** Reads what was added since. */
  async read(): Promise<void> {
    this.again = true;
    if (this.reading) return;
    this.reading = true;
    const { signal } = this.abort;
    let drawn = performance.now();
    let added = false;
    try {
      for (let more = true; more || this.again; ) {
        this.again = false;
        const answer = await this.client.call(
          "get_tree",
          { afterSeq: this.builder.seq, limit: page },
          { sessionId: this.sessionId, signal },
        );
        const events = answer.events ?? [];
        this.builder.add(events);
        more = (answer.more ?? false) && events.length > 0 && !this.builder.cut;
        added ||= events.length > 0;
        if (!more || performance.now() - drawn > drawMs) {
          this.set({ version: this.state.version + Number(added), loading: more, error: undefined });
          drawn = performance.now();
          added = false;
        }
        if (this.builder.cut) break;
      }
    } catch (e) {
      if (!signal.aborted) this.set({ ...this.state, loading: false, error: e instanceof Error ? e : new Error(String(e)) });
    } finally {
      this.reading = false;
    }
  }

  stop(): void {
    this.abort.abort();
    this.abort = new AbortController();
  }

  private set(s: TreeState): void {
    this.state = s;
    for (const l of this.listeners) l();
  }
}

export function useTree(): TreeState & { builder: TreeBuilder; reload(): void } {
  const client = useClient();
  const { sessionId } = useSession();
  const [reader] = useState(() => new TreeReader(client, sessionId));
  const state = useSyncExternalStore(reader.subscribe, () => reader.state);
  const newest = useLive((l) => l.persistentLastSeq);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was added is read when the newest event is another
  useEffect(() => void reader.read(), [reader, newest]);
  useEffect(() => () => reader.stop(), [reader]);
  return useMemo(() => ({ ...state, builder: reader.builder, reload: () => void reader.read() }), [state, reader]);
}
