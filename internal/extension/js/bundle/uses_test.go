package bundle

import (
	"fmt"
	"strings"
	"testing"
)

func TestUsesNameTheAPIWithItsPlaces(t *testing.T) {
	dir := t.TempDir()
	entry := write(t, dir, "x.ts", `import { type Api, matchesKey, Text } from "@earendil-works/pi-tui";
import { watch } from "node:fs"; import * as all from "fs"; import one from "fs";
import { help } from "./lib/help"; import { taken } from "./lib/taken";

export default function (api: Api) {
  api.on("user_bash", async (event, c) => {
    c.ui.custom(() => new Text("x"));
    c.reload?.();
  });
  api.registerTool({
    name: "t",
    execute: async (id, input, signal, update, context) => context.sessionManager.getTree(),
    renderCall: () => matchesKey("x"),
  });
  api.nothing(); watch("x"); help(api); taken(api);
  all.watchFile("x"); one.unwatchFile("x");
}
`)
	write(t, dir, "lib/taken.ts", `import { createBashTool, createCodingTools } from "@mariozechner/pi-coding-agent";
const kept = { spawnHook: (c: any) => c };
export function taken(pi: any) {
  pi.registerTool(createBashTool("/", kept));
  createCodingTools("/", { read: { operations: {} }, cwd: "x" });
  pi.registerProvider("mine", { baseUrl: "x", streamSimple() {} });
  pi.registerCommand("c", { handler: async (args: string, { newSession, ui: { custom } }: any) => [newSession, custom] });
  pi.on("input", async (e: any, ctx: any) => {
    const { fork, ui } = ctx;
    const { setHeader: header } = ctx.ui;
    let reload; ({ reload } = ctx);
    ctx.ui.custom((screen: any) => screen.showOverlay());
    return [fork, header, reload, ui.setFooter()];
  });
  class Kept { tui: any; constructor(tui: any) { this.tui = tui; } stop() { this.tui.stop(); } }
  new Kept(pi);
  const unrelated = { ui: 1, newThing: 2 };
  const { newThing } = unrelated;
  return newThing;
}
`)
	write(t, dir, "lib/help.ts", `export class Kept { ctx: any; show() { this.ctx.ui.setFooter(); } }
export const help = (other: any) => { new Kept().show(); other.registerCommand("c", { handler: async (args: string, k: any) => k.fork() }); };
`)
	b, err := Make(Options{Entry: entry, Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	found, err := Uses(b, dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, u := range found {
		all = append(all, fmt.Sprintf("%s %s %s", u.Place, u.Of, u.Name))
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"x.ts:6 event user_bash", "x.ts:7 ctx.ui custom", "x.ts:7 @mariozechner/pi-tui Text", "x.ts:8 ctx reload", "x.ts:12 ctx.sessionManager getTree",
		"x.ts:13 tool renderCall", "x.ts:13 @mariozechner/pi-tui matchesKey", "x.ts:15 api nothing", "x.ts:15 fs watch", "x.ts:16 fs watchFile", "x.ts:16 fs unwatchFile", "lib/help.ts:1 ctx.ui setFooter", "lib/help.ts:2 ctx fork",
		"lib/taken.ts:2 option createBashTool.spawnHook", "lib/taken.ts:5 option createCodingTools.operations", "lib/taken.ts:6 provider streamSimple", "lib/taken.ts:7 ctx newSession", "lib/taken.ts:7 ctx.ui custom",
		"lib/taken.ts:9 ctx fork", "lib/taken.ts:10 ctx.ui setHeader", "lib/taken.ts:11 ctx reload", "lib/taken.ts:12 tui showOverlay", "lib/taken.ts:13 ctx.ui setFooter", "lib/taken.ts:15 tui stop"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not found", want)
		}
	}
	if strings.Contains(text, "newThing") {
		t.Error("a member of another object is taken for one of the API")
	}
	if t.Failed() {
		t.Log(text)
		t.Log(string(b.Code[:min(len(b.Code), 3500)]))
	}
}
