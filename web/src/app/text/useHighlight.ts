/** The colours of code, line by line, as they are found while the browser has time. */
import { useEffect, useRef, useState } from "react";
import { loaded } from "../parts/loaded";
import type { Between, Token } from "./highlight";
import { languageOf } from "./languages";
import { soon } from "./soon";

/** Lines that were coloured together; a list of them only grows. */
export interface Piece {
  readonly lines: readonly (readonly Token[])[];
  /** where the piece ends in the code */
  readonly end: number;
}

/** The longest code that is coloured, in characters, and how much of it at a time. */
const maxCode = 100 << 10;
const atOnce = 2 << 10;
/** Code that stays coloured while it is not shown, so that scrolling back finds it as it was. */
const maxKept = 60;

type Highlighter = typeof import("./highlight");
let highlighter: Highlighter | undefined;
const kept = new Map<string, readonly Piece[]>();

function keep(key: string, pieces: readonly Piece[]): void {
  kept.delete(key);
  kept.set(key, pieces);
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) break;
    kept.delete(oldest);
  }
}

/** The coloured pieces at the beginning of the code; what comes after them is drawn plain. ended: no more lines come. */
export function useHighlight(code: string, name: string, ended: boolean): readonly Piece[] {
  const language = languageOf(name);
  const on = language !== undefined && code.length <= maxCode;
  const key = `${language}\n${code}`;
  const state = useRef<{ code: string; language: string | undefined; pieces: readonly Piece[]; between: Between }>(null);
  if (!state.current || state.current.language !== language || !code.startsWith(state.current.code)) {
    state.current = { code: "", language, pieces: [], between: undefined };
  }
  const s = state.current;
  if (on && ended && s.pieces.length === 0) {
    const known = kept.get(key);
    if (known) Object.assign(s, { pieces: known, code });
  }
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: turn goes on after each piece
  useEffect(() => {
    if (!on || !language) return;
    const from = s.pieces.at(-1)?.end ?? 0;
    const whole = ended ? code.length : code.lastIndexOf("\n") + 1;
    if (from >= whole) {
      if (ended && from > 0 && from >= code.length) keep(key, s.pieces);
      return;
    }
    let off = false;
    let cancel = () => {};
    const step = () => {
      if (off || !highlighter) return;
      let end = code.indexOf("\n", Math.min(from + atOnce, whole - 1)) + 1;
      if (end === 0 || end > whole) end = whole;
      const lines = code.slice(from, end);
      const { tokens, state: between } = highlighter.colour(lines.replace(/\n$/, ""), language, s.between);
      Object.assign(s, { pieces: [...s.pieces, { lines: tokens, end }], between, code: code.slice(0, end) });
      setTurn((n) => n + 1);
    };
    void (async () => {
      try {
        highlighter ??= await loaded(() => import("./highlight"));
        await highlighter.ready(language);
        if (!off) cancel = soon(step);
      } catch {
        // without its grammar the code stays plain; it is all there
      }
    })();
    return () => {
      off = true;
      cancel();
    };
  }, [code, language, ended, on, turn]);
  return on ? s.pieces : [];
}
