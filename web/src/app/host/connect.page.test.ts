import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { picture, withoutPages, World } from "../testing/page";

describe.skipIf(withoutPages !== "")("a browser comes in", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start([{ script: 1 }, { again: true, do: [{ text: "Yes." }] }]);
  });
  afterAll(async () => world?.close());

  test("with a code, once; and later with its own key alone", async () => {
    const { code, addresses } = await world.host.request<{ code: string; addresses: string[] }>("create_pairing", {});
    const page = await world.stranger(`${addresses[0]}/#pair=${code}`);
    await page.locator(".app").waitFor();
    expect(page.url()).not.toContain(code);
    await page.reload();
    await page.locator(".app").waitFor();

    const second = await world.stranger(`${addresses[0]}/#pair=${code}`);
    await second.getByText("This code has been used already").waitFor();
    await picture(second, "entry-used-code");
    expect(await second.locator(".app").count()).toBe(0);
  });

  test("and is told when the first connection fails, and goes on with the next", async () => {
    const page = await world.page("#/new");
    let refused = true;
    await page.routeWebSocket(/\/v1\//, (ws) => {
      if (refused) ws.close();
      else ws.connectToServer();
    });
    await page.reload();
    await page.getByText("Not connected.").waitFor();
    await picture(page, "entry-not-connected");
    refused = false;
    await page.getByText("Not connected.").waitFor({ state: "detached" });
  });

  test("and is told what to do without one, and when it was sent away", async () => {
    const page = await world.stranger(world.url);
    await page.getByText("This browser is not known here yet.").waitFor();
    await picture(page, "entry-unknown");
    const sessionId = await world.session("Something secret");
    const known = await world.page(`#/s/${sessionId}`);
    await known.getByText("Yes.").first().waitFor();
    await known.goto(`${world.url}#/new`); // what is left is kept
    const keptSessions = () =>
      known.evaluate(async () => {
        const open = indexedDB.open("scorel-sessions");
        const db = await new Promise<IDBDatabase>((resolve, reject) => {
          open.onsuccess = () => resolve(open.result);
          open.onerror = () => reject(open.error);
        });
        const count = db.transaction("sessions").objectStore("sessions").count();
        const n = await new Promise<number>((resolve) => {
          count.onsuccess = () => resolve(count.result);
        });
        db.close();
        return n;
      });
    await expect.poll(keptSessions).toBeGreaterThan(0);
    // A page is drawn before it is connected, so who is online yet says nothing.
    const { entries } = await world.host.request<{ entries: { clientId: string }[] }>("list_entries", {});
    for (const e of entries) await world.host.request("revoke_entry", { clientId: e.clientId });
    await known.getByText("This browser is not known here yet.").waitFor();
    await expect.poll(keptSessions).toBe(0);
  });
});
