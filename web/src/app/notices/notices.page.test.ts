import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newSessionID } from "../../client/index";
import type { Sent } from "../../protocol/index";
import { accessible, picture, problems, withoutPages, World } from "../testing/page";

if (withoutPages !== "") console.log(withoutPages);

/** Runs in the page: what the browser shows. */
async function shown(): Promise<{ tag: string; title: string; body: string }[]> {
  const registration = await navigator.serviceWorker.ready;
  return (await registration.getNotifications()).map((n) => ({ tag: n.tag, title: n.title, body: n.body }));
}

const until = (page: Page) => expect.poll(() => page.evaluate(shown));

describe.skipIf(withoutPages !== "")("notifications", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(
      [
        { script: 1 },
        { if: { user: "touch" }, again: true, do: [{ call: "Bash", input: { command: "touch done" } }] },
        { again: true, do: [{ text: "Done." }] },
      ],
      { browser: "whole" },
    );
  });
  afterAll(async () => world?.close());
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });

  test("are off until somebody switches them on, and say why they cannot be", async () => {
    const page = await world.page("#/p/settings/looks");
    await page.context().clearPermissions();
    const setting = page.getByLabel("Notifications");
    expect(await setting.inputValue()).toBe("off");
    await setting.selectOption("on");
    await page.getByText("The browser does not let this page show notifications.").waitFor();
    expect(await setting.inputValue()).toBe("off");
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
    await picture(page, "notices-refused");
    await accessible(page);
  });

  test("say which session waits while nobody looks, lead to it, and go when it waits no longer", async () => {
    const page = await world.page("#/p/settings/looks");
    await page.context().grantPermissions(["notifications"]);
    await page.getByLabel("Notifications").selectOption("on");
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await world.session("touch it while I look");
    await page.getByRole("link", { name: /touch it while I look/ }).waitFor();
    await page.getByText("Waiting for you").first().waitFor();
    expect(await page.evaluate(shown)).toEqual([]);
    await page.evaluate(() => {
      document.hasFocus = () => false;
    });
    const sessionId = await world.session("touch it please");
    await until(page).toEqual([{ tag: sessionId, title: "touch it please", body: "Asks for Bash: touch done" }]);
    const [worker] = page.context().serviceWorkers();
    await worker?.evaluate(async () => {
      type Scope = { registration: ServiceWorkerRegistration; dispatchEvent(e: Event): void };
      const scope = self as unknown as Scope;
      const [notification] = await scope.registration.getNotifications();
      const Click = (globalThis as unknown as { NotificationEvent: new (t: string, i: object) => Event }).NotificationEvent;
      scope.dispatchEvent(new Click("notificationclick", { notification }));
    });
    await page.waitForURL(`**/#/s/${sessionId}`);
    const again = newSessionID();
    await world.host.request("create_session", { meta: { workDir: world.host.work } }, again);
    const { turnId } = await world.host.request<Sent>("send_message", { content: [{ type: "text", text: "touch it again" }] }, again);
    await until(page).toMatchObject([{ tag: again }]);
    await world.host.request("cancel", { turnId }, again);
    await until(page).toEqual([]);
    await world.session("touch it a last time");
    await until(page).toHaveLength(1);
    await page.goto(`${world.url}#/p/settings/looks`);
    await page.getByLabel("Notifications").selectOption("off");
    await until(page).toEqual([]);
    await picture(page, "notices-on");
  });
});
