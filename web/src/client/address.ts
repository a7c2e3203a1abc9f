/** Where a host listens. */

const wirePath = "/v1/ws";
const maxAddress = 512;

/** Where a URL leads: what a WebSocket is opened with, and what the proofs name as dialled. */
export interface Address {
  url: string;
  proved: string;
}

/**
 * Reads the URL of a host: ws://HOST:PORT on this machine alone, or wss://HOST:PORT; http and
 * https mean ws and wss. A path before /v1/ws is that of a reverse proxy. It throws a sentence
 * for what is none. page is the host of the page that this program is on, "" for none.
 */
export function parseAddress(text: string, page: string = globalThis.location?.host ?? ""): Address {
  let u: URL;
  try {
    u = new URL(text);
  } catch {
    throw new Error("the address of a host is ws://127.0.0.1:PORT or wss://HOST:PORT, and this one cannot be read");
  }
  const scheme = { "ws:": "ws", "http:": "ws", "wss:": "wss", "https:": "wss" }[u.protocol];
  if (!scheme) throw new Error("the address of a host begins with ws:// or wss://");
  // URL gives special schemes their parts; they are the same for the four.
  if (u.username !== "" || u.password !== "" || u.search !== "" || u.hash !== "") {
    throw new Error("the address of a host has no user, query or fragment; nothing secret belongs into it");
  }
  let name = u.hostname.toLowerCase();
  if (name === "") throw new Error("the address of a host needs its name or number");
  if (scheme === "ws" && !loopback(name)) {
    throw new Error(`${name} would be reached without encryption; use wss:// for a host that is not on this machine`);
  }
  // The name may lead to two addresses, and somebody else may hold the port of the second. A page of
  // the host itself keeps its name: its policy allows no other.
  if (scheme === "ws" && name === "localhost" && u.host !== page) name = "127.0.0.1";
  const port = u.port || (scheme === "wss" ? "443" : "80");
  const prefix = u.pathname.replace(/\/$/, "").replace(/\/v1\/ws$/, "");
  const proved = `${scheme === "wss" ? "tls:" : ""}${name}:${port}`;
  if (proved.length > maxAddress) throw new Error(`the address of a host has at most ${maxAddress} characters`);
  return { url: `${scheme}://${name}${u.port ? `:${u.port}` : ""}${prefix}${wirePath}`, proved };
}

function loopback(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name);
}
