/** The service worker of the page, which shows its notifications. */
import { type Language, language } from "../words/index";

/** The addresses that become a script here, one for each language; the policy of the page lets no other. */
const addresses: Record<Language, string> = { en: "./sw.js", zh: "./sw.js?zh" };

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(l: string): string }): { createScriptURL(l: Language): unknown };
}

let policy: ReturnType<Policies["createPolicy"]> | undefined;
let registered: { in: Language; as: Promise<ServiceWorkerRegistration> } | undefined;

/** Why this browser shows no notifications of the page, "" if it can. */
export function withoutNotices(): "" | "insecure" | "unsupported" {
  if (!window.isSecureContext) return "insecure";
  return "Notification" in window && "serviceWorker" in navigator ? "" : "unsupported";
}

/** Registers the worker, once for each language of the page. */
export function worker(): Promise<ServiceWorkerRegistration> {
  const l = language();
  if (registered?.in === l) return registered.as;
  const as = register(l).catch((e: unknown) => {
    registered = undefined;
    throw e;
  });
  registered = { in: l, as };
  return as;
}

async function register(l: Language): Promise<ServiceWorkerRegistration> {
  const { trustedTypes } = window as unknown as { trustedTypes?: Policies };
  policy ??= trustedTypes?.createPolicy("worker", { createScriptURL: (l) => addresses[l as Language] });
  const url = policy ? policy.createScriptURL(l) : addresses[l];
  await navigator.serviceWorker.register(url as string, { scope: "./", updateViaCache: "none" });
  return navigator.serviceWorker.ready;
}
