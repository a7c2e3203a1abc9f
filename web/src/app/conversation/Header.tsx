import { useLive } from "../host/context";
import { useWords } from "../words/index";
import { conversationWords } from "./words";

/** How the session stands, beside its title. */
export function HeaderState() {
  const w = useWords(conversationWords);
  const waits = useLive((l) => (l.permissions?.length ?? 0) + (l.ui?.length ?? 0) > 0);
  const running = useLive((l) => l.running);
  const workDir = useLive((l) => l.meta.workDir ?? "");
  return (
    <>
      <span className="crumb">{workDir.split("/").at(-1)}</span>
      {(waits || running) && (
        <span className="live">
          <span className={waits ? "note wait" : "note live"} />
          {waits ? w.waits : w.working}
        </span>
      )}
    </>
  );
}

/** What can be done with the session as a whole. */
export function HeaderActions() {
  return null;
}
