/**
 * The proofs with which a client and a host begin a connection: the host first, so that a
 * stranger who holds the address of a stopped host learns nothing, and neither side ever sends
 * the token. The twin of protocol/handshake.
 */
import type { Challenge, DeviceID, Hello, PairingID } from "../protocol/index";
import { type Bytes, fromBase64, utf8 } from "./bytes";
import { clientIDOf, deviceIDOf } from "./ids";

const label = "scorel-direct-v1";
const pairingLabel = "scorel-pair-v1";

/** The length of a nonce in bytes. */
export const nonceSize = 32;

/** The longest name of a client in bytes. */
export const maxName = 128;

const keySize = 32;
const proofSize = 32;

/** The key of a client: X25519, from newKey or browserKey. The private one need not be extractable. */
export interface ClientKey {
  readonly privateKey: CryptoKey;
  readonly publicKey: Bytes;
}

/** What was said before the proofs. The address is what the client dialled: host:port, with TLS after tls:. */
export interface Transcript {
  address: string;
  hello: Hello;
  challenge: Challenge;
}

/** Draws a key whose private half cannot be read by anybody, this program included. */
export async function newKey(): Promise<ClientKey> {
  const pair = (await crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"])) as CryptoKeyPair;
  return { privateKey: pair.privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)) };
}

/** The key of a proof by X25519 of a private and a public key. It throws for a public key of low order. */
export async function shared(privateKey: CryptoKey, publicKey: Bytes): Promise<Bytes> {
  const other = await crypto.subtle.importKey("raw", publicKey, { name: "X25519" }, true, []);
  const secret = new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: other }, privateKey, 8 * keySize));
  if (secret.every((b) => b === 0)) throw new Error("the public key has low order");
  return secret;
}

/** The parts of a code that a host has made for one client. */
export interface PairingCode {
  /** Names it, and may be seen by anybody. */
  pairing: PairingID;
  secret: string;
}

/** Reads a code; undefined is none. */
export function splitCode(code: string): PairingCode | undefined {
  if (!/^[0-9a-v]{42}$/.test(code)) return undefined;
  return { pairing: `par_${code.slice(0, 16)}` as PairingID, secret: code.slice(16) };
}

/** The key of a proof of a client that redeems a code, from the secret of the code and a shared secret. */
export async function paired(secret: string, shared: Bytes): Promise<Bytes> {
  return hmac(utf8(secret), new Uint8Array([...utf8(pairingLabel), ...shared]));
}

async function hmac(key: Bytes, input: Bytes): Promise<Bytes> {
  const mac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", mac, input));
}

/** Whose proof it is: one cannot be sent back as the other's. */
export type ProofRole = "host" | "client";

/** The proof of one side under a key: the text of the token, or a shared secret. */
export async function proof(key: Bytes, role: ProofRole, said: Transcript): Promise<Bytes> {
  const { hello: h, challenge: c } = said;
  const texts = [
    h.pairing ? pairingLabel : label,
    role,
    said.address,
    String(h.protocolVersion),
    h.clientId,
    h.clientName,
    String(h.interactive),
    c.deviceId,
  ];
  const binary = [h.nonce, h.publicKey, h.ephemeral, c.nonce, c.publicKey, c.ephemeral];
  const fields = [...texts.map(utf8), ...binary.map((b) => fromBase64(b ?? "")), ...(h.pairing ? [utf8(h.pairing)] : [])];
  const input = new Uint8Array(fields.reduce((n, f) => n + 4 + f.length, 0));
  const lengths = new DataView(input.buffer);
  let at = 0;
  for (const f of fields) {
    lengths.setUint32(at, f.length);
    input.set(f, at + 4);
    at += 4 + f.length;
  }
  return hmac(key, input);
}

/** Compares a proof with the one that came, in a time that does not depend on where they differ. */
export function equalProof(want: Bytes, came: string | null | undefined): boolean {
  const got = bytesOf(came);
  if (!got || got.length !== proofSize || want.length !== proofSize) return false;
  let different = 0;
  for (let i = 0; i < proofSize; i++) different |= (want[i] ?? 0) ^ (got[i] ?? 0);
  return different === 0;
}

/** What is wrong with a hello that cannot begin a connection, "" if nothing is. */
export async function wrongHello(h: Hello): Promise<string> {
  if (utf8(h.clientName).length > maxName) return `a client's name has at most ${maxName} bytes`;
  if (!/^cli_[0-9a-v]{26}$/.test(h.clientId)) return "a clientId is cli_ and 26 characters 0-9a-v";
  if (h.publicKey !== undefined && h.clientId !== (await clientIDOf(fromBase64(h.publicKey)))) return "the clientId is not that of the key";
  return "";
}

/** What is wrong with the answer to a hello, "" if nothing is. */
export async function wrongChallenge(h: Hello, c: Challenge, meant: DeviceID | ""): Promise<string> {
  if (bytesOf(c.nonce)?.length !== nonceSize) return `a nonce has ${nonceSize} bytes`;
  if (typeof c.deviceId !== "string" || c.deviceId === "") return "the host names no device";
  if (meant !== "" && c.deviceId !== meant) return `the host is the device ${c.deviceId.slice(0, 64)}, not ${meant}`;
  if (h.publicKey === undefined) {
    return [c.publicKey, c.ephemeral].every((k) => k === undefined || bytesOf(k)) ? "" : "a key of the host cannot be read";
  }
  const key = bytesOf(c.publicKey);
  if (key?.length !== keySize || bytesOf(c.ephemeral)?.length !== keySize) return `a key has ${keySize} bytes`;
  return c.deviceId === (await deviceIDOf(key)) ? "" : "the deviceId is not that of the publicKey";
}

function bytesOf(text: unknown): Bytes | undefined {
  try {
    return typeof text === "string" ? fromBase64(text) : undefined;
  } catch {
    return undefined;
  }
}
