import { Clock, Gauge, Plus, QrCode, Search, Settings } from "lucide-react";
import { useStatus } from "../host/context";
import { Icon, IconButton } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { Mark } from "../parts/Mark";
import { openPalette } from "../palette/Palette";
import { go, hrefOf, useRoute } from "../route";
import { shellWords } from "../shell/words";
import { ago } from "../words/format";
import { useWords } from "../words/index";
import { titleOf, useSessions } from "./sessions";
import { placesWords } from "./words";
import "./places.css";

/** The list on the left: what waits for an answer, then the sessions. On a phone it is the first page. */
export function Rail() {
  const w = useWords(placesWords);
  const shell = useWords(shellWords);
  const route = useRoute();
  const status = useStatus();
  const { list, error } = useSessions();
  const current = route.at === "session" ? route.id : "";
  return (
    <nav className="rail" aria-label={shell.rail}>
      <div className="brand">
        <Mark />
        <b>Scorel</b>
        <span className="grow" />
        <IconButton of={Plus} name={w.newSession} onClick={() => go({ at: "new" })} />
      </div>
      <p className="device">
        <span className={status.state === "connected" ? "health" : "health off"} />
        <span className="grow t3">{status.state === "connected" ? location.host : shell.connecting}</span>
      </p>
      <button type="button" className="find" onClick={() => openPalette()}>
        <Icon of={Search} small />
        <span>{w.find}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div className="list">
        <ErrorLine error={error} />
        {list.length === 0 && <p className="empty">{w.none}</p>}
        <ul>
          {list.map((s) => (
            <li key={s.sessionId}>
              <a
                className={s.sessionId === current ? "sess cur" : "sess"}
                href={hrefOf({ at: "session", id: s.sessionId })}
                aria-current={s.sessionId === current ? "page" : undefined}
              >
                <span className={s.state?.asking ? "note wait" : s.state?.running ? "note live" : "note"} />
                <span className="name">{titleOf(s) || w.untitled}</span>
                {s.state?.asking ? <span className="asks">{w.asks}</span> : <time className="when">{ago(s.updatedAt)}</time>}
              </a>
            </li>
          ))}
        </ul>
      </div>
      <div className="railfoot">
        <IconButton of={Clock} name={w.schedules} onClick={() => go({ at: "panel", panel: "schedules" })} />
        <IconButton of={Gauge} name={w.usage} onClick={() => go({ at: "panel", panel: "usage" })} />
        <IconButton of={QrCode} name={w.devices} onClick={() => go({ at: "panel", panel: "clients" })} />
        <IconButton of={Settings} name={w.settings} onClick={() => go({ at: "panel", panel: "settings" })} />
      </div>
    </nav>
  );
}
