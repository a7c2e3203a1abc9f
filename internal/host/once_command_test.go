package host_test

import (
	"strings"
	"testing"

	"scorel/protocol"
)

// lines gives how many lines a file of the project has; none when there is no file.
func (w *world) lines(name string) int { return strings.Count(w.read(name), "\n") }

// repeat sends a call again at the host that comes after a kill, and says what is there.
func (c *caller) repeat(sent protocol.Call) (protocol.Reply, *world) {
	c.w.t.Helper()
	after := c.w.killed()
	d := &caller{w: after, key: c.key}
	d.connect()
	sent.Repeat = true
	return d.call(sent), after
}

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
	w := newWorld(t, setting{attended: true}, `{"again":true,"do":[{"text":"ok"}]}`)
	w.ts("actor", actor)
	for _, name := range []string{"acted", "failed", "waited"} {
		w.file(name, "")
	}
	e := w.open(w.connect(true), w.begin(false).id)
	c := w.caller()

	act := newCall(e.id, &protocol.RunCommand{Name: "act"})
	first := c.call(act)
	again, _ := c.repeat(act)
	if r, ok := again.Data.(*protocol.CommandResult); !ok || first.Err != nil || r.Status != "acted" || w.lines("acted") != 1 {
		t.Errorf("a command: %s, repeated %s; it acted %d times", asText(t, first), asText(t, again), w.lines("acted"))
	}

	fail := newCall(e.id, &protocol.RunCommand{Name: "fail"})
	first, second := c.call(fail), c.call(fail)
	again, _ = c.repeat(fail)
	if first.Err == nil || !strings.Contains(first.Err.Message, "it broke") || asText(t, second) != asText(t, first) || asText(t, again) != asText(t, first) || w.lines("failed") != 1 {
		t.Errorf("one that fails: %s, then %s, repeated %s; it acted %d times", asText(t, first), asText(t, second), asText(t, again), w.lines("failed"))
	}

	wait := newCall(e.id, &protocol.RunCommand{Name: "wait"})
	done := make(chan struct{})
	go func() { // ends with the answer
		c.call(wait)
		close(done)
	}()
	ask := e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	again, _ = c.repeat(wait)
	if again.Err == nil || !strings.Contains(again.Err.Message, "cannot be found out") || w.lines("waited") != 1 {
		t.Errorf("killed in between: repeated %s; it acted %d times", asText(t, again), w.lines("waited"))
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: ask.UIID, Value: []byte("true")})
	<-done
}

func TestShellLinesOfATemplateRunOnceHoweverOftenItIsSent(t *testing.T) {
	w := newWorld(t, allowed(), `{"again":true,"do":[{"text":"ok"}]}`)
	w.user("commands/act.md", "!echo x >> acted\n\nGo on.")
	w.user("commands/fail.md", "!echo x >> failed\n!echo $1\n")
	w.file("acted", "")
	w.file("failed", "")
	e := w.begin(false)
	e.say("hello")
	c := w.caller()
	act := newCall(e.id, &protocol.RunCommand{Name: "act"})
	first := c.call(act)
	again, after := c.repeat(act)
	if first.Err != nil || again.Err != nil || w.lines("acted") != 1 || len(after.caused(act)) != 1 {
		t.Errorf("a template: %s, repeated %s; it acted %d times, %d messages", asText(t, first), asText(t, again), w.lines("acted"), len(after.caused(act)))
	}
	// The text becomes too long behind a line that ran.
	fail := newCall(e.id, &protocol.RunCommand{Name: "fail", Args: strings.Repeat("x", 60<<10)})
	w.user("commands/fail.md", "!echo x >> failed\n$1"+strings.Repeat(" $1", 4))
	first, second := c.call(fail), c.call(fail)
	again, _ = c.repeat(fail)
	if first.Err == nil || asText(t, second) != asText(t, first) || asText(t, again) != asText(t, first) || w.lines("failed") != 1 {
		t.Errorf("one that fails: %.200s, then %.200s, repeated %.200s; it acted %d times", asText(t, first), asText(t, second), asText(t, again), w.lines("failed"))
	}
}

func TestANoteIsAddedOnceHoweverOftenItIsSent(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	c := w.caller()
	for name, sent := range map[string]protocol.Call{
		"of a session": newCall(e.id, &protocol.AddMemory{Scope: "project", Text: "the note"}),
		"of a folder":  newCall("", &protocol.AddMemory{Scope: "project", Text: "the note", WorkDir: w.project}),
		"a command":    newCall(e.id, &protocol.RunCommand{Name: "memory", Args: "the note"}),
	} {
		notes := func(w *world) int {
			v := call[*protocol.MemoryView](t, w.connect(false), "", &protocol.GetMemory{WorkDir: w.project})
			return strings.Count(asText(t, v), "the note")
		}
		had := notes(w)
		first := c.call(sent)
		again, after := c.repeat(sent)
		if first.Err != nil || asText(t, again) != asText(t, first) || notes(after) != had+1 {
			t.Errorf("%s: %s, repeated %s; %d notes, before %d", name, asText(t, first), asText(t, again), notes(after), had)
		}
	}
}
