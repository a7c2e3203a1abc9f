/** What the list needs of the browser: the time that goes on, the width of the page, and how far the host is. */
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { useClient, useStatus } from "../host/context";

/** How often relative times are drawn again, and how often the way to the host is measured. */
const tickMs = 30_000;
const pingMs = 15_000;

const ticks = new Set<() => void>();
let now = Date.now();
let clock: ReturnType<typeof setInterval> | undefined;

/** One clock for all rows, while there are some. */
function onTick(l: () => void): () => void {
  ticks.add(l);
  if (clock === undefined) now = Date.now(); // nobody has looked since
  clock ??= setInterval(() => {
    now = Date.now();
    for (const tick of [...ticks]) tick();
  }, tickMs);
  return () => {
    ticks.delete(l);
    if (ticks.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}

/** The time in steps of half a minute. */
export function useNow(): number {
  return useSyncExternalStore(onTick, () => now);
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    useCallback(
      (l) => {
        const list = matchMedia(query);
        list.addEventListener("change", l);
        return () => list.removeEventListener("change", l);
      },
      [query],
    ),
    () => matchMedia(query).matches,
  );
}

/** The rail is a page of its own: the phone. */
export const usePhone = () => useMedia("(max-width: 899px)");

/** How long the host takes to answer, in milliseconds; it is asked while the page is seen. */
export function useLatency(): number | undefined {
  const client = useClient();
  const { state } = useStatus();
  const [ms, setMs] = useState<number>();
  useEffect(() => {
    if (state !== "connected") return setMs(undefined);
    const abort = new AbortController();
    const measure = () => {
      if (document.visibilityState !== "visible") return;
      const begun = performance.now();
      client.call("ping", {}, { signal: abort.signal }).then(
        () => setMs(Math.max(1, Math.round(performance.now() - begun))),
        () => {}, // the banner says that there is no connection
      );
    };
    measure();
    const timer = setInterval(measure, pingMs);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [client, state]);
  return ms;
}

/** A value once it has stayed for a while: what is asked of the host while a person types. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
