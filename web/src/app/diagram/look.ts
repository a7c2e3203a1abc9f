/** The looks of the page as a diagram takes them, and when they change. */
import { useSyncExternalStore } from "react";
import type { Look } from "./say";

const names = (
  "surface-page surface-ground surface-sunken surface-selected text-1 text-2 text-3 line-2 line-3 accent accent-wash accent-line " +
  "error error-wash ok ok-wash warn warn-wash info info-wash thinking thinking-wash tool tool-wash user user-wash"
).split(" ");

/** Widths for which diagrams that fill a line are drawn: on a phone, and in a column of prose. */
const widths = [360, 720] as const;

function read(narrow: boolean): Look {
  const root = document.documentElement;
  const style = getComputedStyle(root);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    dark: root.dataset.theme === "dark",
    font: value("font-ui"),
    colours: Object.fromEntries(names.map((n) => [n, value(n)])),
    width: widths[narrow ? 0 : 1],
  };
}

let narrow = false;
let look: Look | undefined;
const listeners = new Set<() => void>();
const changed = () => {
  narrow = innerWidth < 520;
  look = undefined;
  for (const l of listeners) l();
};
const watch = new MutationObserver(changed);
const width = matchMedia("(max-width: 519px)");

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-contrast"] });
    width.addEventListener("change", changed);
    changed();
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    watch.disconnect();
    width.removeEventListener("change", changed);
  };
}

/** The looks of the page; another object when they have changed. */
export function useLook(): Look {
  return useSyncExternalStore(subscribe, () => {
    look ??= read(narrow);
    return look;
  });
}
