/** A session that has done something, for the page tests of the panels. */
import { Client, newClientID, newSessionID, webSocket } from "../../client/index";
import type { SessionID } from "../../protocol/index";
import type { World } from "../testing/page";

/** A client with the token of the host, as a program has it. */
export function program(world: World): Client {
  return new Client({
    dial: webSocket({
      url: `ws://127.0.0.1:${world.host.port}`,
      token: world.host.token,
      clientId: newClientID(),
      clientName: "Lena's terminal",
      interactive: true,
    }),
  });
}

/** Begins a session in the folder of the host, says something, and waits until the answer is there. */
export async function sessionThatSaid(client: Client, world: World, text: string, allow: string[] = []): Promise<SessionID> {
  const sessionId = newSessionID();
  const { projectId } = await client.call("register_project", { workDir: world.host.work });
  await client.call("create_session", { projectId, meta: { workDir: world.host.work, name: "Nightly job" } }, { sessionId });
  await say(client, sessionId, text, allow);
  return sessionId;
}

/** Says something in a session, and waits for the end of the turn. */
export async function say(client: Client, sessionId: SessionID, text: string, allow: string[] = []): Promise<void> {
  const session = await client.open(sessionId);
  const { turnId } = await client.call(
    "send_message",
    { content: [{ type: "text", text }], whenBusy: "reject", options: { allow } },
    { sessionId },
  );
  await new Promise<void>((resolve) => {
    const look = () => {
      if (!session.projection.live.running && (!turnId || session.projection.live.ended?.turnId === turnId)) resolve();
    };
    session.subscribe(look);
    look();
  });
  await session.close();
}
