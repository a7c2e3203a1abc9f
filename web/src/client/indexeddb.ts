import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { DeviceID, SessionID } from "../protocol/index";
import { type Cache, type CacheKey, keptOf, MemoryCache, maxCachedSessions } from "./cache";
import { type Problem, textOf } from "./errors";
import { type ClientKey, newKey } from "./handshake";
import type { Kept } from "./projection";

const cacheVersion = 1;

type Key = [string, string, string];

interface CacheSchema extends DBSchema {
  sessions: { key: Key; value: { key: Key; at: number; kept: Kept }; indexes: { at: number } };
}

interface KeySchema extends DBSchema {
  keys: { key: string; value: ClientKey };
}

/**
 * A cache in the browser's IndexedDB. Where that is not to be had (in a private window, or
 * because it is full), sessions are kept only as long as the page, and the person is told once.
 */
export class IndexedDBCache implements Cache {
  private db: Promise<IDBPDatabase<CacheSchema>> | undefined;
  private readonly memory = new MemoryCache();
  private told = false;

  constructor(
    private readonly problem: (p: Problem) => void,
    private readonly name = "scorel-sessions",
  ) {}

  get(key: CacheKey): Promise<Kept | undefined> {
    return this.with(
      async (db) => keptOf((await db.get("sessions", keyOf(key)))?.kept) ?? (await this.memory.get(key)),
      () => this.memory.get(key),
    );
  }

  put(key: CacheKey, kept: Kept): Promise<void> {
    const write = async (db: IDBPDatabase<CacheSchema>) => {
      const tx = db.transaction("sessions", "readwrite");
      await Promise.all([tx.store.put({ key: keyOf(key), at: Date.now(), kept }), trim(tx.store.index("at"), maxCachedSessions), tx.done]);
    };
    return this.with(
      async (db) => {
        try {
          await write(db);
        } catch (e) {
          if (!isQuota(e)) throw e;
          // Make room: half of what is kept goes, the oldest first.
          const tx = db.transaction("sessions", "readwrite");
          await trim(tx.store.index("at"), Math.floor((await tx.store.count()) / 2));
          await tx.done;
          await write(db);
        }
        await this.memory.remove(key.deviceId, key.sessionId);
      },
      () => this.memory.put(key, kept),
    );
  }

  async remove(deviceId: DeviceID, sessionId: SessionID): Promise<void> {
    await this.memory.remove(deviceId, sessionId);
    await this.removeWhere((k) => k[0] === deviceId && k[2] === sessionId);
  }

  async clear(deviceId?: DeviceID): Promise<void> {
    await this.memory.clear(deviceId);
    await this.removeWhere((k) => deviceId === undefined || k[0] === deviceId);
  }

  async close(): Promise<void> {
    (await this.db?.catch(() => undefined))?.close();
    this.db = undefined;
  }

  private removeWhere(match: (k: Key) => boolean): Promise<void> {
    return this.with(
      async (db) => {
        const tx = db.transaction("sessions", "readwrite");
        const keys = (await tx.store.getAllKeys()).filter(match);
        await Promise.all([...keys.map((k) => tx.store.delete(k)), tx.done]);
      },
      async () => {},
    );
  }

  /** Works on the database, or without it. */
  private async with<T>(work: (db: IDBPDatabase<CacheSchema>) => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    try {
      this.db ??= openDB<CacheSchema>(this.name, cacheVersion, {
        upgrade(db) {
          db.createObjectStore("sessions", { keyPath: "key" }).createIndex("at", "at");
        },
        blocking: (_from, _to, e) => (e.target as IDBDatabase | null)?.close(), // a newer page wants another version
        terminated: () => {
          this.db = undefined;
        },
      });
      return await work(await this.db);
    } catch (error) {
      this.db?.catch(() => {
        this.db = undefined; // the next one tries again
      });
      this.tell(error);
      return otherwise();
    }
  }

  private tell(error: unknown): void {
    if (this.told) return;
    this.told = true;
    const message = isQuota(error)
      ? "The browser has no room to keep sessions: they are read from the host each time. Free some space, or remove data of other sites."
      : `The browser does not keep sessions here (${textOf(error)}): they are read from the host each time.`;
    this.problem({ what: "cache", message, error });
  }
}

/** Removes the oldest entries that are too many. */
async function trim(
  index: { openCursor(): Promise<Cursor | null>; objectStore?: unknown; count(): Promise<number> },
  max: number,
): Promise<void> {
  let n = (await index.count()) - max;
  for (let c = await index.openCursor(); c && n > 0; n--, c = await c.continue()) await c.delete();
}

interface Cursor {
  delete(): Promise<void>;
  continue(): Promise<Cursor | null>;
}

function isQuota(e: unknown): boolean {
  return e instanceof Error && (e.name === "QuotaExceededError" || (e.name === "AbortError" && /quota/i.test(e.message)));
}

function keyOf(key: CacheKey): Key {
  return [key.deviceId, key.projectId, key.sessionId];
}

/**
 * This browser's own key: made once, and kept so that no script can read its private half. It
 * throws where the browser keeps nothing; such a page comes in with a key of newKey, for as long
 * as it is open.
 */
export async function browserKey(name = "scorel-key"): Promise<ClientKey> {
  const db = await openDB<KeySchema>(name, 1, {
    upgrade(d) {
      d.createObjectStore("keys");
    },
  });
  try {
    const known = await db.get("keys", "own");
    if (known) return known;
    const made = await newKey();
    const tx = db.transaction("keys", "readwrite");
    const other = await tx.store.get("own"); // of a second tab that was faster
    if (!other) await tx.store.put(made, "own");
    await tx.done;
    return other ?? made;
  } finally {
    db.close();
  }
}
