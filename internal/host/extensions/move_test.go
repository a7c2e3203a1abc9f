package extensions_test

import (
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// mover leads people elsewhere in the ways of pi's API, and says what came of it.
const mover = `export default function (pi: any) {
  pi.on("session_before_switch", (e: any) => (e.reason === "resume" && e.targetSessionId.endsWith("x") ? { cancel: true } : undefined));
  pi.on("session_before_fork", (_e: any, ctx: any) => (ctx.sessionManager.getSessionName() === "stay" ? { cancel: true } : undefined));
  pi.registerCommand("handoff", { description: "x", handler: async (goal: string, ctx: any) => {
    const done = await ctx.newSession({
      parentSession: ctx.sessionManager.getSessionFile(),
      withSession: async (next: any) => {
        next.ui.setEditorText("Go on with " + goal);
        next.ui.notify("Look at it and send it.");
      },
    });
    return "cancelled is " + done.cancelled;
  } });
  pi.registerCommand("ask", { description: "x", handler: async (text: string, ctx: any) => {
    await ctx.newSession({ withSession: (next: any) => next.sendUserMessage(text) });
  } });
  pi.registerCommand("plain", { description: "x", handler: async (_: string, ctx: any) => {
    await ctx.newSession();
    ctx.ui.setEditorText("set after it");
  } });
  pi.registerCommand("branch", { description: "x", handler: async (position: string, ctx: any) => {
    const mine = ctx.sessionManager.getBranch().filter((e: any) => e.type === "message" && e.message.role === "user").at(-1);
    return "cancelled is " + (await ctx.fork(mine.id, { position })).cancelled;
  } });
  pi.registerCommand("open", { description: "x", handler: async (to: string, ctx: any) => "cancelled is " + (await ctx.switchSession(to)).cancelled });
  pi.registerCommand("twice", { description: "x", handler: async (_: string, ctx: any) => { await ctx.newSession(); await ctx.newSession(); } });
  pi.registerCommand("bye", { description: "x", handler: async (_: string, ctx: any) => ctx.shutdown() });
}`

func TestACommandLeadsItsClientToAnotherSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("mover", mover)
	e := w.Begin(true)
	e.Say("first")
	e.Say("second")
	run := func(name, args string) *protocol.CommandResult {
		t.Helper()
		r := hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: name, Args: args, Moves: true})
		if r.Move == nil {
			r.Move = &protocol.Move{}
		}
		return r
	}
	said := func(id protocol.SessionID) string { return strings.Join(w.Open(w.Connect(true), id).Said(), ", ") }

	r := run("handoff", "the tests")
	if r.Status != "cancelled is false" || !r.Move.Made || r.Move.Editor != "Go on with the tests" || strings.Join(r.Move.Notices, "") != "Look at it and send it." || said(r.Move.SessionID) != "" {
		t.Errorf("handoff: %+v %+v", r, r.Move)
	}
	if r := run("ask", "what next?"); r.Move.Message != "what next?" || !r.Move.Made {
		t.Errorf("ask: %+v", r.Move)
	}
	if r := run("plain", ""); r.Move.Editor != "set after it" {
		t.Errorf("plain: %+v", r.Move)
	}
	if r := run("branch", ""); r.Move.Editor != "second" || r.Move.Made || said(r.Move.SessionID) != "first" {
		t.Errorf("a fork before a message: %+v", r.Move)
	}
	at := run("branch", "at")
	if at.Move.Editor != "" || said(at.Move.SessionID) != "first, second" {
		t.Errorf("a fork at a message: %+v", at.Move)
	}
	for _, to := range []string{string(at.Move.SessionID), "/somewhere/sessions/" + string(at.Move.SessionID) + ".jsonl"} {
		if r := run("open", to); r.Move.SessionID != at.Move.SessionID || r.Move.Made {
			t.Errorf("%s: %+v", to, r.Move)
		}
	}
	if r := run("bye", ""); !r.Move.Quit {
		t.Errorf("bye: %+v", r.Move)
	}
	if got := said(e.ID); got != "first, second" { // nothing of it is in the session that was left
		t.Errorf("the session has %s", got)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: new("stay")}})
	if r := run("branch", "at"); r.Status != "cancelled is true" || r.Move.SessionID != "" {
		t.Errorf("a fork that is refused: %+v %+v", r, r.Move)
	}
	refused := func(want string, r *protocol.RunCommand) {
		t.Helper()
		_, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, r)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	refused("one command leads to one", &protocol.RunCommand{Name: "twice", Moves: true})
	refused(`the session "nowhere" cannot be opened`, &protocol.RunCommand{Name: "open", Args: "nowhere", Moves: true})
	refused("only by a command that somebody has typed in a terminal", &protocol.RunCommand{Name: "handoff", Args: "x"})
}
