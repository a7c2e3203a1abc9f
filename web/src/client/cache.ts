import type { DeviceID, ProjectID, SessionID } from "../protocol/index";
import type { Kept } from "./projection";

/** Sessions that a cache keeps; the one that was written longest ago goes first. */
export const maxCachedSessions = 50;

export interface CacheKey {
  deviceId: DeviceID;
  projectId: ProjectID;
  sessionId: SessionID;
}

/** Where sessions are kept between two visits. What is in it may be gone at any time. */
export interface Cache {
  get(key: CacheKey): Promise<Kept | undefined>;
  put(key: CacheKey, kept: Kept): Promise<void>;
  /** Forgets a session. */
  remove(deviceId: DeviceID, sessionId: SessionID): Promise<void>;
  /** Forgets a device, or everything. */
  clear(deviceId?: DeviceID): Promise<void>;
}

/** A cache that ends with the program: for tests, and where a browser keeps nothing. */
export class MemoryCache implements Cache {
  private readonly entries = new Map<string, { key: CacheKey; text: string }>();

  async get(key: CacheKey): Promise<Kept | undefined> {
    const text = this.entries.get(keyOf(key))?.text;
    return text === undefined ? undefined : keptOf(JSON.parse(text));
  }

  async put(key: CacheKey, kept: Kept): Promise<void> {
    this.entries.delete(keyOf(key)); // so that it is the newest
    this.entries.set(keyOf(key), { key, text: JSON.stringify(kept) });
    for (const old of this.entries.keys()) {
      if (this.entries.size <= maxCachedSessions) break;
      this.entries.delete(old);
    }
  }

  async remove(deviceId: DeviceID, sessionId: SessionID): Promise<void> {
    for (const [text, { key }] of this.entries) {
      if (key.deviceId === deviceId && key.sessionId === sessionId) this.entries.delete(text);
    }
  }

  async clear(deviceId?: DeviceID): Promise<void> {
    for (const [text, { key }] of this.entries) {
      if (deviceId === undefined || key.deviceId === deviceId) this.entries.delete(text);
    }
  }
}

function keyOf(key: CacheKey): string {
  return JSON.stringify([key.deviceId, key.projectId, key.sessionId]);
}

/** What was kept, undefined when it is not what this version keeps. */
export function keptOf(v: unknown): Kept | undefined {
  const k = v as Partial<Kept> | null | undefined;
  if (typeof k !== "object" || k === null || !Array.isArray(k.path) || typeof k.complete !== "boolean") return undefined;
  if (typeof k.live?.persistentLastSeq !== "number" || typeof k.live.throughSeq !== "number") return undefined;
  const whole = k.path.every((e, i) => typeof e.id === "string" && (i === 0 || e.parentId === k.path?.[i - 1]?.id));
  return whole && (k.path.length === 0 || k.path.at(-1)?.id === k.live.leafId) ? (k as Kept) : undefined;
}
