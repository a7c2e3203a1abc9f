import { cleanLine, cleanText } from "../../display/clean";
import { ChevronLeft, PanelRight } from "lucide-react";
import { useEffect, useState } from "react";
import type { EventID, SessionID } from "../../protocol/index";
import { Composer } from "../composer/Composer";
import { Conversation } from "../conversation/Conversation";
import { HeaderActions, HeaderState } from "../conversation/Header";
import { useNotices } from "../conversation/notices";
import { SessionProvider, useLive, useSession } from "../host/context";
import { setTitle } from "../parts/title";
import { kept, keep } from "../host/kept";
import { IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { SessionPanels } from "../panels/SessionPanels";
import { Questions } from "../questions/Questions";
import { useMedia } from "../places/hooks";
import { usePlaces } from "../places/store";
import { titleOf } from "../places/summary";
import { go, goBack } from "../route";
import { AskedMove } from "../tree/asked";
import { useWords } from "../words/index";
import { InUse } from "./InUse";
import { Connection } from "./Shell";
import { shellWords } from "./words";
import { lazy } from "../parts/lazy";

const Tree = lazy(
  () => import("../tree/Tree"),
  () => <div className="treepage" />,
);

/** A session: its header, the conversation, what is asked or the composer, and its panels. */
export default function SessionRoom({ id, panel, event }: { id: SessionID; panel?: string | undefined; event?: EventID | undefined }) {
  return (
    <SessionProvider id={id}>
      <Room panel={panel} event={event} />
    </SessionProvider>
  );
}

/** What the session is called, here and in the tab: as in the list, which tells of the first prompt when it has come. */
function Title() {
  const w = useWords(shellWords);
  const { sessionId } = useSession();
  const listed = usePlaces().sessions.find((s) => s.sessionId === sessionId);
  const title = useLive((l, s) => {
    const known = listed ?? s.opened?.summary;
    return cleanLine(l.meta.name ?? "") || (known ? titleOf(known) : "");
  });
  useEffect(() => {
    setTitle(title.slice(0, 60));
    return () => setTitle("");
  }, [title]);
  const inUse = useInUse();
  return <h1 title={title}>{title || (inUse ? w.oneSession : w.newSession)}</h1>;
}

/** Another program has the session. */
function useInUse(): boolean {
  return useLive((_, s) => s.refused !== undefined);
}

/** Why nothing can be written into the session, as long as that is so. */
function ReadOnly() {
  const w = useWords(shellWords);
  const { sessionId } = useSession();
  const opened = useLive((_, s) => s.opened);
  if (!opened?.readOnly) return null;
  return (
    <ErrorLine error={w.readOnly(cleanText(opened.readOnly), opened.needsLeaf ? `scorel sessions repair ${sessionId} --leaf EVENT` : "")} />
  );
}

function Room({ panel, event }: { panel?: string | undefined; event?: EventID | undefined }) {
  const w = useWords(shellWords);
  const session = useSession();
  useNotices();
  const error = useLive((_, s) => s.error);
  const beside = useMedia("(min-width: 1200px)"); // otherwise a panel covers what is here
  const [shown, setShown] = useState(kept("panel") !== "hidden");
  const inUse = useInUse();
  const any = useLive((_, s) => s.projection.path.length > 0);
  const tree = panel === "tree";
  const open = !tree && !inUse && (panel !== undefined || (shown && beside));
  const show = (on: boolean) => {
    if (beside) {
      setShown(on);
      keep("panel", on ? "shown" : "hidden");
    }
    // What covers has an address of its own, so that Back closes it.
    if (on && !beside) go({ at: "session", id: session.sessionId, panel: "session" });
    else if (panel !== undefined) goBack({ at: "session", id: session.sessionId });
  };
  return (
    <>
      <main className="main">
        <header className="head">
          <IconButton className="back" of={ChevronLeft} name={w.back} onClick={() => go({ at: "home" })} />
          <Title />
          <HeaderState />
          <span className="grow" />
          <HeaderActions />
          {!inUse && <IconButton of={PanelRight} name={open ? w.hidePanel : w.showPanel} on={open} onClick={() => show(!open)} />}
        </header>
        {inUse && !any ? <div className="grow" /> : tree && !inUse ? <Tree /> : <Conversation event={event} />}
        <div className="dock">
          <div className="in">
            <Connection />
            <ErrorLine error={error} />
            <ReadOnly />
            {inUse ? (
              <InUse />
            ) : (
              <Questions>
                {/* What is written and attached stays while the tree is shown. */}
                <div hidden={tree}>
                  <Composer />
                </div>
              </Questions>
            )}
          </div>
        </div>
      </main>
      <AskedMove />
      {open && <SessionPanels open={panel} covers={!beside} onClose={() => show(false)} />}
    </>
  );
}
