package commands_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// actor is an extension whose commands write a line into a file of the project before
// they end, fail, or wait for an answer.
const actor = `import { appendFileSync } from "node:fs";
export default function (pi: any) {
  const act = (ctx: any, name: string) => appendFileSync(ctx.cwd + "/" + name, "x\n");
  pi.command("act", { description: "x", handler: async (ctx: any) => { act(ctx, "acted"); return { status: "acted" }; } });
  pi.command("fail", { description: "x", handler: async (ctx: any) => { act(ctx, "failed"); throw new Error("it broke"); } });
  pi.command("wait", { description: "x", handler: async (ctx: any) => { act(ctx, "waited"); await ctx.ui.confirm("Sure?", "Really?"); } });
}`

func TestACommandOfAnExtensionActsOnceHoweverOftenItIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"ok"}]}`)
	w.Ts("actor", actor)
	for _, name := range []string{"acted", "failed", "waited"} {
		w.File(name, "")
	}
	e := w.Open(w.Connect(true), w.Begin(false).ID)
	c := w.Caller()

	act := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "act"})
	first := c.Call(act)
	again, _ := c.Repeat(act)
	if r, ok := again.Data.(*protocol.CommandResult); !ok || first.Err != nil || r.Status != "acted" || w.Lines("acted") != 1 {
		t.Errorf("a command: %s, repeated %s; it acted %d times", hosttest.AsText(t, first), hosttest.AsText(t, again), w.Lines("acted"))
	}

	fail := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "fail"})
	first, second := c.Call(fail), c.Call(fail)
	again, _ = c.Repeat(fail)
	if first.Err == nil || !strings.Contains(first.Err.Message, "it broke") || hosttest.AsText(t, second) != hosttest.AsText(t, first) || hosttest.AsText(t, again) != hosttest.AsText(t, first) || w.Lines("failed") != 1 {
		t.Errorf("one that fails: %s, then %s, repeated %s; it acted %d times", hosttest.AsText(t, first), hosttest.AsText(t, second), hosttest.AsText(t, again), w.Lines("failed"))
	}

	wait := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "wait"})
	done := make(chan struct{})
	go func() { // ends with the answer
		c.Call(wait)
		close(done)
	}()
	ask := e.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	again, _ = c.Repeat(wait)
	if again.Err == nil || !strings.Contains(again.Err.Message, "cannot be found out") || w.Lines("waited") != 1 {
		t.Errorf("killed in between: repeated %s; it acted %d times", hosttest.AsText(t, again), w.Lines("waited"))
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: ask.UIID, Value: []byte("true")})
	<-done
}

func TestShellLinesOfATemplateRunOnceHoweverOftenItIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), `{"again":true,"do":[{"text":"ok"}]}`)
	w.User("commands/act.md", "!echo x >> acted\n\nGo on.")
	w.User("commands/fail.md", "!echo x >> failed\n!echo $1\n")
	w.File("acted", "")
	w.File("failed", "")
	e := w.Begin(false)
	e.Say("hello")
	c := w.Caller()
	act := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "act"})
	first := c.Call(act)
	again, after := c.Repeat(act)
	if first.Err != nil || again.Err != nil || w.Lines("acted") != 1 || len(after.Caused(act)) != 1 {
		t.Errorf("a template: %s, repeated %s; it acted %d times, %d messages", hosttest.AsText(t, first), hosttest.AsText(t, again), w.Lines("acted"), len(after.Caused(act)))
	}
	// The text becomes too long after a line that ran.
	fail := hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "fail", Args: strings.Repeat("x", 60<<10)})
	w.User("commands/fail.md", "!echo x >> failed\n$1"+strings.Repeat(" $1", 4))
	first, second := c.Call(fail), c.Call(fail)
	again, _ = c.Repeat(fail)
	if first.Err == nil || hosttest.AsText(t, second) != hosttest.AsText(t, first) || hosttest.AsText(t, again) != hosttest.AsText(t, first) || w.Lines("failed") != 1 {
		t.Errorf("one that fails: %.200s, then %.200s, repeated %.200s; it acted %d times", hosttest.AsText(t, first), hosttest.AsText(t, second), hosttest.AsText(t, again), w.Lines("failed"))
	}
}

func TestANoteIsAddedOnceHoweverOftenItIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Caller()
	for name, sent := range map[string]protocol.Call{
		"of a session": hosttest.NewCall(e.ID, &protocol.AddMemory{Scope: "project", Text: "the note"}),
		"of a folder":  hosttest.NewCall("", &protocol.AddMemory{Scope: "project", Text: "the note", WorkDir: w.Project}),
		"a command":    hosttest.NewCall(e.ID, &protocol.RunCommand{Name: "memory", Args: "the note"}),
	} {
		notes := func(w *hosttest.World) int {
			v := hosttest.Call[*protocol.MemoryView](t, w.Connect(false), "", &protocol.GetMemory{WorkDir: w.Project})
			return strings.Count(hosttest.AsText(t, v), "the note")
		}
		had := notes(w)
		first := c.Call(sent)
		again, after := c.Repeat(sent)
		if first.Err != nil || hosttest.AsText(t, again) != hosttest.AsText(t, first) || notes(after) != had+1 {
			t.Errorf("%s: %s, repeated %s; %d notes, before %d", name, hosttest.AsText(t, first), hosttest.AsText(t, again), notes(after), had)
		}
	}
}
