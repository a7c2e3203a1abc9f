/**
 * The words of the page. Each room has its own in a file words.ts, made with words(): English
 * and Chinese side by side, a text or a function of what it tells. Dates, counts and sizes are
 * in format.ts. Names, paths, and what models and people wrote are never translated.
 */
import { useSyncExternalStore } from "react";
import { keep, kept } from "../host/kept";

export const languages = ["en", "zh"] as const;
export type Language = (typeof languages)[number];

// biome-ignore lint/suspicious/noExplicitAny: any function that makes a text
type Words = { readonly [name: string]: string | ((...args: any[]) => string) };
/** The same names with the same arguments in another language. */
type SameWords<T extends Words> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

/** Words in both languages; the compiler checks that none is missing. */
export function words<T extends Words>(en: T, zh: SameWords<T>): Record<Language, SameWords<T>> {
  return { en: en as SameWords<T>, zh };
}

const listeners = new Set<() => void>();
let chosen = languages.find((l) => l === kept("language"));

/** The language of the page: the one that was chosen, or that of the browser. */
export function language(): Language {
  return chosen ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
}

/** Chooses a language for this browser; undefined follows the browser again. */
export function setLanguage(l: Language | undefined): void {
  chosen = l;
  keep("language", l);
  document.documentElement.lang = language() === "zh" ? "zh-Hans" : "en";
  for (const listener of listeners) listener();
}

export function useLanguage(): Language {
  return useSyncExternalStore((l) => {
    listeners.add(l);
    return () => listeners.delete(l);
  }, language);
}

/** The words of a room in the language of the page. */
export function useWords<T>(all: Record<Language, T>): T {
  return all[useLanguage()];
}
