/** Light, dark or as the system has it; ordinary or more contrast. Kept in this browser. */
import { useSyncExternalStore } from "react";
import { kept, keep } from "../host/kept";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
export const contrasts = ["system", "more"] as const;
export type Contrast = (typeof contrasts)[number];

export interface Looks {
  theme: Theme;
  contrast: Contrast;
}

const listeners = new Set<() => void>();
let looks: Looks = { theme: oneOf(themes, kept("theme")), contrast: oneOf(contrasts, kept("contrast")) };

function oneOf<T extends string>(all: readonly [T, ...T[]], value: string | undefined): T {
  return all.find((v) => v === value) ?? all[0];
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const contrast = matchMedia("(prefers-contrast: more)");
for (const wish of [dark, contrast]) wish.addEventListener("change", () => applyTheme());
// Paper is light.
addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => applyTheme());

/** Puts the looks on the document, where tokens.css reads them: those that were chosen, or the system's. */
export function applyTheme(): void {
  const { dataset } = document.documentElement;
  dataset.theme = looks.theme === "system" ? (dark.matches ? "dark" : "light") : looks.theme;
  if (looks.contrast === "more" || contrast.matches) dataset.contrast = "more";
  else delete dataset.contrast;
}

export function setLooks(next: Partial<Looks>): void {
  looks = { ...looks, ...next };
  keep("theme", looks.theme);
  keep("contrast", looks.contrast);
  applyTheme();
  for (const l of listeners) l();
}

export function useLooks(): Looks {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => looks,
  );
}
