/**
 * The keys of the whole page. Those with Ctrl (⌘ on a Mac) work everywhere; single keys only while
 * nothing is typed into, and a person can switch them off (WCAG 2.1.4).
 */
import { useSyncExternalStore } from "react";
import { keep, kept } from "../host/kept";

export const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** What a key does; the words are in words.ts by the same names. */
export type Does = "find" | "showKeys" | "newSession" | "previous" | "next" | "waiting" | "toMessage" | "tree";

export interface Shortcut {
  does: Does;
  /** as it is shown */
  keys: string[];
  single: boolean;
  is(e: KeyboardEvent): boolean;
}

const command = (e: KeyboardEvent) => (mac ? e.metaKey && !e.ctrlKey : e.ctrlKey && !e.metaKey) && !e.altKey;
const plain = (key: string) => (e: KeyboardEvent) => e.key === key && !e.ctrlKey && !e.metaKey && !e.altKey;
const ctrl = mac ? "⌘" : "Ctrl";

export const shortcuts: readonly Shortcut[] = [
  { does: "find", keys: [ctrl, "K"], single: false, is: (e) => command(e) && !e.shiftKey && e.key.toLowerCase() === "k" },
  { does: "newSession", keys: [ctrl, "Shift", "O"], single: false, is: (e) => command(e) && e.shiftKey && e.key.toLowerCase() === "o" },
  { does: "find", keys: ["/"], single: true, is: plain("/") },
  { does: "newSession", keys: ["N"], single: true, is: plain("n") },
  { does: "waiting", keys: ["W"], single: true, is: plain("w") },
  { does: "previous", keys: ["["], single: true, is: plain("[") },
  { does: "next", keys: ["]"], single: true, is: plain("]") },
  { does: "toMessage", keys: ["M"], single: true, is: plain("m") },
  { does: "tree", keys: ["T"], single: true, is: plain("t") },
  { does: "showKeys", keys: ["?"], single: true, is: plain("?") },
];

/** Where typing is typing: fields, what is open above the page, and questions. */
export function typing(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu], .sheet") !== null
  );
}

const listeners = new Set<() => void>();

export function singleKeys(): boolean {
  return kept("keys") !== "off";
}

export function setSingleKeys(on: boolean): void {
  keep("keys", on ? undefined : "off");
  for (const l of listeners) l();
}

function onKeys(l: () => void): () => void {
  listeners.add(l);
  return () => listeners.delete(l);
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(onKeys, singleKeys);
}

/** The shortcut of a key that was pressed, if it counts where it was. */
export function shortcutOf(e: KeyboardEvent): Shortcut | undefined {
  if (e.defaultPrevented || e.isComposing) return undefined;
  const found = shortcuts.find((s) => s.is(e));
  return found && (!found.single || (singleKeys() && !typing(e.target))) ? found : undefined;
}

/** What the keys of single rooms do; the words are in words.ts by the same names. */
export type RoomDoes =
  | "walk"
  | "ends"
  | "send"
  | "newLine"
  | "steer"
  | "stop"
  | "earlier"
  | "commandKeys"
  | "files"
  | "shell"
  | "note"
  | "openFolder"
  | "upFolder"
  | "treeGo"
  | "treeFold"
  | "treeName"
  | "treeClose"
  | "pick"
  | "refuse"
  | "otherSide";

/** Keys of single rooms, for the list: a room adds its own here. */
export interface RoomKeys {
  room: "inList" | "inMessage" | "inQuestion" | "inFolders" | "inTree";
  keys: readonly (readonly [keys: string[], does: RoomDoes])[];
}

export const roomKeys: readonly RoomKeys[] = [
  {
    room: "inList",
    keys: [
      [["↑", "↓"], "walk"],
      [["Home", "End"], "ends"],
    ],
  },
  {
    room: "inMessage",
    keys: [
      [["Enter"], "send"],
      [["Shift", "Enter"], "newLine"],
      [[ctrl, "Enter"], "steer"],
      [["Esc"], "stop"],
      [["↑"], "earlier"],
      [["/"], "commandKeys"],
      [["@"], "files"],
      [["!"], "shell"],
      [["#"], "note"],
    ],
  },
  {
    room: "inQuestion",
    keys: [
      [["1", "9"], "pick"],
      [["Esc"], "refuse"],
      [["F6"], "otherSide"],
    ],
  },
  {
    room: "inFolders",
    keys: [
      [["→", "Enter"], "openFolder"],
      [["←"], "upFolder"],
    ],
  },
  {
    room: "inTree",
    keys: [
      [["↑", "↓"], "walk"],
      [["Home", "End"], "ends"],
      [["←", "→"], "treeFold"],
      [["Enter"], "treeGo"],
      [["L"], "treeName"],
      [["Esc"], "treeClose"],
    ],
  },
];
