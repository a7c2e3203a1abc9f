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

/** Puts the looks on the document: tokens.css reads them there. */
export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (looks.theme === "system") delete dataset.theme;
  else dataset.theme = looks.theme;
  if (looks.contrast === "system") delete dataset.contrast;
  else dataset.contrast = looks.contrast;
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
