/** Sessions with branches, for the page tests of the tree. */
import { type Client, fetchBlob, newSessionID } from "../../client/index";
import type { Base64, EventID, SessionID } from "../../protocol/index";
import { say, sessionThatSaid } from "../panels/testing";
import type { World } from "../testing/page";

/** Bytes of an upload that are sent at once. */
const part = 512 << 10;

export const first = "The nightly job skipped 9 March. Find out why, and fix it.";

/** A session with two branches that were left, one of which has a branch of its own; it goes on at a third. */
export async function forked(client: Client, world: World): Promise<SessionID> {
  const id = await sessionThatSaid(client, world, first);
  const leaf = async () => (await client.call("get_tree", { limit: 1000 }, { sessionId: id })).leafId ?? ("" as EventID);
  const found = await leaf();
  await say(client, id, "How would you fix it without touching the schema?");
  const clamp = await leaf();
  await say(client, id, "That fails in autumn. Try again with the time from Postgres.");
  await client.call("rewind_to", { targetEventId: clamp }, { sessionId: id });
  await say(client, id, "Is there a way with a migration?");
  await client.call("set_label", { targetEventId: await leaf(), label: "Ask the database" }, { sessionId: id });
  await client.call("rewind_to", { targetEventId: found }, { sessionId: id });
  await say(client, id, "Go back. Count civil days with AddDate instead.");
  await say(client, id, "And the other three places?");
  return id;
}

/** Imports a session of so many messages with answers; each hundredth leaves a branch. */
export async function longSession(client: Client, world: World, n: number): Promise<SessionID> {
  const from = await sessionThatSaid(client, world, "Is there a way with a migration?");
  const ref = await client.call("export_session", { format: "jsonl" }, { sessionId: from });
  const lines = new TextDecoder()
    .decode(await fetchBlob(client, from, ref.sha256 ?? ""))
    .trim()
    .split("\n");
  const [head, ...events] = lines.map((l) => JSON.parse(l) as Record<string, unknown>);
  const plain = (e: Record<string, unknown> | undefined): Record<string, unknown> => {
    const { crc: _, ...rest } = e ?? {};
    return rest;
  };
  const role = (r: string) => plain(events.find((e) => (e.message as { role?: string } | undefined)?.role === r));
  const [user, assistant] = [role("user"), role("assistant")];
  const out: object[] = [plain(head)];
  let seq = 0;
  let leaf: string | null = null;
  let fork: string | null = null;
  const put = (e: Record<string, unknown>, parentId: string | null, more: object) => {
    const id = `evt_${(++seq).toString().padStart(16, "0")}`;
    out.push({ ...e, id, seq, prev: seq - 1, parentId, ts: 1_790_000_000_000 + seq, ...more });
    return id;
  };
  for (let i = 0; i < n; i++) {
    if (i % 100 === 60) leaf = fork;
    leaf = put(user, leaf, { message: { ...(user.message as object), content: `Message ${i}` } });
    leaf = put(assistant, leaf, { message: { ...(assistant.message as object), content: [{ type: "text", text: `Answer ${i}` }] } });
    if (i % 100 === 50) fork = leaf;
  }
  const data = Buffer.from(out.map((l) => `${JSON.stringify(l)}\n`).join(""));
  const uploadId = newSessionID() as string;
  let file = "";
  for (let offset = 0; offset < data.length; offset += part) {
    const last = offset + part >= data.length;
    const piece = data.subarray(offset, offset + part).toString("base64") as Base64;
    const put = await client.call("put_blob", { uploadId, offset, data: piece, forImport: true, ...(last ? { last } : {}) });
    if (last) file = put.sha256 ?? "";
  }
  const id = newSessionID();
  await client.call("import_session", { blobs: [file], workDir: world.host.work }, { sessionId: id });
  return id;
}
