/**
 * What a person is told beside what they look at: one line that stays until it is read (Told in
 * shell), and announced once to screen readers. Not for questions, and not for what belongs to one
 * place of the page: say that there.
 */
import { useSyncExternalStore } from "react";

/** A line that is shown; bad ones are errors. */
export interface Told {
  id: number;
  text: string;
  bad: boolean;
}

/** Lines that are kept; the oldest goes first. */
const maxTold = 5;
let lines: readonly Told[] = [];
let next = 1;
const listeners = new Set<() => void>();

function changed(): void {
  for (const l of listeners) l();
}

/** Tells a sentence; the same one is not repeated while it stands. */
export function tell(text: string, options: { bad?: boolean } = {}): void {
  if (lines.some((l) => l.text === text)) return;
  lines = [...lines, { id: next++, text, bad: options.bad ?? true }].slice(-maxTold);
  changed();
}

export function dismiss(id: number): void {
  lines = lines.filter((l) => l.id !== id);
  changed();
}

export function useTold(): readonly Told[] {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => lines,
  );
}

let polite: HTMLElement | null = null;
let assertive: HTMLElement | null = null;

/** The two live regions of the page; Shell draws them. */
export function liveRegions(politely: HTMLElement | null, urgently: HTMLElement | null): void {
  polite = politely;
  assertive = urgently;
}

/** Says a sentence to screen readers: urgent for a question, else politely. Never tokens, output or counts. */
export function announce(text: string, options: { urgent?: boolean } = {}): void {
  const region = options.urgent ? assertive : polite;
  if (!region) return;
  region.textContent = "";
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
