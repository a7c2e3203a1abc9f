/** What was written and not sent, for each session in this browser. */
import type { SessionID } from "../../protocol/index";
import { keep, kept } from "../host/kept";

/** The longest draft that outlives the page, in characters, and for how many sessions there is one. */
const maxDraft = 50_000;
const maxDrafts = 50;

type Drafts = Record<string, string>;

function read(): Drafts {
  try {
    const all: unknown = JSON.parse(kept("drafts") ?? "{}");
    return typeof all === "object" && all !== null ? (all as Drafts) : {};
  } catch {
    return {};
  }
}

export function draftOf(id: SessionID): string {
  const text = read()[id];
  return typeof text === "string" ? text : "";
}

/** Keeps a draft; "" forgets it. The one that was written longest ago goes first. */
export function keepDraft(id: SessionID, text: string): void {
  const { [id]: _, ...rest } = read();
  const all = text === "" || text.length > maxDraft ? rest : { ...rest, [id]: text };
  keep("drafts", JSON.stringify(Object.fromEntries(Object.entries(all).slice(-maxDrafts))));
}
