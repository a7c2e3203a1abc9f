/** The keys of a question, and who does not mean them. */
import { useEffect, useRef, useState } from "react";

/** How long after the last typed key a key is still typing, and answers nothing, in milliseconds. */
export const typedMs = 500;

let lastTyped = Number.NEGATIVE_INFINITY;

/** Whether somebody has just typed something. */
export function justTyped(): boolean {
  return performance.now() - lastTyped < typedMs;
}

// What is pressed anywhere, before whoever takes it.
addEventListener(
  "keydown",
  (e) => {
    if (isTyped(e) && isField(e.target)) lastTyped = performance.now();
  },
  true,
);

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
}

function isTyped(e: KeyboardEvent): boolean {
  return !e.ctrlKey && !e.metaKey && !e.altKey && (e.key.length === 1 || e.key === "Backspace" || e.key === "Process" || e.isComposing);
}

/**
 * The name of a question that is to be shown: the one that waits, but only when nobody has typed
 * for a moment, so that the rest of a word goes where its beginning went.
 */
export function useCalm(id: string): string {
  const [shown, setShown] = useState(id);
  const calm = id === "" || !justTyped();
  if (id !== shown && calm) setShown(id);
  const waits = id !== shown && !calm;
  useEffect(() => {
    if (!waits) return;
    const look = () => {
      if (justTyped()) timer = setTimeout(look, typedMs / 4);
      else setShown(id);
    };
    let timer = setTimeout(look, typedMs / 4);
    return () => clearTimeout(timer);
  }, [id, waits]);
  return waits ? "" : id;
}

/** Digits press the choices of a sheet in their order, Escape the one that refuses; what is typed into a field stays there. */
export function useSheetKeys(id: string, sheet: () => HTMLElement | null): void {
  const newest = useRef(sheet);
  newest.current = sheet;
  useEffect(() => {
    if (id === "") return;
    const press = (e: KeyboardEvent) => {
      const box = newest.current();
      if (!box || !(e.target instanceof Node) || !box.contains(e.target) || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
      if (isField(e.target) && e.key !== "Escape") return;
      const digit = /^[1-9]$/.test(e.key);
      if (!digit && e.key !== "Escape") {
        if (isTyped(e) && e.key !== " ") lastTyped = performance.now(); // somebody types, and does not see that a question has come
        return;
      }
      e.preventDefault();
      if (digit && justTyped()) {
        lastTyped = performance.now();
        return;
      }
      const choices = box.querySelectorAll<HTMLElement>("[data-choice]");
      const chosen = digit ? choices[Number(e.key) - 1] : box.querySelector<HTMLElement>("[data-refuse]:not(:disabled)");
      chosen?.click();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [id]);
}
