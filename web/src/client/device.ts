import type { ClientInfo, Frame, Grant, HostStopping, SessionChanged, SessionID, UIFrame } from "../protocol/index";

/** What is kept of a device's changes until somebody is told: sessions, clients and sessions with MCP servers, each. */
const maxChanges = 256;
/** Components of which the newest frame is kept. */
const maxFrames = 64;

/** A client that has come, or has gone. */
export interface ClientChange extends ClientInfo {
  left: boolean;
}

/** What has changed on the host's device since the last time: of each session the newest summary. */
export interface DeviceChanges {
  sessions: SessionChanged[];
  clients: ClientChange[];
  /** The list of projects has changed. */
  projects: boolean;
  /** Schedules or runs have changed. */
  automation: boolean;
  /** The clients that have a key of their own have changed; only a client with control is told. */
  entries: boolean;
  /** What this client may do from now on, when that has changed. */
  grant?: Grant;
  /** The sessions whose MCP servers have changed. */
  mcp: SessionID[];
  /** The host ends. */
  stopping?: HostStopping;
  /** The newest of what extensions draw for this connection, one of each component. */
  frames: UIFrame[];
  /** There was more: the connection was gone for a while, or too much has changed. Ask for the lists again. */
  missed: boolean;
}

/** Gathers changes until they are taken. */
export class DeviceNews {
  private changes = none();
  private any = false;
  private before = false;

  /** Begins again with a connection: nothing was told in between. It reports whether something was missed. */
  connected(): boolean {
    const again = this.before;
    this.before = true;
    if (again) this.miss();
    return again;
  }

  /** All that has changed since the last call, undefined when nothing has. */
  take(): DeviceChanges | undefined {
    if (!this.any) return undefined;
    const changes = this.changes;
    this.changes = none();
    this.any = false;
    return changes;
  }

  /** Notes a frame; false is one that says nothing of the device. */
  note(f: Frame): boolean {
    const c = this.changes;
    switch (f.type) {
      case "session_changed":
        replace(c.sessions, f, (o) => o.summary.sessionId === f.summary.sessionId);
        break;
      case "projects_changed":
        c.projects = true;
        break;
      case "automation_changed":
        c.automation = true;
        break;
      case "entries_changed":
        c.entries = true;
        break;
      case "grant_changed":
        c.grant = f.grant;
        break;
      case "mcp_changed":
        if (!c.mcp.includes(f.sessionId)) c.mcp.push(f.sessionId);
        break;
      case "client_joined":
      case "client_left": {
        const { type, ...client } = f;
        c.clients.push({ ...client, left: type === "client_left" });
        break;
      }
      case "host_stopping":
        c.stopping = f;
        break;
      case "ui_frame":
        replace(c.frames, f, (o) => o.uiId === f.uiId && o.sessionId === f.sessionId);
        if (c.frames.length > maxFrames) c.frames.shift();
        break;
      default:
        return false;
    }
    this.any = true;
    if (Math.max(c.sessions.length, c.clients.length, c.mcp.length) > maxChanges) this.miss();
    return true;
  }

  private miss(): void {
    const { frames, grant } = this.changes;
    this.changes = { ...none(), frames, ...(grant && { grant }), missed: true };
    this.any = true;
  }
}

function none(): DeviceChanges {
  return { sessions: [], clients: [], projects: false, automation: false, entries: false, mcp: [], frames: [], missed: false };
}

function replace<T>(list: T[], item: T, same: (o: T) => boolean): void {
  const i = list.findIndex(same);
  if (i >= 0) list[i] = item;
  else list.push(item);
}
