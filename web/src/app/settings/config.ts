/** Keys of the configuration as the page reads them. */
import type { ConfigEntry, ConfigReport } from "../../protocol/index";

export function configOf(report: ConfigReport | undefined): Map<string, string> {
  return new Map(report?.entries?.map((e) => [e.key, e.value]));
}

/** The value of a key that takes a text: without quotes, "" where it is not set. */
export function settingOf(values: ReadonlyMap<string, string>, key: string): string {
  return unquoted(values.get(key) ?? "");
}

export function unquoted(value: string): string {
  try {
    const text: unknown = JSON.parse(value);
    return typeof text === "string" ? text : value;
  } catch {
    return value.replace(/^"(.*)"$/s, "$1");
  }
}

/** The texts of a list, as the host writes it; of what is no list, the value itself. */
export function listOf(value: string): string[] {
  try {
    const list: unknown = JSON.parse(value);
    if (Array.isArray(list)) return list.map(String);
  } catch {
    // written as only TOML can; it is shown as it is
  }
  return value === "" ? [] : [value];
}

/** What a key can be set to, where its type names that; else []. */
export function choicesOf(e: ConfigEntry): string[] {
  if (e.type === "boolean") return ["true", "false"];
  const all = (e.type ?? "").replaceAll(" or ", ", ").split(", ");
  return all.length > 1 && all.every((c) => /^[\w-]+$/.test(c)) ? all : [];
}

/** The first part of a key, by which keys are grouped. */
export function groupOf(key: string): string {
  return key.split(".")[0] ?? key;
}
