import type { Anchors, DeviceID, Epoch, Frame, Live, PersistentEvent, Resync, SessionEvent } from "../protocol/index";
import { isTransient } from "./fold";

/**
 * What a subscription brings: events in the order of seq, each once, or (with live) the state
 * that replaces all that was running before. resync says that the subscription was begun again
 * before this update: with stream_resume what the caller holds stays and nothing was missed, with
 * persistent_fallback its running messages and tools are void, with full_reload all of it.
 */
export interface Update {
  resync?: Resync;
  events: SessionEvent[];
  live?: Live;
}

/** What came of a frame: an update, nothing, or that the host has left out what the caller lacks. */
export type Taken = Update | undefined | "gap";

/** Where the reader of a subscription stands, and what follows from that for the frames that come. */
export class Replay {
  private at: Anchors = noAnchors("" as DeviceID);
  /** A resync frame has come: what came before belongs to an earlier subscription. */
  private begun = false;
  private resync: Resync | undefined; // the one that no update has told of yet
  private partial = false; // catching up from where the caller stood, which leaves nothing out
  private ignoring = false;
  /** Events come as they happen, transient ones too. */
  streaming = false;

  /** Begins again on a connection to a device. */
  begin(device: DeviceID): void {
    this.begun = this.ignoring = this.streaming = false;
    this.resync = undefined;
    if (this.at.deviceId === "") this.at.deviceId = device;
  }

  /** Takes nothing more until it begins again; with forget it holds nothing then. */
  stop(forget = false): void {
    this.ignoring = true;
    this.streaming = false;
    if (forget) this.at = noAnchors("" as DeviceID);
  }

  /** Where the caller is, undefined when it holds nothing. */
  anchors(): Anchors | undefined {
    if (this.at.streamEpoch === "" && this.at.persistentLastSeq === 0) return undefined;
    return { ...this.at };
  }

  /** Goes on from what was kept of an earlier visit. */
  restore(at: Anchors): void {
    this.at = { ...at };
  }

  take(f: Frame): Taken {
    if (this.ignoring) return undefined;
    if (f.type === "resync") {
      // It counts with what follows: one that nothing follows belongs to a subscription that
      // has ended before it began.
      this.begun = true;
      this.resync = f.mode;
      return undefined;
    }
    if (!this.begun || (f.type !== "events" && f.type !== "live")) return undefined;
    const u: Update = { events: [] };
    if (this.resync !== undefined) {
      u.resync = this.resync;
      this.resync = undefined;
      this.restart(u.resync);
    }
    if (f.type === "events") {
      u.events = this.unseen(f.events ?? []);
      return u.events.length > 0 || u.resync !== undefined ? u : undefined;
    }
    if (this.partial && f.live.persistentLastSeq > this.at.persistentLastSeq) return "gap";
    u.live = f.live;
    this.at = anchorsOf(f.live);
    this.partial = false;
    this.streaming = true;
    return u;
  }

  /** Voids what the way of catching up voids. */
  private restart(mode: Resync): void {
    this.partial = true;
    this.streaming = mode === "stream_resume";
    if (mode === "stream_resume") return;
    if (mode === "persistent_fallback") {
      this.at.streamEpoch = "" as Epoch;
      this.at.streamLastSeq = 0;
      return;
    }
    this.at = noAnchors(this.at.deviceId);
    this.partial = false;
  }

  /** Those of the events that the caller was not given yet. Transient ones count only in the stream. */
  private unseen(events: SessionEvent[]): SessionEvent[] {
    const { at } = this;
    return events.filter((e) => {
      const transient = isTransient(e);
      if (transient ? !this.streaming || e.seq <= at.streamLastSeq : e.seq <= at.persistentLastSeq) return false;
      if (!transient) {
        at.persistentLastSeq = e.seq;
        at.persistentLastId = (e as PersistentEvent).id;
      }
      if (this.streaming) at.streamLastSeq = e.seq;
      return true;
    });
  }
}

/** Where a state is in its session. */
export function anchorsOf(l: Live): Anchors {
  const at: Anchors = {
    deviceId: l.deviceId,
    streamEpoch: l.streamEpoch,
    streamLastSeq: l.throughSeq,
    persistentLastSeq: l.persistentLastSeq,
  };
  if (l.persistentLastId) at.persistentLastId = l.persistentLastId;
  return at;
}

function noAnchors(deviceId: DeviceID): Anchors {
  return { deviceId, streamEpoch: "" as Epoch, streamLastSeq: 0, persistentLastSeq: 0 };
}
