/** /mcp with an argument: switches a server of the session on or off, or connects with it again. */
import type { Client } from "../../client/index";
import { cleanLine } from "../../display/index";
import type { SessionID } from "../../protocol/index";
import type { ComposerWords } from "./words";

/** How long a reconnection may take until the person is told that it goes on, in milliseconds: as long as a connection may. */
const maxWaitMs = 30_000;
/** How often the server is looked at where no change is heard of. */
const lookMs = 5_000;

/** Does what args say, and returns a sentence about what came of it. */
export async function changeServer(client: Client, sessionId: SessionID, args: string, w: ComposerWords): Promise<string> {
  const [, verb, name = ""] = /^(enable|disable|reconnect)\s+(\S+)$/.exec(args) ?? [];
  if (!verb) throw new Error(w.serverArguments);
  if (verb === "reconnect") {
    await client.call("reconnect_mcp_server", { name }, { sessionId });
    return outcome(client, sessionId, name, w);
  }
  const enabled = verb === "enable";
  await client.call("enable_mcp_server", { name, enabled }, { sessionId });
  return enabled ? w.serverEnabled(name) : w.serverDisabled(name);
}

/** What came of a reconnection, once that is known. */
async function outcome(client: Client, sessionId: SessionID, name: string, w: ComposerWords): Promise<string> {
  const until = Date.now() + maxWaitMs;
  for (;;) {
    const changed = change(client, sessionId);
    const { servers } = await client.call("list_mcp_servers", {}, { sessionId });
    const s = servers?.find((s) => s.name === name);
    if (s?.state === "connected") return w.serverConnected(name, s.tools ?? 0);
    if (s && s.state !== "pending") return w.serverNotConnected(name, cleanLine(s.problem ?? "") || s.state.replaceAll("-", " "));
    if (Date.now() >= until) return w.serverPending(name);
    await changed;
  }
}

/** Resolves when the servers of a session have changed, or after a while. */
function change(client: Client, sessionId: SessionID): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      off();
      resolve();
    };
    const timer = setTimeout(over, lookMs);
    const off = client.onDevice((c) => (c.missed || c.mcp.includes(sessionId)) && over());
  });
}
