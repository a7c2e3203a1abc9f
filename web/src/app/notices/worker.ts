/** The service worker of the page, which shows its notifications. */

/** The one address that becomes a script here; the policy of the page lets no other. */
const address = "./sw.js";

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

let registered: Promise<ServiceWorkerRegistration> | undefined;

/** Why this browser shows no notifications of the page, "" if it can. */
export function withoutNotices(): "" | "insecure" | "unsupported" {
  if (!window.isSecureContext) return "insecure";
  return "Notification" in window && "serviceWorker" in navigator ? "" : "unsupported";
}

/** Registers the worker, once. */
export function worker(): Promise<ServiceWorkerRegistration> {
  registered ??= register().catch((e: unknown) => {
    registered = undefined;
    throw e;
  });
  return registered;
}

async function register(): Promise<ServiceWorkerRegistration> {
  const { trustedTypes } = window as unknown as { trustedTypes?: Policies };
  const policy = trustedTypes?.createPolicy("worker", { createScriptURL: () => address });
  const url = policy ? policy.createScriptURL(address) : address;
  await navigator.serviceWorker.register(url as string, { scope: "./", updateViaCache: "none" });
  return navigator.serviceWorker.ready;
}
