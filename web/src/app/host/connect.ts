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
  newKey,
  PermanentError,
  pair,
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
  /** A code is being redeemed. */
  | { state: "pairing" }
  /** Somebody with control has to let this browser in. */
  | { state: "pending"; clientId: ClientID }
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
  let leave = () => {};
  const say = (e: Entrance) => {
    if (!ended) tell(e);
  };
  let { code } = takeCode();

  /** Redeems the code, which is worth nothing afterwards, and connects. */
  const redeem = async (key: ClientKey, clientId: ClientID) => {
    const text = code ?? "";
    code = undefined;
    say({ state: "pairing" });
    try {
      const { device } = await pair({ url: hostURL(), key, clientName: browserName(), interactive: true }, text);
      remember(device);
      connect(key, clientId, device);
    } catch (e) {
      say({ state: "unknown", clientId, why: textOf(e) });
    }
  };

  /** Connects with the key to the host that knows it; a code is only needed when it does not. */
  const connect = (key: ClientKey, clientId: ClientID, device: DeviceID) => {
    if (ended) return;
    const cache = new IndexedDBCache(problem);
    const client = new Client({
      dial: webSocket({ url: hostURL(), key, device, clientName: browserName(), interactive: true }),
      device,
      cache,
      onProblem: problem,
    });
    const unwatch = watchPage(client);
    let waits = false;
    const host: Entrance = { state: "in", client, device, clientId };
    const offs = [
      client.onStatus((s) => {
        if (s.state === "connected" && s.connected?.grant === "pending") {
          waits = true;
          say({ state: "pending", clientId });
        } else if (s.state === "connected" && waits) {
          waits = false;
          say(host);
        }
        if (s.state !== "disconnected" || !(s.error instanceof PermanentError)) return;
        leave();
        // Who is not let in any more keeps nothing of what was said.
        if (s.error.code === "auth_failed") cache.clear(device).catch((e) => problem({ what: "cache", message: textOf(e), error: e }));
        if (code) void redeem(key, clientId);
        else say({ state: "unknown", clientId, why: s.error.message });
      }),
      client.onDevice((c) => {
        if (!waits || c.grant === undefined || c.grant === "pending") return;
        waits = false;
        say(host);
      }),
    ];
    leave = () => {
      for (const off of offs) off();
      unwatch();
      void client.close();
      leave = () => {};
    };
    say(host);
  };

  void (async () => {
    try {
      const key = await browserKey().catch(() => newKey()); // a private window may keep nothing: then it is known as long as the page is open
      const clientId = await clientIDOf(key.publicKey);
      const device = kept(deviceKept) as DeviceID | undefined;
      if (device) connect(key, clientId, device);
      else if (code) await redeem(key, clientId);
      else say({ state: "unknown", clientId });
    } catch (e) {
      say({ state: "failed", why: globalThis.crypto?.subtle ? textOf(e) : "" });
    }
  })();
  return () => {
    ended = true;
    leave();
  };
}

function textOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}

/** Notes which host this browser belongs to. */
export function remember(device: DeviceID | undefined): void {
  keep(deviceKept, device);
}
