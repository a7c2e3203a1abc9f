import { useEffect, useState } from "react";
import type { Retry as Of } from "../../protocol/index";
import { cleanLine } from "../../display/clean";
import { useWords } from "../words/index";
import { conversationWords } from "./words";

/** That the model is called again, when, and why: the wait counts down from when this page learnt of it. */
export function Retry({ of }: { of: Of }) {
  const w = useWords(conversationWords);
  const [began] = useState(Date.now);
  const [now, setNow] = useState(began);
  const left = Math.ceil((of.delayMs - (now - began)) / 1000);
  const waits = left > 0;
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [waits]);
  // As wide as at its beginning, so that nothing moves while it counts: a figure space is as wide as a figure.
  const first = String(Math.ceil(of.delayMs / 1000));
  return (
    <p className="marker">
      <span>
        {w.retry(of.attempt, of.maxAttempts)}{" "}
        <span className="countdown" role="timer" data-widest={w.retryIn(first)}>
          {waits ? w.retryIn(String(left).padStart(first.length, "\u2007")) : w.retryNow}
        </span>
        : {cleanLine(of.error)}
      </span>
    </p>
  );
}
