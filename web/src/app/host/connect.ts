/**
 * How this browser comes in: with a key of its own, which no script can read, and which a code
 * from `scorel web` has made known to the host. The code is in the fragment and is taken out of
 * the address before anything else happens.
 */
import {
  browserKey,
  Client,
  type ClientKey,
  clientIDOf,
  IndexedDBCache,
  PermanentError,
  type Problem,
  watchPage,
  webSocket,
} from "../../client/index";
import type { ClientID, DeviceID, SessionID } from "../../protocol/index";
import { go } from "../route";
import { keep, kept } from "./kept";

/** What the page does about its connection. */
export type Entrance =
  | { state: "starting" }
  /** The browser's key is not known to the host; why is the host's sentence, if it has said one. */
  | { state: "unknown"; clientId?: ClientID; why?: string }
  | { state: "in"; client: Client; device: DeviceID; clientId: ClientID }
  | { state: "failed"; why: string };

const deviceKept = "device";

/** Where the host is: where the page came from, with the path of a proxy before it. */
export function hostURL(): string {
  return new URL(".", location.href.split("#")[0]).href.replace(/\/$/, "");
}

/** Takes the code and the session to open out of the address. */
export function takeCode(): { code?: string; session?: SessionID } {
  const said = new URLSearchParams(location.hash.replace(/^#/, ""));
  const code = said.get("pair");
  const session = said.get("session") as SessionID | null;
  if (!code) return {};
  go(session ? { at: "session", id: session } : { at: "home" }, { replace: true });
  return { code, ...(session ? { session } : {}) };
}

/** The name under which people see this browser: the browser and its system. */
export function browserName(agent: string = navigator.userAgent): string {
  const find = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = find([
    [/Edg\//, "Edge"],
    [/OPR\//, "Opera"],
    [/Firefox|FxiOS/, "Firefox"],
    [/Chrom|CriOS/, "Chrome"],
    [/Safari/, "Safari"],
  ]);
  const system = find([
    [/iPhone/, "iPhone"],
    [/iPad/, "iPad"],
    [/Android/, "Android"],
    [/Mac OS X/, "macOS"],
    [/Windows/, "Windows"],
    [/Linux|X11/, "Linux"],
  ]);
  return [browser ?? "Browser", system].filter(Boolean).join(" on ");
}

/** Comes in. tell is called with each step; the function that is returned ends all. */
export function enter(tell: (e: Entrance) => void, problem: (p: Problem) => void): () => void {
  let ended = false;
  let close: (() => void) | undefined;
  const say = (e: Entrance) => {
    if (!ended) tell(e);
  };
  void (async () => {
    const { code } = takeCode();
    let key: ClientKey;
    try {
      key = await browserKey();
    } catch (e) {
      say({ state: "failed", why: e instanceof Error ? e.message : String(e) });
      return;
    }
    const clientId = await clientIDOf(key.publicKey);
    const device = kept(deviceKept) as DeviceID | undefined;
    if (!device || ended) {
      say({ state: "unknown", clientId, ...(code ? { why: "" } : {}) });
      return;
    }
    const client = new Client({
      dial: webSocket({ url: hostURL(), key, device, clientName: browserName(), interactive: true }),
      device,
      cache: new IndexedDBCache(problem),
      onProblem: problem,
    });
    const unwatch = watchPage(client);
    const off = client.onStatus((s) => {
      if (s.state !== "disconnected" || !(s.error instanceof PermanentError)) return;
      say({ state: "unknown", clientId, why: s.error.message });
    });
    close = () => {
      off();
      unwatch();
      void client.close();
    };
    if (ended) close();
    else say({ state: "in", client, device, clientId });
  })();
  return () => {
    ended = true;
    close?.();
  };
}

/** Notes which host this browser belongs to. */
export function remember(device: DeviceID | undefined): void {
  keep(deviceKept, device);
}
