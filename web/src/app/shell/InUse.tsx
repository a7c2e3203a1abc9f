import { Lock } from "lucide-react";
import { useEffect } from "react";
import { newSessionID } from "../../client/index";
import { cleanLine } from "../../display/clean";
import { useAction, useAnswer, useClient, useMay, useSession } from "../host/context";
import { Button, Icon } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { tell } from "../parts/tell";
import { go } from "../route";
import { useWords } from "../words/index";
import { shellWords } from "./words";

/** How often a session that another program has is tried again while the page is seen, in milliseconds. */
const retryMs = 3_000;

/** Another program has the session: says so, offers a copy, and opens the session once it is free. */
export function InUse() {
  const w = useWords(shellWords);
  const client = useClient();
  const session = useSession();
  const may = useMay("control");
  const { sessionId } = session;
  const listed = useAnswer("list_sessions", { query: sessionId, limit: 1 });
  const owner = listed.data?.sessions?.find((s) => s.sessionId === sessionId)?.lockedBy;
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && session.retry();
    const timer = setInterval(look, retryMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [session]);
  const copy = useAction(async () => {
    const id = newSessionID();
    const made = await client.call("clone_session", { fromSessionId: sessionId }, { sessionId: id });
    for (const n of made.notices ?? []) tell(n);
    go({ at: "session", id });
  });
  return (
    <>
      <div className="banner inuse" role="status">
        <Icon of={Lock} />
        <span className="grow">{w.inUse(cleanLine(owner ?? ""))}</span>
        {may && (
          <Button onClick={() => void copy.run()} disabled={copy.busy}>
            {w.workOnCopy}
          </Button>
        )}
      </div>
      <ErrorLine error={copy.error} />
    </>
  );
}
