/**
 * What waits for a person, told outside of the page: a notification for each session that begins
 * to wait while nobody looks at the page, and the number of those that wait on the icon of an
 * installed page. It is off until somebody switches it on in this browser.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { SessionID, SessionSummary } from "../../protocol/index";
import { useClient } from "../host/context";
import { keep, kept } from "../host/kept";
import { usePlaces } from "../places/store";
import { askedOf, standingOf, titleOf } from "../places/summary";
import { hrefOf } from "../route";
import { loaded } from "../parts/loaded";
import { tell } from "../parts/tell";
import { useLanguage, useWords } from "../words/index";
import { noticeWords } from "./words";
import { withoutNotices, worker } from "./worker";

/** Notifications at once; what waits beyond them is in the list of sessions. */
const maxAtOnce = 5;
/** Characters of a question in a notification. */
const maxShown = 160;

const listeners = new Set<() => void>();

/** Whether notifications are on in this browser, and the browser lets them be shown. */
export function noticesOn(): boolean {
  return kept("notices") === "on" && withoutNotices() === "" && Notification.permission === "granted";
}

export function useNoticesOn(): boolean {
  return useSyncExternalStore((l) => {
    listeners.add(l);
    return () => listeners.delete(l);
  }, noticesOn);
}

/** Switches them on, which asks the browser, or off; it resolves to whether they are on then. */
export async function setNotices(on: boolean): Promise<boolean> {
  if (on && (await Notification.requestPermission()) === "granted") {
    await worker();
    keep("notices", "on");
  } else {
    keep("notices", undefined);
    await clear();
  }
  for (const l of listeners) l();
  return noticesOn();
}

/** Whether pushes were switched on in this browser: only then is their part of the page loaded. */
const pushes = () => kept("push") === "on";
const pushPart = () => loaded(() => import("./push")).catch(() => undefined); // it is asked for again with the next need of it

const visible = () => document.visibilityState === "visible";
const looking = () => visible() && document.hasFocus();

/** Keeps notifications and the icon of the page as the sessions are. */
export function useNotices(): void {
  const w = useWords(noticeWords);
  const { sessions, starting } = usePlaces();
  const on = useNoticesOn();
  const told = useRef<ReadonlySet<SessionID> | undefined>(undefined);
  const waiting = sessions.filter((s) => standingOf(s, true) === "waits");
  const key = starting ? "" : waiting.map((s) => s.sessionId).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what waits is its key
  useEffect(() => {
    if (starting) return;
    const before = told.current;
    told.current = new Set(waiting.map((s) => s.sessionId));
    if (!on) return;
    badge(waiting.length);
    // What waited before the page was opened is on it.
    const fresh = before && !looking() ? waiting.filter((s) => !before.has(s.sessionId)).slice(0, maxAtOnce) : [];
    void show(fresh, w, () => told.current).then((shown) => note(visible() ? [...(told.current ?? [])] : shown));
  }, [key, starting, on, w]);
  const client = useClient();
  const newest = useRef(client);
  newest.current = client;
  // What this browser has shown is not pushed to it. A page that sleeps shows and says nothing.
  const note = (shown: SessionID[]) => {
    if (pushes()) void pushPart().then((p) => p?.noteShown(newest.current, shown).catch(() => undefined)); // else it is pushed, too
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: note has what is newest
  useEffect(() => {
    if (!on) return;
    const seen = () => {
      if (!visible()) return;
      void takeAway("waits");
      note([...(told.current ?? [])]);
    };
    document.addEventListener("visibilitychange", seen);
    const off = client.onStatus((s) => s.state === "connected" && seen());
    return () => {
      document.removeEventListener("visibilitychange", seen);
      off();
    };
  }, [on, client]);
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are those of the language
  useEffect(() => {
    const sync = async () => {
      if (!pushes()) return;
      const p = await pushPart();
      await p?.syncPush(client).catch((e: unknown) => tell(p.lostText(e)));
    };
    void sync();
    const renew = (e: MessageEvent<{ renew?: unknown }>) => {
      if (e.data?.renew === true) void sync();
    };
    navigator.serviceWorker?.addEventListener("message", renew);
    return () => navigator.serviceWorker?.removeEventListener("message", renew);
  }, [on, client, language]);
}

/** Takes away what is shown outside of the page. */
async function clear(): Promise<void> {
  badge(0);
  await takeAway();
}

/** Takes away the notifications of a tag, all without one. */
async function takeAway(tag?: string): Promise<void> {
  for (const r of await navigator.serviceWorker.getRegistrations())
    for (const n of await r.getNotifications(tag === undefined ? {} : { tag })) n.close();
}

function badge(n: number): void {
  const nav = navigator as Navigator & { setAppBadge?(n: number): Promise<void>; clearAppBadge?(): Promise<void> };
  void (n > 0 ? nav.setAppBadge?.(n) : nav.clearAppBadge?.())?.catch(() => undefined); // only an installed page has an icon
}

/**
 * Shows a notification of each, and takes those away whose sessions wait no longer. It resolves to
 * the sessions that were shown.
 */
async function show(
  fresh: readonly SessionSummary[],
  w: (typeof noticeWords)["en"],
  waiting: () => ReadonlySet<SessionID> | undefined, // now: this takes a while
): Promise<SessionID[]> {
  const shown: SessionID[] = [];
  try {
    const registration = await worker();
    for (const n of await registration.getNotifications()) if (!waiting()?.has(n.tag as SessionID)) n.close();
    for (const s of fresh) {
      if (!waiting()?.has(s.sessionId)) continue;
      const { what, about } = askedOf(s);
      const asked = typeof what === "object" ? w.tool(what.tool, about) : w[what](about);
      await registration.showNotification(titleOf(s) || w.session, {
        tag: s.sessionId,
        body: asked.length > maxShown ? `${asked.slice(0, maxShown)}…` : asked,
        icon: "./mark.svg",
        data: { fragment: hrefOf({ at: "session", id: s.sessionId }) },
      });
      shown.push(s.sessionId);
    }
  } catch {
    // The browser has taken its permission back: the settings show that, and the list has what waits.
  }
  return shown;
}
