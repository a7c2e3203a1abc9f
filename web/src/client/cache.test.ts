import "fake-indexeddb/auto";
import { IDBObjectStore } from "fake-indexeddb";
import { describe, expect, test } from "vitest";
import type { PersistentEvent } from "../protocol/index";
import { type Cache, type CacheKey, MemoryCache, maxCachedSessions } from "./cache";
import type { Problem } from "./errors";
import { emptyLive } from "./fold";
import { IndexedDBCache } from "./indexeddb";
import type { Kept } from "./projection";

const key = (session: string, device = "dev_1"): CacheKey => ({ deviceId: device, projectId: "prj_1", sessionId: session }) as CacheKey;

function kept(text: string): Kept {
  const e = {
    type: "message",
    id: "evt_1",
    parentId: null,
    seq: 1,
    sessionId: "s",
    clientId: "host",
    ts: 1,
    message: { role: "user", content: text },
  };
  const live = { ...emptyLive(), throughSeq: 1, persistentLastSeq: 1, persistentLastId: "evt_1", leafId: "evt_1" };
  return { live, path: [e as unknown as PersistentEvent], complete: true } as unknown as Kept;
}

let databases = 0;
function database() {
  const problems: Problem[] = [];
  return { problems, cache: new IndexedDBCache((p) => problems.push(p), `test-${databases++}`) };
}

describe.each([
  ["in memory", () => new MemoryCache() as Cache],
  ["in IndexedDB", () => database().cache as Cache],
])("a cache %s", (_, make) => {
  test("returns what was put, by device, project and session", async () => {
    const cache = make();
    expect(await cache.get(key("a"))).toBeUndefined();
    await cache.put(key("a"), kept("one"));
    await cache.put(key("a"), kept("two"));
    await cache.put(key("a", "dev_2"), kept("other"));
    expect(await cache.get(key("a"))).toEqual(kept("two"));
    expect(await cache.get({ ...key("a"), projectId: "prj_2" as CacheKey["projectId"] })).toBeUndefined();
    await cache.remove(key("a").deviceId, key("a").sessionId);
    expect(await cache.get(key("a"))).toBeUndefined();
    expect(await cache.get(key("a", "dev_2"))).toEqual(kept("other"));
    await cache.clear(key("a", "dev_2").deviceId);
    expect(await cache.get(key("a", "dev_2"))).toBeUndefined();
  });

  test("keeps the newest sessions up to its bound", async () => {
    const cache = make();
    for (let i = 0; i <= maxCachedSessions; i++) {
      await cache.put(key(`s${i}`), kept(String(i)));
      await new Promise((r) => setTimeout(r, 1)); // the next millisecond
    }
    expect(await cache.get(key("s0"))).toBeUndefined();
    expect(await cache.get(key("s1"))).toBeDefined();
    expect(await cache.get(key(`s${maxCachedSessions}`))).toBeDefined();
  });

  test("returns nothing for what has another form, or a path with a gap", async () => {
    const cache = make();
    await cache.put(key("a"), { path: "x" } as unknown as Kept);
    expect(await cache.get(key("a"))).toBeUndefined();
    const gap = kept("one");
    gap.path.push({ ...(gap.path[0] as PersistentEvent), id: "evt_3", parentId: "evt_2" } as PersistentEvent);
    await cache.put(key("a"), gap);
    expect(await cache.get(key("a"))).toBeUndefined();
  });
});

describe("a cache in IndexedDB", () => {
  /** Has the browser refuse what is written while it is full. */
  async function whileFull(full: () => boolean, work: () => Promise<void>): Promise<void> {
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...args) {
      if (full()) throw new DOMException("no room", "QuotaExceededError");
      return put.apply(this, args);
    };
    try {
      await work();
    } finally {
      IDBObjectStore.prototype.put = put;
    }
  }

  test("that is full makes room", async () => {
    const { cache, problems } = database();
    for (const s of ["a", "b", "c", "d"]) await cache.put(key(s), kept(s));
    let refusals = 1;
    await whileFull(
      () => refusals-- > 0,
      () => cache.put(key("e"), kept("e")),
    );
    expect(await cache.get(key("e"))).toEqual(kept("e"));
    expect(await cache.get(key("a"))).toBeUndefined();
    expect(problems).toEqual([]);
  });

  test("that stays full keeps sessions as long as the page, and says so once", async () => {
    const { cache, problems } = database();
    await whileFull(
      () => true,
      async () => {
        await cache.put(key("a"), kept("a"));
        await cache.put(key("b"), kept("b"));
        expect(await cache.get(key("a"))).toEqual(kept("a"));
      },
    );
    expect(problems).toMatchObject([{ what: "cache", message: expect.stringContaining("no room") }]);
  });

  test("that the browser does not have keeps sessions as long as the page, and says so once", async () => {
    const open = indexedDB.open;
    indexedDB.open = () => {
      throw new DOMException("not in a private window", "SecurityError");
    };
    try {
      const { cache, problems } = database();
      await cache.put(key("a"), kept("a"));
      expect(await cache.get(key("a"))).toEqual(kept("a"));
      expect(problems).toMatchObject([{ what: "cache", message: expect.stringContaining("private window") }]);
    } finally {
      indexedDB.open = open;
    }
  });
});
