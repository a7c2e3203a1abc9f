// The service worker of the page: it keeps nothing and answers no request. Notifications that
// it shows lead to their session.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  const fragment = e.notification.data?.fragment;
  if (typeof fragment !== "string" || !fragment.startsWith("#/s/")) return;
  e.waitUntil(lead(fragment));
});

async function lead(fragment) {
  const pages = await self.clients.matchAll({ type: "window" });
  const page = pages.find((p) => p.focused) ?? pages[0];
  if (!page) return void (await self.clients.openWindow(`./${fragment}`));
  page.postMessage({ open: fragment });
  await page.focus();
}
