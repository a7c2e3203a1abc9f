/** Numbers and times in the language of the page, by Intl. Durations are in milliseconds, times in Unix milliseconds. */
import { language } from "./index";

const cache = new Map<string, unknown>();
function cached<T>(key: string, make: (locale: string) => T): T {
  const locale = language() === "zh" ? "zh-Hans" : (navigator.languages.find((l) => l.startsWith("en")) ?? "en");
  const name = `${locale} ${key}`;
  let found = cache.get(name) as T | undefined;
  if (found === undefined) {
    found = make(locale);
    cache.set(name, found);
  }
  return found;
}

/** 61,204 */
export function count(n: number): string {
  return cached("count", (l) => new Intl.NumberFormat(l)).format(n);
}

/** 42.1k: of tokens. */
export function short(n: number): string {
  if (Math.abs(n) < 1000) return String(Math.round(n));
  const [value, unit] = Math.abs(n) < 999_950 ? [n / 1000, "k"] : [n / 1_000_000, "M"];
  return `${value < 100 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** $0.84; less than a cent with more digits. */
export function money(usd: number): string {
  const digits = usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2;
  return cached(
    `usd${digits}`,
    (l) =>
      new Intl.NumberFormat(l, {
        style: "currency",
        currency: "USD",
        currencyDisplay: "narrowSymbol",
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
  ).format(usd);
}

/** 1.2 MB */
export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

/** 0.2 s, 14 s, 4 min, 2 h, 3 d: for how long. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 600) return s % 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s / 60} min`;
  if (s < 3600) return `${Math.round(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h${s % 3600 >= 60 ? ` ${Math.floor((s % 3600) / 60)} min` : ""}`;
  return `${Math.floor(s / 86_400)} d`;
}

/** 0:58 or 1:02:03: a clock that runs. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** 14:02 */
export function time(at: number): string {
  return cached("time", (l) => new Intl.DateTimeFormat(l, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })).format(at);
}

/** 26 November 2026 at 14:02: for titles and screen readers. */
export function fullTime(at: number): string {
  return cached("full", (l) => new Intl.DateTimeFormat(l, { dateStyle: "long", timeStyle: "short" })).format(at);
}

/** now, 4 min, 2 h, yesterday, Tue, 14 Nov, 14 Nov 2025: when something was, seen from now. */
export function ago(at: number, now: number = Date.now()): string {
  const ms = now - at;
  if (ms < 60_000) return language() === "zh" ? "刚刚" : "now";
  if (ms < 3_600_000) return unit(Math.floor(ms / 60_000), "min");
  const day = startOfDay(now);
  if (at >= day) return unit(Math.floor(ms / 3_600_000), "h");
  if (at >= day - 86_400_000) return cached("relative", (l) => new Intl.RelativeTimeFormat(l, { numeric: "auto" })).format(-1, "day");
  if (at >= day - 6 * 86_400_000) return cached("weekday", (l) => new Intl.DateTimeFormat(l, { weekday: "short" })).format(at);
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return cached(
    `day${sameYear}`,
    (l) => new Intl.DateTimeFormat(l, { day: "numeric", month: "short", ...(sameYear ? {} : { year: "numeric" }) }),
  ).format(at);
}

function unit(n: number, of: "min" | "h"): string {
  return language() === "zh" ? `${n} ${of === "min" ? "分钟" : "小时"}` : `${n} ${of}`;
}

function startOfDay(at: number): number {
  const d = new Date(at);
  d.setHours(0, 0, 0, 0);
  return d.getTime();
}

/** One of two texts: English has one and many, Chinese one form. */
export function plural(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** 26 November 2026: a day. */
export function dateOnly(at: number): string {
  return cached("date", (l) => new Intl.DateTimeFormat(l, { dateStyle: "long" })).format(at);
}

/** 26 Nov: a day at the axis of a chart. */
export function dateShort(at: number): string {
  return cached("day", (l) => new Intl.DateTimeFormat(l, { day: "numeric", month: "short" })).format(at);
}
