/** The palette: finds sessions and does what the page can do, from the keyboard. Its dialogs are loaded when they are first opened. */
import { useEffect, useRef, useState } from "react";
import { useClient } from "../host/context";
import { placesOf } from "../places/store";
import { deskRows } from "../places/rows";
import { standingOf } from "../places/summary";
import { go, parseRoute } from "../route";
import { type Does, shortcutOf } from "./keys";
import { lazy } from "../parts/lazy";

const load = () => import("./PaletteDialog");
const PaletteDialog = lazy(load);
/** When the palette is fetched, so that it is there at once when it is opened. */
const fetchAfterMs = 3_000;
const Keys = lazy(() => import("./Keys"));

export type PaletteView = "find" | "keys";
const opens = new Set<(view: PaletteView) => void>();

/** Opens the palette, or the list of keys. */
export function openPalette(view: PaletteView = "find"): void {
  for (const open of opens) open(view);
}

export function Palette() {
  const client = useClient();
  const [view, setView] = useState<PaletteView>();
  const early = useEarlyKeys(view === "find");
  useEffect(() => {
    opens.add(setView);
    return () => void opens.delete(setView);
  }, []);

  /** Goes to the session that is n rows from the one that is shown, or to the next that waits. */
  const walk = (n: 1 | -1 | "waiting") => {
    const { places } = placesOf(client);
    const rows = deskRows(places, { folded: new Set(), open: new Set() });
    const list = rows.flatMap((r) =>
      r.kind === "session" && (n !== "waiting" || standingOf(r.s, true) === "waits") ? [r.s.sessionId] : [],
    );
    const route = parseRoute(location.hash);
    const at = route.at === "session" ? list.indexOf(route.id) : -1;
    const step = n === "waiting" ? 1 : n;
    const to = list[at < 0 ? (step > 0 ? 0 : list.length - 1) : (at + step + list.length) % list.length];
    if (to) go({ at: "session", id: to });
  };
  const act: Record<Does, () => void> = {
    find: () => setView((v) => (v === "find" ? undefined : "find")),
    showKeys: () => setView("keys"),
    newSession: () => go({ at: "new" }),
    previous: () => walk(-1),
    next: () => walk(1),
    waiting: () => walk("waiting"),
    tree: () => {
      const route = parseRoute(location.hash);
      if (route.at === "session") go({ at: "session", id: route.id, ...(route.panel === "tree" ? {} : { panel: "tree" }) });
    },
    toMessage: () => document.getElementById("composer")?.focus(),
  };
  const newest = useRef(act);
  newest.current = act;
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const found = shortcutOf(e);
      if (!found) return;
      e.preventDefault();
      newest.current[found.does]();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);

  const close = () => setView(undefined);
  return (
    <>
      {view === "find" && <PaletteDialog begin={early} onClose={close} act={act} />}
      {view === "keys" && <Keys onClose={close} />}
    </>
  );
}

/**
 * What is typed between the opening of the palette and its field, while its part of the page is
 * on its way: begin returns it, and ends that.
 */
function useEarlyKeys(opening: boolean): () => string {
  const text = useRef("");
  const waits = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), fetchAfterMs);
    const press = (e: KeyboardEvent) => {
      if (!waits.current || e.key.length !== 1 || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
      text.current += e.key;
      e.preventDefault();
      e.stopPropagation();
    };
    addEventListener("keydown", press, true);
    return () => {
      clearTimeout(timer);
      removeEventListener("keydown", press, true);
    };
  }, []);
  const was = useRef(false);
  if (opening !== was.current) {
    was.current = opening;
    waits.current = opening;
    text.current = "";
  }
  const begin = useRef(() => {
    waits.current = false;
    return text.current;
  });
  return begin.current;
}
