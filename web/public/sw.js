// The service worker of the page: it keeps nothing and answers no request. Notifications lead to
// what they tell of. A push has no content, so its notification says only that something waits, in
// the language of the page, which is in the address of this script (web/src/app/notices/worker.ts).
const words =
  self.location.search === "?zh"
    ? { lang: "zh-Hans", waits: "有会话在等待你。", renew: "请打开此页面，以便继续通知你。" }
    : { lang: "en", waits: "A session waits for you.", renew: "Open this page, so that it can go on telling you what waits." };

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
  await self.navigator.setAppBadge?.().catch(() => undefined); // only an installed page has an icon
  await show("waits", words.waits);
}

// Only a page can tell the host where to push to now: the worker has no key to come in with.
async function changed() {
  const all = await pages();
  for (const p of all) p.postMessage({ renew: true });
  if (all.length === 0) await show("renew", words.renew).catch(() => undefined); // the person has taken the permission back
}

function show(tag, body) {
  return self.registration.showNotification("Scorel", { tag, body, lang: words.lang, renotify: true, icon: "./mark.svg", data: { fragment: "#/" } });
}
