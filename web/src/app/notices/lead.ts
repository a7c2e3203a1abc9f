/**
 * Goes where a notification leads that was clicked. It listens from the first script on: a message
 * of the worker comes once the document is read, and the page is made later.
 */
export function followNotifications(): void {
  navigator.serviceWorker?.addEventListener("message", (e: MessageEvent<{ open?: unknown }>) => {
    const to = e.data?.open;
    if (typeof to === "string" && (to === "#/" || to.startsWith("#/s/"))) location.hash = to;
  });
}
