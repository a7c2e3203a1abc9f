// The service worker of the page: it answers no request and keeps nothing but the words that the
// page has left for it. Notifications lead to what they tell of. A push has no content, so its
// notification says only that something waits.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  const fragment = e.notification.data?.fragment;
  if (typeof fragment !== "string" || (fragment !== "#/" && !fragment.startsWith("#/s/"))) return;
  e.waitUntil(lead(fragment));
});
self.addEventListener("push", (e) => e.waitUntil(pushed()));
self.addEventListener("pushsubscriptionchange", (e) => e.waitUntil(changed()));

const pages = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

async function lead(fragment) {
  const all = await pages();
  const page = all.find((p) => p.focused) ?? all[0];
  if (!page) return void (await self.clients.openWindow(`./${fragment}`));
  page.postMessage({ open: fragment });
  await page.focus();
}

// Safari takes the subscription away from who shows nothing; other browsers ask for nothing while
// a page is looked at.
const alwaysShows = /AppleWebKit/.test(navigator.userAgent) && !/Chrom|Edg/.test(navigator.userAgent);

async function pushed() {
  if (!alwaysShows && (await pages()).some((p) => p.visibilityState === "visible")) return;
  const words = await kept();
  await self.navigator.setAppBadge?.().catch(() => undefined); // only an installed page has an icon
  await show("waits", words.waits ?? "A session waits for you.", words.lang);
}

// Only a page can tell the host where to push to now: the worker has no key to come in with.
async function changed() {
  const all = await pages();
  for (const p of all) p.postMessage({ renew: true });
  if (all.length > 0 || self.Notification.permission !== "granted") return;
  const words = await kept();
  await show("renew", words.renew ?? "Open this page, so that it can go on telling you what waits.", words.lang);
}

function show(tag, body, lang = "en") {
  return self.registration.showNotification("Scorel", { tag, body, lang, renotify: true, icon: "./mark.svg", data: { fragment: "#/" } });
}

// The words in the language of the page, which web/src/app/notices/push.ts keeps.
async function kept() {
  try {
    return (await (await (await self.caches.open("scorel-push")).match("./words"))?.json()) ?? {};
  } catch {
    return {}; // a private window may keep nothing
  }
}
