import type { DisplayKind, DisplayStatus } from "../protocol/eventspec";
import { eventSpecs } from "../protocol/eventspec";
import { cleanLine, cleanText } from "./clean";
import { fill, holds, member } from "./template";

/** How an event is shown, as far as it is data: the twin of protocol/display.Item. */
export interface Item {
  kind: DisplayKind;
  title?: string;
  text?: string;
  status?: DisplayStatus;
  ref?: string;
  toolCallId?: string;
  toolName?: string;
  id?: string;
}

/**
 * The item of an event. It is undefined for an event that a view shows, which is code: see
 * view of {@link eventSpecs}. What this version does not know is hidden.
 */
export function itemOf(event: { type: string }): Item | undefined {
  if (!Object.hasOwn(eventSpecs, event.type)) return { kind: "hidden" };
  const d = eventSpecs[event.type as keyof typeof eventSpecs].display;
  if (d.kind === undefined) return undefined;
  if (d.kind === "hidden") return { kind: "hidden" };
  const title = fill(event, d.title ?? "", cleanLine);
  const lines = (d.lines ?? []).map((l) => fill(event, l, cleanLine)).filter((l) => l !== "");
  const text = d.text === undefined ? lines.join("\n") : fill(event, d.text, cleanText);
  if (d.hideEmpty && title === "" && text === "") return { kind: "hidden" };
  const item: Item = { kind: d.kind };
  const status = d.status?.find((c) => c.if === "" || holds(event, c.if))?.status;
  const word = (path: string | undefined): string => {
    const value = path === undefined ? undefined : member(event, path);
    return typeof value === "string" ? value : "";
  };
  if (title !== "") item.title = title;
  if (text !== "") item.text = text;
  if (status !== undefined) item.status = status;
  for (const name of ["ref", "toolCallId", "toolName", "id"] as const) {
    const value = word(d[name]);
    if (value !== "") item[name] = name === "ref" ? value : cleanLine(value);
  }
  return item;
}
