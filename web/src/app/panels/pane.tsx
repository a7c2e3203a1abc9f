/** A pane of a panel, and its states: loading, failed, empty, filled. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ErrorLine } from "../parts/ErrorLine";
import { useWords } from "../words/index";
import { panelWords } from "./words";

export function Pane({ title, value, children }: { title: string; value?: ReactNode; children: ReactNode }) {
  return (
    <section className="pane" aria-label={title}>
      <h2>
        {title}
        {value !== undefined && value !== "" && <span className="v">{value}</span>}
      </h2>
      {children}
    </section>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
  reload(): void;
}

/** What an answer shows: its content, or why there is none. What was there stays while it is asked again. */
export function Answered<T>({ of, children }: { of: Asked<T>; children(data: T): ReactNode }) {
  const w = useWords(panelWords);
  return (
    <>
      <ErrorLine error={of.error} action={w.again} onAction={of.reload} />
      {of.data === undefined ? of.loading && <p className="quiet">{w.loading}</p> : children(of.data)}
    </>
  );
}

export function Problems({ of }: { of: readonly string[] | undefined }) {
  return of?.map((p) => (
    <p key={p} className="errline">
      {p}
    </p>
  ));
}

/**
 * Calls act when what it is about has changed, at once and then no more often than each ms; the
 * last change is never missed. Not at the beginning: the answer is being asked then.
 */
export function useOnChange(value: unknown, ms: number, act: () => void): void {
  const newest = useRef(act);
  newest.current = act;
  const state = useRef({ first: true, last: 0 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: value is what is waited for
  useEffect(() => {
    const s = state.current;
    if (s.first) {
      s.first = false;
      s.last = Date.now();
      return;
    }
    const timer = setTimeout(
      () => {
        s.last = Date.now();
        newest.current();
      },
      Math.max(0, s.last + ms - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [value, ms]);
}

/** The time, again each ms while on. */
export function useNow(ms: number, on: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => setNow(Date.now()), ms);
    return () => clearInterval(timer);
  }, [ms, on]);
  return now;
}
