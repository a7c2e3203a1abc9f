import type { Base64, BlobRef, SessionID } from "../protocol/index";
import { base64, type Bytes, fromBase64, hex, sha256 } from "./bytes";
import { UploadLostError } from "./calls";
import type { Client } from "./client";
import { newRequestID } from "./ids";

/** Bytes of the parts in which payloads travel: what fits into a message as base64, and what a host gives at a time. */
const putPart = 512 << 10;
const getPart = 48 << 10;
/** How often an upload begins again because its connection broke. */
const maxUploads = 5;
/** The longest payload that is read, in bytes. */
const maxBlob = 64 << 20;

/** Stores a payload at the host and names it. An upload whose connection breaks begins again, at most 5 times. */
export async function upload(client: Client, data: Bytes, signal?: AbortSignal): Promise<BlobRef> {
  for (let tries = 1; ; tries++) {
    try {
      return await uploadOnce(client, data, signal);
    } catch (e) {
      if (!(e instanceof UploadLostError) || tries === maxUploads) throw e;
    }
  }
}

async function uploadOnce(client: Client, data: Bytes, signal?: AbortSignal): Promise<BlobRef> {
  const uploadId = newRequestID(client.random) as string;
  for (let offset = 0; ; offset += putPart) {
    const part = data.subarray(offset, offset + putPart);
    const last = offset + part.length >= data.length;
    const request = { uploadId, offset, data: base64(part) as Base64, ...(last && { last: true }) };
    const ref = await client.call("put_blob", request, signal ? { signal } : {});
    if (last) return ref;
  }
}

/** Reads a payload that the session names, at most 64 MiB. It throws for one that comes damaged. */
export async function fetchBlob(client: Client, sessionId: SessionID, sha: string, signal?: AbortSignal): Promise<Bytes> {
  let all: Bytes | undefined;
  let at = 0;
  do {
    const part = await client.call(
      "get_blob",
      { sha256: sha, offset: at, length: getPart },
      signal ? { sessionId, signal } : { sessionId },
    );
    if (part.size > maxBlob) throw new Error(`the payload has more than ${maxBlob >> 20} MiB`);
    all ??= new Uint8Array(part.size);
    const bytes = fromBase64(part.data ?? "");
    if ((bytes.length === 0 && at < all.length) || at + bytes.length > all.length)
      throw new Error("the payload came damaged: it has another size than the host said");
    all.set(bytes, at);
    at += bytes.length;
  } while (at < all.length);
  if (hex(await sha256(all)) !== sha) throw new Error("the payload came damaged: its bytes are not those that its name says");
  return all;
}
