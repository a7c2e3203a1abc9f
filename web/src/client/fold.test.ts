import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Live, SessionEvent } from "../protocol/index";
import { applyEvent, emptyLive } from "./fold";

const cases = JSON.parse(readFileSync(new URL("testdata/fold.json", import.meta.url), "utf8")) as {
  name: string;
  events: SessionEvent[];
  live: Live;
}[];

describe("events fold to the state that they fold to in Go", () => {
  test.each(cases.map((c) => [c.name, c] as const))("%s", (_, c) => {
    const live = emptyLive();
    for (const e of c.events) applyEvent(live, e);
    expect(JSON.parse(JSON.stringify(live))).toEqual(c.live);
    for (const e of c.events) applyEvent(live, e); // those that are not newer change nothing
    expect(JSON.parse(JSON.stringify(live))).toEqual(c.live);
  });
});
