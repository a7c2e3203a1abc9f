/** What every part of the page has of the host: the client, what may be done, answers to requests, and sessions. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Client, DeviceChanges, Session, Status, Update } from "../../client/index";
import { RequestError } from "../../client/index";
import type { ClientID, DeviceID, Grant, Live, PersistentEvent, ProjectID, RequestName, Requests, SessionID } from "../../protocol/index";
import { keep, kept } from "./kept";
import { type Outbox, outboxOf, type Unsent } from "./outbox";

export interface HostContext {
  client: Client;
  device: DeviceID;
  /** Who this browser is. */
  clientId: ClientID;
}

const Host = createContext<HostContext | undefined>(undefined);

const ranks: Record<Grant, number> = { pending: 0, view: 1, answer: 2, control: 3 };
const grantKept = "grant";

/** What is shown until the host has said what this browser may do: what it might do last time. */
function lastGrant(): Grant {
  const last = kept(grantKept) ?? "";
  return Object.hasOwn(ranks, last) ? (last as Grant) : "control";
}

const Granted = createContext<Grant>("view");

export function HostProvider({ host, children }: { host: HostContext; children: ReactNode }) {
  const { client, device } = host;
  useEffect(() => void outboxOf(client, device), [client, device]); // sends what an earlier page has left
  const [grant, setGrant] = useState<Grant>(client.status.connected?.grant ?? lastGrant);
  useEffect(() => {
    const told = (g: Grant | undefined) => {
      if (!g) return;
      setGrant(g);
      keep(grantKept, g);
    };
    const connected = () => told(client.status.connected?.grant);
    connected();
    const offs = [client.onStatus(connected), client.onDevice((c) => told(c.grant))];
    return () => {
      for (const off of offs) off();
    };
  }, [client]);
  return (
    <Host.Provider value={host}>
      <Granted.Provider value={grant}>{children}</Granted.Provider>
    </Host.Provider>
  );
}

export function useHost(): HostContext {
  const host = useContext(Host);
  if (!host) throw new Error("there is no host here");
  return host;
}

export function useClient(): Client {
  return useHost().client;
}

export function useOutbox(): Outbox {
  const { client, device } = useHost();
  return outboxOf(client, device);
}

/** Messages of the session that the host has not acknowledged; the list is replaced when it changes. */
export function useUnsent(): readonly Unsent[] {
  const outbox = useOutbox();
  const { sessionId } = useSession();
  return useSyncExternalStore(
    useCallback((changed) => outbox.subscribe(changed), [outbox]),
    () => outbox.of(sessionId),
  );
}

/** How the connection stands. */
export function useStatus(): Status {
  const client = useClient();
  return useSyncExternalStore(
    useCallback((changed) => client.onStatus(changed), [client]),
    () => client.status,
  );
}

/** What this browser may do, as far as is known: the host has the last word. */
export function useGrant(): Grant {
  return useContext(Granted);
}

/** Whether this browser may do what needs a grant. */
export function useMay(needed: Grant): boolean {
  return ranks[useGrant()] >= ranks[needed];
}

/** Calls listener with what has changed on the device. */
export function useDevice(listener: (c: DeviceChanges) => void): void {
  const client = useClient();
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => client.onDevice((c) => newest.current(c)), [client]);
}

/** The sentence of an error for a person. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the host, "" of another. */
export function codeOf(error: unknown): string {
  return error instanceof RequestError ? error.code : "";
}

export interface Answer<T> {
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
  /** Asks again; what is shown stays until the answer is there. */
  reload(): void;
}

/**
 * The answer to a request that changes nothing. It is asked again when name, fields or session
 * change, when the connection comes back, and when again says so of a change of the device. A late
 * answer to an earlier request never replaces a newer one. enabled: false asks nothing.
 */
export function useAnswer<N extends RequestName>(
  name: N,
  fields: Requests[N]["request"],
  options: { sessionId?: SessionID; again?: (c: DeviceChanges) => boolean; enabled?: boolean } = {},
): Answer<Requests[N]["response"]> {
  const client = useClient();
  const { sessionId, again, enabled = true } = options;
  const [state, setState] = useState<{ data?: Requests[N]["response"]; error?: Error; loading: boolean; key?: string }>({
    loading: enabled,
  });
  const [turn, setTurn] = useState(0);
  const key = `${name} ${sessionId ?? ""} ${JSON.stringify(fields)}`;
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: key stands for name, fields and session
  useEffect(() => {
    if (!enabled) return;
    const abort = new AbortController();
    setState((s) => (s.key === key ? { ...s, loading: true } : { loading: true, key }));
    client.call(name, fields, { ...(sessionId ? { sessionId } : {}), signal: abort.signal }).then(
      (data) => !abort.signal.aborted && setState({ data, loading: false, key }),
      (e) => !abort.signal.aborted && setState((s) => ({ ...s, error: e instanceof Error ? e : new Error(String(e)), loading: false })),
    );
    return () => abort.abort();
  }, [client, key, turn, enabled]);
  useDevice((c) => {
    if (enabled && (c.missed || again?.(c))) reload();
  });
  const current = state.key === key || state.key === undefined;
  return useMemo(
    () => ({ data: current ? state.data : undefined, error: current ? state.error : undefined, loading: state.loading, reload }),
    [state, current, reload],
  );
}

/** One action at a time: run calls it, busy says that it runs, error why the last one failed. */
export function useAction<A extends unknown[]>(
  act: (...args: A) => Promise<unknown>,
): { run: (...args: A) => Promise<boolean>; busy: boolean; error: Error | undefined; clear(): void } {
  const [state, setState] = useState<{ busy: boolean; error?: Error }>({ busy: false });
  const newest = useRef(act);
  newest.current = act;
  const busy = useRef(false);
  const run = useCallback(async (...args: A) => {
    if (busy.current) return false;
    busy.current = true;
    setState({ busy: true });
    try {
      await newest.current(...args);
      setState({ busy: false });
      return true;
    } catch (e) {
      setState({ busy: false, error: e instanceof Error ? e : new Error(String(e)) });
      return false;
    } finally {
      busy.current = false;
    }
  }, []);
  const clear = useCallback(() => setState((s) => ({ busy: s.busy })), []);
  return { run, busy: state.busy, error: state.error, clear };
}

interface OpenSession {
  session: Session;
  updates: Set<(u: Update) => void>;
}

const Open = createContext<OpenSession | undefined>(undefined);

/** Opens a session for what is inside of it, as long as it is shown. */
export function SessionProvider({ id, projectId, children }: { id: SessionID; projectId?: ProjectID; children: ReactNode }) {
  const client = useClient();
  const [open, setOpen] = useState<OpenSession>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the project of a session does not change
  useEffect(() => {
    const updates: OpenSession["updates"] = new Set();
    const onUpdate = (u: Update) => {
      for (const l of updates) l(u);
    };
    const session = client.session(id, { onUpdate, waitsForLock: true, ...(projectId ? { projectId } : {}) });
    setOpen({ session, updates });
    return () => void session.close();
  }, [client, id]);
  if (!open || open.session.sessionId !== id) return null;
  return <Open.Provider value={open}>{children}</Open.Provider>;
}

function useOpen(): OpenSession {
  const open = useContext(Open);
  if (!open) throw new Error("no session is shown here");
  return open;
}

/** The session that is shown here. Its projection changes in place: draw from useLive and usePath. */
export function useSession(): Session {
  return useOpen().session;
}

/** Calls listener with each update of the session at once: for what events tell and the state does not keep. */
export function useUpdates(listener: (u: Update) => void): void {
  const { updates } = useOpen();
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => {
    const l = (u: Update) => newest.current(u);
    updates.add(l);
    return () => void updates.delete(l);
  }, [updates]);
}

/**
 * A part of what is shown of the session, picked by select. The component draws again when the
 * part is another: return a text, a number, a flag, or a list or object that is replaced when it
 * changes; never one that changes in place, such as a running message.
 */
export function useLive<T>(select: (live: Live, session: Session) => T): T {
  const session = useSession();
  return useSyncExternalStore(
    useCallback((changed) => session.subscribe(changed), [session]),
    () => select(session.projection.live, session),
  );
}

/** The newest events of the active path; the list is replaced when it changes. */
export function usePath(): readonly PersistentEvent[] {
  return useLive((_, s) => s.projection.path);
}

/** Goes up with each change of the session, at most once a frame: for what draws something that changes in place. */
export function useVersion(): number {
  return useLive((_, s) => s.projection.version);
}
