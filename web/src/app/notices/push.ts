/**
 * Web Push: the host wakes the service worker of this browser through the push service of its
 * vendor when a session begins to wait and no page of the browser has shown that. What is sent has
 * no content. Off until somebody switches it on in this browser.
 */
import type { Client } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import { codeOf } from "../host/context";
import { keep, kept } from "../host/kept";
import { language } from "../words/index";
import { noticesOn } from "./notices";
import { pushWords } from "./pushwords";
import { withoutNotices, worker } from "./worker";

/** Why this browser takes no pushes, as a name in pushWords. */
export type Without = "insecure" | "unsupported" | "homeScreen" | "noPush";
type Refusal = Without | "denied" | "certificate" | "service";

/** What the switch says of itself: the words of why it cannot be on. */
export class PushRefusal extends Error {
  constructor(readonly why: Refusal) {
    super(pushWords[language()][why]);
  }
}

const pushKept = "push";

export function pushOn(): boolean {
  return kept(pushKept) === "on" && noticesOn();
}

/** Why this browser takes no pushes, "" if it may. */
export function withoutPush(): "" | Without {
  const without = withoutNotices();
  if (without !== "insecure" && !("PushManager" in window)) {
    // On an iPhone or iPad only a page on the home screen has notifications and pushes.
    if (/iPhone|iPad/.test(navigator.userAgent)) return "homeScreen";
    return without || "noPush";
  }
  return without;
}

/** Switches pushes on, which asks the browser, or off, in the browser and at the host. */
export async function setPush(client: Client, on: boolean): Promise<void> {
  if (!on) {
    await unsubscribe();
    await client.call("delete_push", {});
    keep(pushKept, undefined);
    return;
  }
  if ((await Notification.requestPermission()) !== "granted") throw new PushRefusal("denied");
  await subscribe(client);
  keep(pushKept, "on");
}

/**
 * Has the browser and the host agree again: after another key of the host, another address of the
 * browser, a subscription that the push service has lost, and when notifications were switched off.
 */
export async function syncPush(client: Client): Promise<void> {
  if (kept(pushKept) !== "on") return;
  if (noticesOn()) return subscribe(client);
  await setPush(client, false);
  if (kept("notices") === "on") throw new PushRefusal("denied"); // not by the person, who switched them on here
}

async function subscribe(client: Client): Promise<void> {
  const { pushManager } = await worker().catch((e: unknown) => {
    // Browsers run no worker under a certificate that they do not trust, though one may look at the page.
    throw nameOf(e) === "SecurityError" ? new PushRefusal("certificate") : e;
  });
  const { publicKey, state } = await client.call("get_push", {});
  const key = bytesOf(publicKey);
  let subscription = await pushManager.getSubscription();
  if (subscription && (state === "gone" || !same(subscription.options.applicationServerKey, key))) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }).catch((e: unknown) => {
    throw new PushRefusal(nameOf(e) === "NotAllowedError" ? "denied" : "service");
  });
  try {
    await client.call("set_push", { endpoint: subscription.endpoint, key: publicKey, origin: location.origin });
  } catch (e) {
    if (codeOf(e) === "invalid_request" || codeOf(e) === "forbidden") await subscription.unsubscribe(); // the host takes none such
    throw e;
  }
}

async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/** What a person is told when pushes ended by themselves. */
export function lostText(e: unknown): string {
  return pushWords[language()].lost(e instanceof Error ? e.message : String(e));
}

/** At most so many sessions are named at once (MaxPushSessions). */
const maxNamed = 100;

/** Tells the host that the person at this browser was shown that sessions wait. */
export async function noteShown(client: Client, sessionIds: SessionID[]): Promise<void> {
  if (sessionIds.length === 0 || client.status.state !== "connected") return;
  await client.call("note_pushed", { sessionIds: sessionIds.slice(0, maxNamed) });
}

function nameOf(e: unknown): string {
  return e instanceof Error || e instanceof DOMException ? e.name : "";
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

function same(a: ArrayBuffer | null, b: Uint8Array): boolean {
  const bytes = a ? new Uint8Array(a) : undefined;
  return bytes?.length === b.length && bytes.every((v, i) => v === b[i]);
}
