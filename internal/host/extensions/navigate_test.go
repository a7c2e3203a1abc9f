package extensions_test

import (
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// navigator goes to other branches of its session in the way of pi's API, and says what it
// sees there.
const navigator = `export default function (pi: any) {
  let away = "";
  const texts = (ctx: any) => ctx.sessionManager.getBranch().filter((e: any) => e.type === "message" && e.message.role === "user").map((e: any) => (typeof e.message.content === "string" ? e.message.content : e.message.content[0].text)).join(" ");
  pi.on("session_before_tree", (_e: any, ctx: any) => (ctx.sessionManager.getSessionName() === "stay" ? { cancel: true } : undefined));
  pi.registerCommand("back", { description: "x", handler: async (_: string, ctx: any) => {
    away = ctx.sessionManager.getLeafId();
    const mine = ctx.sessionManager.getBranch().filter((e: any) => e.type === "message" && e.message.role === "user").at(-1);
    const { cancelled } = await ctx.navigateTree(mine.id, { label: "turned back" });
    return (cancelled ? "cancelled" : "moved") + ", to type: " + ctx.ui.getEditorText();
  } });
  pi.registerCommand("again", { description: "x", handler: async (_: string, ctx: any) => {
    await ctx.navigateTree(away);
  } });
  pi.registerCommand("seen", { description: "x", handler: async (_: string, ctx: any) => {
    return "there is: " + texts(ctx);
  } });
  pi.registerCommand("nowhere", { description: "x", handler: (_: string, ctx: any) => ctx.navigateTree("evt_none") });
}`

func TestACommandGoesToAnotherBranchOfItsSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("navigator", navigator)
	e := w.Begin(true)
	e.Say("one")
	e.Say("two")
	run := func(name string) string {
		t.Helper()
		e.Events = nil
		r := hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: name})
		e.End() // of the command
		return r.Status
	}
	said := func() string { return strings.Join(w.Open(w.Connect(true), e.ID).Said(), " ") }
	if got := run("back"); got != "moved, to type: two" {
		t.Errorf("back: %s", got)
	}
	if got := said(); got != "one" {
		t.Errorf("after it the session has %q", got)
	}
	e.Say("three") // on another branch
	if got := said(); got != "one three" {
		t.Errorf("the other branch has %q", got)
	}
	run("again")
	if got := run("seen"); got != "there is: one two" || said() != "one two" {
		t.Errorf("again: %s, and the session has %q", got, said())
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: new("stay")}})
	if got := run("back"); got != "cancelled, to type: two" {
		t.Errorf("one that is refused: %s", got)
	}
	_, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, &protocol.RunCommand{Name: "nowhere"})
	if err == nil || !strings.Contains(err.Error(), `the entry "evt_none" cannot be found`) {
		t.Errorf("an entry that is not there: %v", err)
	}
}

func TestACommandThatWaitsForACompactionIsRefusedIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("waits", `export default { commands: () => ({ small: { description: "x", run: (_: any, ctx: any) => ctx.agent.compact() } }) };`)
	e := w.Begin(true)
	e.Say("one")
	_, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, &protocol.RunCommand{Name: "small"})
	if err == nil || !strings.Contains(err.Error(), "A turn is running") {
		t.Errorf("it gave %v", err)
	}
}
