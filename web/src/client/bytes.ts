/** Bytes, their forms as text, and random ones. */

const alphabet = "0123456789abcdefghijklmnopqrstuv";

export type Bytes = Uint8Array<ArrayBuffer>;

/** Draws n random bytes. */
export type Random = (n: number) => Bytes;

export const cryptoRandom: Random = (n) => crypto.getRandomValues(new Uint8Array(n));

/** The extended hex alphabet of RFC 4648 in lower case, without padding. */
export function base32(bytes: Uint8Array): string {
  let out = "";
  let bits = 0;
  let value = 0;
  for (const b of bytes) {
    value = (value << 8) | b;
    for (bits += 8; bits >= 5; bits -= 5) out += alphabet.charAt((value >> (bits - 5)) & 31);
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? out + alphabet.charAt((value << (5 - bits)) & 31) : out;
}

/** Standard base64 with padding. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  const step = 0x8000; // what a call may have as arguments
  for (let i = 0; i < bytes.length; i += step) text += String.fromCharCode(...bytes.subarray(i, i + step));
  return btoa(text);
}

/** The bytes of standard base64. It throws for what is none. */
export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** How many bytes a text has in UTF-8. Half a surrogate pair counts as three, as it is encoded. */
export function byteLength(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) n++;
    else if (c < 0x800) n += 2;
    else if (isPair(text, i)) {
      n += 4;
      i++;
    } else n += 3;
  }
  return n;
}

/** The longest end of a text that has at most max bytes in UTF-8 and begins with a whole character. */
export function tail(text: string, max: number): string {
  if (text.length * 3 <= max) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= max) return text;
  let from = bytes.length - max;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++; // within a character
  return decoder.decode(bytes.subarray(from));
}

function isPair(text: string, i: number): boolean {
  return (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
