import { ChevronsUpDown, Clock, Gauge, type LucideIcon, MonitorSmartphone, Plus, QrCode, RefreshCw, Search, Settings } from "lucide-react";
import { useClient, useStatus } from "../host/context";
import { Button, Divider, Icon, IconButton, Menu, MenuItem } from "../parts/controls";
import { Mark } from "../parts/Mark";
import { openPalette } from "../palette/Palette";
import { panels } from "../panels/index";
import { go, useRoute } from "../route";
import { shellWords } from "../shell/words";
import { useLanguage, useWords } from "../words/index";
import { useLatency, usePhone } from "./hooks";
import { SessionList } from "./SessionList";
import { usePlaces } from "./store";
import { placesWords } from "./words";
import "./places.css";

/** Panels of the device that have a button of their own, with their icons. */
const shortcuts: readonly [id: string, icon: LucideIcon][] = [
  ["schedules", Clock],
  ["usage", Gauge],
  ["clients", QrCode],
  ["settings", Settings],
];

function usePanels(): { id: string; icon: LucideIcon; name: string }[] {
  const language = useLanguage();
  return shortcuts.flatMap(([id, icon]) => {
    const panel = panels.find((p) => p.id === id && p.place === "device");
    return panel ? [{ id, icon, name: panel.title[language] }] : [];
  });
}

/** The list on the left: what waits for an answer, then the projects with their sessions. On a phone it is the first page. */
export function Rail() {
  const shell = useWords(shellWords);
  const route = useRoute();
  const phone = usePhone();
  const current = route.at === "session" ? route.id : "";
  return (
    <nav className="rail" aria-label={shell.rail}>
      {phone ? <PhoneHead /> : <DeskHead />}
      <SessionList phone={phone} current={current} />
      {phone ? <PhoneFoot /> : <DeskFoot />}
    </nav>
  );
}

/** What people call the host: its name in the address; this machine by that. */
function useDeviceName(): string {
  const w = useWords(placesWords);
  return /^(localhost|127\.|\[?::1)/.test(location.hostname) ? w.thisMachine : location.hostname;
}

function DeskHead() {
  const w = useWords(placesWords);
  return (
    <>
      <div className="brand">
        <Mark />
        <b>Scorel</b>
        <span className="grow" />
        <IconButton of={Plus} name={w.newSession} keys="N" onClick={() => go({ at: "new" })} />
      </div>
      <DeviceMenu />
      <button type="button" className="find" onClick={() => openPalette()}>
        <Icon of={Search} small />
        <span>{w.find}</span>
        <kbd>Ctrl K</kbd>
      </button>
    </>
  );
}

/** The device, how it is reached, and what can be done about that. */
function DeviceMenu() {
  const w = useWords(placesWords);
  const client = useClient();
  const status = useStatus();
  const name = useDeviceName();
  const ms = useLatency();
  const connected = status.state === "connected";
  const clients = usePanels().find((p) => p.id === "clients");
  return (
    <Menu
      label={w.deviceMenu}
      trigger={
        <button type="button" className="device">
          <span className={connected ? "health" : "health off"} />
          <b className="trunc">{name}</b>
          <span className="grow t3">
            {connected ? <span className="sr">{w.connected}</span> : w.notConnected} {ms !== undefined && w.ms(ms)}
          </span>
          <Icon of={ChevronsUpDown} small />
        </button>
      }
    >
      <MenuItem of={RefreshCw} onSelect={() => client.wake()}>
        {w.checkConnection}
      </MenuItem>
      {clients && (
        <MenuItem of={QrCode} onSelect={() => go({ at: "panel", panel: "clients" })}>
          {clients.name}
        </MenuItem>
      )}
      {status.connected && (
        <>
          <Divider />
          <p className="about t3">
            {w.version(status.connected.version)}
            <br />
            {location.host}
          </p>
        </>
      )}
    </Menu>
  );
}

function DeskFoot() {
  const all = usePanels();
  if (all.length === 0) return null;
  return (
    <div className="railfoot">
      {all.map((p) => (
        <IconButton key={p.id} of={p.icon} name={p.name} onClick={() => go({ at: "panel", panel: p.id })} />
      ))}
    </div>
  );
}

function PhoneHead() {
  const w = useWords(placesWords);
  const status = useStatus();
  const { projects } = usePlaces();
  const connected = status.state === "connected";
  return (
    <header className="pbar">
      <Mark className="mark pm" />
      <div className="ttl">
        <b>{useDeviceName()}</b>
        <span>
          <span className={connected ? "health" : "health off"} />
          {connected ? w.connectedProjects(projects.length) : w.notConnected}
        </span>
      </div>
      {usePanels().map((p) => (
        <IconButton
          key={p.id}
          of={p.id === "clients" ? MonitorSmartphone : p.icon}
          name={p.name}
          onClick={() => go({ at: "panel", panel: p.id })}
        />
      ))}
    </header>
  );
}

function PhoneFoot() {
  const w = useWords(placesWords);
  return (
    <div className="pfoot">
      <button type="button" className="find" aria-label={w.find} onClick={() => openPalette()}>
        <Icon of={Search} />
        <span>{w.findShort}</span>
      </button>
      <Button look="ink" aria-label={w.newSession} onClick={() => go({ at: "new" })}>
        <Icon of={Plus} />
        {w.newShort}
      </Button>
    </div>
  );
}
