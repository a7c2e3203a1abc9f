/**
 * What was written and not sent, for each session. Each tab has its own, which outlives a reload;
 * a tab that is new to a session begins with what was written last in this browser.
 */
import type { SessionID } from "../../protocol/index";
import { keep, kept } from "../host/kept";

/** The longest draft that outlives the page, in characters, and for how many sessions there is one. */
export const maxDraft = 50_000;
const maxDrafts = 50;

type Drafts = Record<string, string>;

/** What lasts as long as the page: a draft that is too long to outlive it, and the files that are attached to one. */
interface OfPage {
  text?: string | undefined;
  files: readonly File[];
}

const ofPage = new Map<SessionID, OfPage>();

/** Changes it for a session. While there is some the browser asks before the page goes. */
function keepOfPage(id: SessionID, part: Partial<OfPage>): void {
  const now: OfPage = { files: [], ...ofPage.get(id), ...part };
  if (now.text !== undefined || now.files.length > 0) ofPage.set(id, now);
  else ofPage.delete(id);
  if (ofPage.size > 0) addEventListener("beforeunload", ask);
  else removeEventListener("beforeunload", ask);
}

function ask(e: BeforeUnloadEvent): void {
  e.preventDefault();
}

/** The files that are attached to a session's draft; they last as long as the page. */
export function filesOf(id: SessionID): readonly File[] {
  return ofPage.get(id)?.files ?? [];
}

export function keepFiles(id: SessionID, files: readonly File[]): void {
  keepOfPage(id, { files });
}

/** Drafts of this tab; "" where there is none any more. Those that were not edited here are as good as sent when their tab sends them. */
interface OfTab {
  own: Drafts;
  begun: Drafts;
}

const tabKept = "scorel.drafts";
let ofTab: OfTab | undefined;

function tab(): OfTab {
  if (ofTab) return ofTab;
  let read: Partial<OfTab> = {};
  try {
    read = (JSON.parse(sessionStorage.getItem(tabKept) ?? "{}") ?? {}) as Partial<OfTab>;
  } catch {
    // without storage it lasts as long as the page
  }
  ofTab = { own: draftsOf(read.own), begun: draftsOf(read.begun) };
  return ofTab;
}

function keepTab(changed: OfTab): void {
  ofTab = changed;
  try {
    sessionStorage.setItem(tabKept, JSON.stringify(changed));
  } catch {
    // without storage it lasts as long as the page
  }
}

function draftsOf(value: unknown): Drafts {
  return typeof value === "object" && value !== null ? (value as Drafts) : {};
}

function shared(): Drafts {
  try {
    return draftsOf(JSON.parse(kept("drafts") ?? "{}"));
  } catch {
    return {};
  }
}

function textOf(drafts: Drafts, id: SessionID): string | undefined {
  const text = drafts[id];
  return typeof text === "string" ? text : undefined;
}

/** The same with another text for a session, the newest last; the one that was written longest ago goes first. */
function withText(drafts: Drafts, id: SessionID, text: string | undefined): Drafts {
  const { [id]: _, ...rest } = drafts;
  const all = text === undefined ? rest : { ...rest, [id]: text };
  return Object.fromEntries(Object.entries(all).slice(-maxDrafts));
}

/** What is being done and would be lost with the page; it stands before what is written since. */
const held = new Map<SessionID, readonly string[]>();

function heldOf(id: SessionID): string {
  return (held.get(id) ?? []).join("\n");
}

/** Keeps what was sent from the box until it is done, so that it comes back when the page ends before. It returns what ends that. */
export function holdDraft(id: SessionID, text: string): () => void {
  const change = (texts: readonly string[]) => {
    const draft = draftOf(id);
    if (texts.length > 0) held.set(id, texts);
    else held.delete(id);
    keepDraft(id, draft);
  };
  change([...(held.get(id) ?? []), text]);
  return () => {
    const texts = [...(held.get(id) ?? [])];
    texts.splice(texts.indexOf(text), 1);
    change(texts);
  };
}

export function draftOf(id: SessionID): string {
  const all = wholeOf(id);
  const before = heldOf(id);
  if (before === "" || !`${all}\n`.startsWith(`${before}\n`)) return all;
  return all.slice(before.length + 1);
}

function wholeOf(id: SessionID): string {
  const long = ofPage.get(id)?.text;
  if (long !== undefined) return long;
  const { own, begun } = tab();
  const mine = textOf(own, id);
  if (mine !== undefined) return mine;
  const now = textOf(shared(), id) ?? "";
  const first = textOf(begun, id);
  if (first === undefined) keepTab({ own, begun: withText(begun, id, now) });
  // What another tab wrote and has sent, or has gone on with, is no draft of this one.
  return first === undefined || first === now ? now : "";
}

/** Keeps a draft; "" forgets it. One of more than maxDraft characters lasts as long as the page. */
export function keepDraft(id: SessionID, text: string): void {
  const { own, begun } = tab();
  const whole = [heldOf(id), text].filter(Boolean).join("\n");
  const long = whole.length > maxDraft;
  const short = long ? "" : whole;
  keepOfPage(id, { text: long ? whole : undefined });
  const before = textOf(own, id) ?? textOf(begun, id);
  keepTab({ own: withText(own, id, short), begun: withText(begun, id, undefined) });
  const all = shared();
  // What another tab has written since stays.
  if (short !== "" || textOf(all, id) === before) keep("drafts", JSON.stringify(withText(all, id, short || undefined)));
}

/** Calls listener when another tab has sent, or dropped, what this one begins with and has not edited. */
export function onDraftGone(id: SessionID, listener: () => void): () => void {
  const look = (e: StorageEvent) => {
    const first = textOf(tab().begun, id);
    if (!e.key?.endsWith("drafts") || textOf(tab().own, id) !== undefined || !first) return;
    if (textOf(shared(), id) === undefined) listener();
  };
  addEventListener("storage", look);
  return () => removeEventListener("storage", look);
}
