import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DeviceID, Frame, GetPath, PersistentEvent } from "../protocol/index";
import { Projection } from "./projection";
import { Replay } from "./replay";

const folder = new URL("../../../client/testdata/", import.meta.url);
const device = "dev_sim" as DeviceID;

/** Plays a trace that the Go client has recorded to a client that knows nothing else. */
function play(text: string): number {
  const window = Number(/\(window (\d+)\)/.exec(text)?.[1]);
  const replay = new Replay();
  const p = new Projection(window);
  replay.begin(device);
  let asked: GetPath | undefined;
  let screens = 0;
  const lines = text
    .slice(text.indexOf("-- trace --\n") + 12)
    .trim()
    .split("\n");
  for (const [i, line] of lines.entries()) {
    const at = `line ${i + 1}`;
    const mark = line[0];
    if (mark === "x") {
      replay.begin(device);
      continue;
    }
    const m = JSON.parse(line.slice(2));
    if (mark === "=") {
      screens++;
      expect(p.screen(), at).toEqual(m);
    } else if (mark === ">" && m.type === "open_session") {
      expect(replay.anchors(), at).toEqual(m.anchors);
    } else if (mark === ">") {
      asked = p.missing();
      const { type: _t, requestId: _r, sessionId: _s, ...want } = m;
      expect(asked, at).toEqual(want);
    } else if (m.type === "response") {
      expect(p.fill(asked as GetPath, m.data as { events: PersistentEvent[] }), at).toBe(true);
    } else {
      const u = replay.take(m as Frame);
      expect(u, at).not.toBe("gap");
      if (u && u !== "gap") p.apply(u);
    }
  }
  return screens;
}

describe("a trace that the Go client has recorded shows the same here", () => {
  const names = readdirSync(folder).filter((n) => n.endsWith(".txtar"));
  test("there are traces", () => expect(names.length).toBeGreaterThanOrEqual(6));
  test.each(names)("%s", (name) => {
    expect(play(readFileSync(new URL(name, folder), "utf8"))).toBeGreaterThan(0);
  });
});
