/** A message of a person as it was written: for the message box, with what was attached. */
import { type Client, fetchBlob } from "../../client/index";
import type { Block, EventID, SessionID } from "../../protocol/index";
import type { Given } from "../composer/handover";
import { typed } from "./framed";

/** The text and the attachments of a message, undefined where there is no such message. */
export async function messageOf(client: Client, sessionId: SessionID, id: EventID): Promise<Given | undefined> {
  const page = await client.call("get_path", { leafId: id, limit: 1 }, { sessionId });
  const e = page.events?.[0];
  if (e?.type !== "message" || e.message.role !== "user") return undefined;
  const { content } = e.message;
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const texts: string[] = [];
  const files: File[] = [];
  for (const b of blocks) {
    if (b.type === "text") {
      // A long text is cut in the log; its whole is a payload.
      texts.push(b.blob ? new TextDecoder().decode(await fetchBlob(client, sessionId, b.blob)) : b.text);
    } else if ((b.type === "image" || b.type === "file") && b.blob) {
      const type = b.mediaType ?? "application/octet-stream";
      const name = (b.type === "file" && b.name) || `${b.type}.${type.split("/")[1]?.replace(/\W.*$/, "") || "bin"}`;
      files.push(new File([await fetchBlob(client, sessionId, b.blob)], name, { type }));
    }
  }
  return { text: typed(texts.join("\n")), files };
}
