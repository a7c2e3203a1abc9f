/** How this browser comes in, begun while the rest of the page is still being loaded. */
import { useSyncExternalStore } from "react";
import { tell } from "../parts/tell";
import { type Entrance, enter } from "./connect";

let entrance: Entrance = { state: "starting" };
const listeners = new Set<() => void>();

/** Comes in, for as long as the page is open. */
export function begin(): void {
  enter(
    (e) => {
      entrance = e;
      for (const l of listeners) l();
    },
    (p) => tell(p.message),
  );
}

export function useEntrance(): Entrance {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => entrance,
  );
}
