import type { Client } from "./client";

/** What is used of a page. */
export interface Page {
  document: Pick<Document, "addEventListener" | "removeEventListener" | "visibilityState">;
  window: Pick<Window, "addEventListener" | "removeEventListener">;
}

/**
 * Has a client look after its connection when the page is shown again, comes back from sleep or
 * another page, or has a network again; and keep its sessions when the page is left. It returns
 * what ends that.
 */
export function watchPage(client: Pick<Client, "wake" | "save">, page: Page = globalThis as unknown as Page): () => void {
  const { document, window } = page;
  const wake = () => client.wake();
  const save = () => client.save();
  const seen = () => (document.visibilityState === "visible" ? wake() : save());
  const of = (target: Pick<EventTarget, "addEventListener" | "removeEventListener">, name: string, listener: () => void) => {
    target.addEventListener(name, listener);
    return () => target.removeEventListener(name, listener);
  };
  const ends = [
    of(document, "visibilitychange", seen),
    of(document, "resume", wake),
    of(window, "online", wake),
    of(window, "pageshow", wake),
    of(window, "pagehide", save),
  ];
  return () => {
    for (const end of ends) end();
  };
}
