/** What other rooms put into the message box of a session. It is kept until that box takes it. */
import { useEffect, useRef } from "react";
import type { SessionID } from "../../protocol/index";

export interface Given {
  text: string;
  files: File[];
}

const waiting = new Map<SessionID, Given>();
const takers = new Map<SessionID, (g: Given) => void>();

export function handOver(id: SessionID, given: Given): void {
  const take = takers.get(id);
  if (take) take(given);
  else waiting.set(id, given);
}

/** Calls take with what is handed over to the message box of a session. */
export function useHandedOver(id: SessionID, take: (g: Given) => void): void {
  const newest = useRef(take);
  newest.current = take;
  useEffect(() => {
    const taker = (g: Given) => newest.current(g);
    takers.set(id, taker);
    const given = waiting.get(id);
    waiting.delete(id);
    if (given) taker(given);
    return () => {
      if (takers.get(id) === taker) takers.delete(id);
    };
  }, [id]);
}
