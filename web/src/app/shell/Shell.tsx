import { TriangleAlert, Unplug, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useClient, useStatus } from "../host/context";
import { Boundary } from "../parts/Boundary";
import { Button, Icon, IconButton, Tips } from "../parts/controls";
import { ErrorLine } from "../parts/ErrorLine";
import { dismiss, liveRegions, useTold } from "../parts/tell";
import { Notices } from "../notices/Notices";
import { Palette } from "../palette/Palette";
import { DevicePanel } from "../panels/DevicePanel";
import { Rail } from "../places/Rail";
import { useRoute } from "../route";
import { useWords } from "../words/index";
import { shellWords } from "./words";
import "./shell.css";
import { lazy } from "../parts/lazy";

const SessionRoom = lazy(
  () => import("./SessionRoom"),
  () => <main className="main" />,
);
const NewSession = lazy(
  () => import("../places/NewSession"),
  () => <main className="main" />,
);

/** The page of a browser that is in: the rail, and what the route names. */
export function Shell() {
  const w = useWords(shellWords);
  const route = useRoute();
  // "home" has the form of a new session, too: what is typed there stays.
  const room = route.at === "session" ? route.id : route.at === "panel" ? route.panel : "new";
  const politely = useRef<HTMLDivElement>(null);
  const urgently = useRef<HTMLDivElement>(null);
  useEffect(() => {
    liveRegions(politely.current, urgently.current);
    return () => liveRegions(null, null);
  }, []);
  return (
    <Tips>
      <a className="skip btn ink" href="#composer" onClick={(e) => focusComposer(e)}>
        {w.skip}
      </a>
      <div className="app" data-at={route.at}>
        <Rail />
        <Boundary key={room} instead={(e) => <Broken error={e} />}>
          {route.at === "session" ? (
            <SessionRoom key={route.id} id={route.id} panel={route.panel} event={route.event} />
          ) : route.at === "panel" ? (
            <DevicePanel id={route.panel} section={route.section} />
          ) : (
            <NewSession workDir={route.at === "new" ? route.workDir : undefined} />
          )}
        </Boundary>
      </div>
      <Palette />
      <Notices />
      <Tellings />
      <div ref={politely} className="sr" aria-live="polite" />
      <div ref={urgently} className="sr" aria-live="assertive" />
    </Tips>
  );
}

/** A part of the page that could not be drawn: the list beside it goes on. */
function Broken({ error }: { error: Error }) {
  const w = useWords(shellWords);
  return (
    <main className="main">
      <ErrorLine error={`${w.broken} ${error.message}`} action={w.reload} onAction={() => location.reload()} />
    </main>
  );
}

function focusComposer(e: { preventDefault(): void }): void {
  e.preventDefault();
  document.getElementById("composer")?.focus();
}

/** Above the composer: that there is no connection, or that the page is older than the host. */
export function Connection() {
  const w = useWords(shellWords);
  const client = useClient();
  const status = useStatus();
  const own = document.querySelector<HTMLMetaElement>("meta[name=scorel-version]")?.content ?? "";
  const version = status.connected?.version ?? "";
  // The first connection may fail, too; until then it is just on its way.
  if (status.state !== "connected" && (status.state !== "connecting" || status.error !== undefined)) {
    return (
      <div className="banner off" role="status">
        <Icon of={Unplug} />
        <span className="grow">
          <b>{w.offline}</b> {w.offlineAbout}
        </span>
        <Button small onClick={() => client.wake()}>
          {w.tryNow}
        </Button>
      </div>
    );
  }
  if (version && own && !own.startsWith("{") && version !== own) {
    return (
      <div className="banner warn" role="status">
        <Icon of={TriangleAlert} />
        <span className="grow">{w.updated(version)}</span>
        <Button small onClick={() => location.reload()}>
          {w.reload}
        </Button>
      </div>
    );
  }
  return null;
}

/** How long a line stands that nobody closes, points at or has the focus in, in milliseconds. */
const goodMs = 20_000;
const badMs = 60_000;

function Tellings() {
  const w = useWords(shellWords);
  const told = useTold();
  const [held, hold] = useState(false);
  useEffect(() => {
    if (held) return;
    const timers = told.map((t) => setTimeout(() => dismiss(t.id), t.bad ? badMs : goodMs));
    return () => timers.forEach(clearTimeout);
  }, [told, held]);
  if (told.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: there is nothing to operate: lines stay while somebody is at them
    <div
      className="told"
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocus={() => hold(true)}
      onBlur={() => hold(false)}
    >
      {told.map((t) => (
        <div key={t.id} className={t.bad ? "banner off" : "banner"} role={t.bad ? "alert" : "status"}>
          <span className="grow">{t.text}</span>
          <IconButton of={X} name={w.dismiss} small onClick={() => dismiss(t.id)} />
        </div>
      ))}
    </div>
  );
}
