import { FoldVertical, GitFork } from "lucide-react";
import { useEffect, useState } from "react";
import { sentence, useClient, useLive, useMay, useSession } from "../host/context";
import { IconButton, MenuItem } from "../parts/controls";
import { tell } from "../parts/tell";
import { SessionMenu } from "../places/SessionMenu";
import { go, useRoute } from "../route";
import { clock } from "../words/format";
import { useWords } from "../words/index";
import { newestOf } from "./rows";
import { conversationWords } from "./words";

/** How the session stands, beside its title. */
export function HeaderState() {
  const w = useWords(conversationWords);
  const waits = useLive((l) => (l.permissions?.length ?? 0) + (l.ui?.length ?? 0) > 0);
  const running = useLive((l) => l.running);
  const turn = useLive((l) => l.turnId);
  const workDir = useLive((l) => l.meta.workDir ?? "");
  return (
    <>
      <span className="crumb">{workDir.split("/").at(-1)}</span>
      {(waits || running) && (
        <span className="live">
          <span className={waits ? "note wait" : "note live"} />
          <span className="standing">{waits ? w.waits : w.working}</span>
          {!waits && <Clock key={turn} />}
        </span>
      )}
    </>
  );
}

/** Counts the seconds since the message that began the turn; of a turn that none began, since this page saw it. */
function Clock() {
  const said = useLive((_, s) => newestOf(s.projection.path, (e) => e.type === "message" && e.message.role === "user")?.ts ?? 0);
  const [seen] = useState(Date.now);
  const began = said > 0 && said <= seen + 60_000 ? Math.min(said, seen) : seen;
  const [now, setNow] = useState(seen);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="num">{clock(now - began)}</span>;
}

/** What can be done with the session as a whole: its tree, what the list offers, and to compact it. */
export function HeaderActions() {
  const w = useWords(conversationWords);
  const client = useClient();
  const { sessionId } = useSession();
  const may = useMay("control");
  const opened = useLive((_, s) => s.opened?.summary);
  const meta = useLive((l) => l.meta);
  const route = useRoute();
  const tree = route.at === "session" && route.panel === "tree";
  if (!opened) return null;
  return (
    <>
      <IconButton
        of={GitFork}
        name={w.tree}
        on={tree}
        onClick={() => go({ at: "session", id: sessionId, ...(tree ? {} : { panel: "tree" }) })}
      />
      <SessionMenu s={{ ...opened, meta }}>
        {may && (
          <MenuItem of={FoldVertical} onSelect={() => client.call("compact_session", {}, { sessionId }).catch((e) => tell(sentence(e)))}>
            {w.compact}
          </MenuItem>
        )}
      </SessionMenu>
    </>
  );
}
