/** Where the page is. It is in the fragment, so that it works below any path of a proxy and no server sees it. */
import { useSyncExternalStore } from "react";
import type { EventID, SessionID } from "../protocol/index";

export type Route =
  /** the list; on a wide page with a session to begin beside it */
  | { at: "home" }
  | { at: "new"; workDir?: string }
  | { at: "session"; id: SessionID; event?: EventID; panel?: string }
  /** a panel of the device: schedules, usage, settings … */
  | { at: "panel"; panel: string; section?: string };

/** The route of a fragment; of one that means nothing, home. */
export function parseRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?");
  const [head, first, second] = path.split("/").map(decode);
  const more = new URLSearchParams(query);
  switch (head) {
    case "new": {
      const workDir = more.get("in");
      return workDir ? { at: "new", workDir } : { at: "new" };
    }
    case "s":
      if (!first) break;
      return {
        at: "session",
        id: first as SessionID,
        ...(more.has("e") ? { event: (more.get("e") ?? "") as EventID } : {}),
        ...(second ? { panel: second } : {}),
      };
    case "p":
      if (!first) break;
      return { at: "panel", panel: first, ...(second ? { section: second } : {}) };
  }
  return { at: "home" };
}

/** The fragment of a route, with #. */
export function hrefOf(r: Route): string {
  const e = encodeURIComponent;
  switch (r.at) {
    case "home":
      return "#/";
    case "new":
      return r.workDir ? `#/new?in=${e(r.workDir)}` : "#/new";
    case "session":
      return `#/s/${e(r.id)}${r.panel ? `/${e(r.panel)}` : ""}${r.event ? `?e=${e(r.event)}` : ""}`;
    case "panel":
      return `#/p/${e(r.panel)}${r.section ? `/${e(r.section)}` : ""}`;
  }
}

/** Goes there; with replace the back button does not lead to where the page is now. */
export function go(r: Route, options: { replace?: boolean } = {}): void {
  const href = hrefOf(r);
  if (href === location.hash) return;
  if (options.replace) history.replaceState(history.state, "", href);
  else history.pushState({ from: location.hash }, "", href);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Goes back there if the page came from there, so that the way does not have it twice. */
export function goBack(r: Route): void {
  const from = (history.state as { from?: string } | null)?.from;
  if (from === hrefOf(r)) history.back();
  else go(r, { replace: true });
}

let last = "";
let route: Route = { at: "home" };

function current(): Route {
  if (location.hash !== last) {
    last = location.hash;
    route = parseRoute(last);
  }
  return route;
}

export function useRoute(): Route {
  return useSyncExternalStore((changed) => {
    addEventListener("hashchange", changed);
    addEventListener("popstate", changed);
    return () => {
      removeEventListener("hashchange", changed);
      removeEventListener("popstate", changed);
    };
  }, current);
}

function decode(s: string): string {
  try {
    return decodeURIComponent(s);
  } catch {
    return "";
  }
}
