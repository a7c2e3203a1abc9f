import type { ClientID, DeviceID, RequestID, SessionID } from "../protocol/index";
import { type Bytes, base32, cryptoRandom, type Random, sha256 } from "./bytes";

/** How many characters the long ids have after their prefix. */
const longID = 26;

/** A new id for a request: 128 random bits and two zero bits. */
export function newRequestID(random: Random = cryptoRandom): RequestID {
  return `req_${base32(random(16))}` as RequestID;
}

/** A new id for a client that comes in with the token. Keep it: the host remembers requests per client. */
export function newClientID(random: Random = cryptoRandom): ClientID {
  return `cli_${base32(random(17)).slice(0, longID)}` as ClientID;
}

/** A new id for a session, for create_session and its like: ids sort by the time at which they were made. */
export function newSessionID(now: number = Date.now(), random: Random = cryptoRandom): SessionID {
  const bytes = new Uint8Array(17);
  for (let i = 5, rest = now; i >= 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256;
  bytes.set(random(11), 6);
  return `ses_${base32(bytes).slice(0, longID)}` as SessionID;
}

/** The id of the device that belongs to a public key. */
export async function deviceIDOf(publicKey: Bytes): Promise<DeviceID> {
  return `dev_${await keyID(publicKey)}` as DeviceID;
}

/** The id of the client that belongs to a public key. */
export async function clientIDOf(publicKey: Bytes): Promise<ClientID> {
  return `cli_${await keyID(publicKey)}` as ClientID;
}

async function keyID(publicKey: Bytes): Promise<string> {
  return base32(await sha256(publicKey)).slice(0, longID);
}
