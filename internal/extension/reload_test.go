package extension

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/engine/hook"
	engine "scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// processes counts those that run.
func (w *world) processes() int {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	return len(w.set.children)
}

// prepare prepares a call of a tool, as a turn does that may run it later.
func (w *world) prepare(name string) engine.Prepared {
	w.t.Helper()
	p, err := w.tool(name).Prepare(w.t.Context(), engine.Call{ID: "call_1", Input: json.RawMessage(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func TestTurnThatGoesOnAfterAReloadAsksWhatIsLoadedNow(t *testing.T) {
	for _, kind := range []string{"javascript", "program"} {
		w := newWorld(t)
		write := func(reason string) {
			r := hooks("tool_call", "tool_result")
			r.Tools, r.Events = tools("first").Tools, []string{"message_end"}
			s := script{r, map[string]string{"hook tool_call": `answer {"block":true,"reason":"` + reason + `"}`, "tool first": `answer {"content":[{"type":"text","text":"` + reason + `"}]}`}}
			if kind == "program" {
				w.program("one", s)
			} else {
				w.js("one", s)
			}
		}
		write("before")
		w.load()
		old, prepared := w.subscriber("one"), w.prepare("first")
		write("after")
		w.set.Reload(t.Context())
		d, err := old.BeforeTool(t.Context(), hookCall())
		if err != nil || d.Reason != "after" {
			t.Errorf("%s: the hook: %+v, %v", kind, d, err)
		}
		r, err := prepared.Run(t.Context(), nil)
		if err != nil || r.Content[0].Text != "after" {
			t.Errorf("%s: the tool: %+v, %v", kind, r, err)
		}
		old.Event(protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText("x")}))
		if n := w.processes(); n != 1 {
			t.Errorf("%s: %d processes", kind, n)
		}
		if told := w.told(); len(told) > 0 {
			t.Errorf("%s: %q", kind, told)
		}
	}
}

func TestHookThatAReloadHasTakenAwayIsNotAskedAny(t *testing.T) {
	w := newWorld(t)
	w.js("one", script{hooks("tool_call"), map[string]string{"hook tool_call": "fail asked"}})
	w.load()
	old := w.subscriber("one")
	w.js("one", script{rpc.Registration{}, map[string]string{"hook tool_call": "fail asked"}})
	w.set.Reload(t.Context())
	if d, err := old.BeforeTool(t.Context(), hookCall()); err != nil || d.Verdict != hook.Continue {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestToolThatAReloadHasMadeOneOfAnotherKindDoesNotRunOnTheOldAnswer(t *testing.T) {
	w := newWorld(t)
	write := func(kind string) {
		r := tools("first")
		r.Tools[0].Kind = kind
		w.js("one", script{r, map[string]string{}})
	}
	write("read")
	w.load()
	prepared := w.prepare("first")
	write("exec")
	w.set.Reload(t.Context())
	if _, err := prepared.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "changed by /reload") {
		t.Errorf("%v", err)
	}
}

func TestExtensionThatAReloadHasTakenOutStartsNoMore(t *testing.T) {
	for _, kind := range []string{"javascript", "program", "switched off"} {
		w := newWorld(t)
		r := hooks("tool_call", "tool_result")
		r.Tools, r.Events = tools("first").Tools, []string{"message_end"}
		if s := (script{r, map[string]string{}}); kind == "program" {
			w.program("one", s)
		} else {
			w.js("one", s)
		}
		w.load()
		old, prepared := w.subscriber("one"), w.prepare("first")
		if kind == "switched off" {
			w.off = []string{"one"}
		} else {
			for _, name := range []string{"one", "one.js"} {
				if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.set.Reload(t.Context())
		if _, err := old.BeforeTool(t.Context(), hookCall()); !errors.Is(err, errTakenOut) {
			t.Errorf("%s: what it was to judge is let through: %v", kind, err)
		}
		if _, err := old.AfterTool(t.Context(), hook.ToolCall{ID: "c"}, hook.ToolResult{}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := prepared.Run(t.Context(), nil); !errors.Is(err, errTakenOut) {
			t.Errorf("%s: the tool: %v", kind, err)
		}
		old.Event(protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText("x")}))
		if n := w.processes(); n != 0 {
			t.Errorf("%s: %d processes", kind, n)
		}
	}
}

func TestEventStartsNoProcess(t *testing.T) {
	w := newWorld(t)
	w.js("one", script{events("message_end"), map[string]string{}})
	w.load()
	sub := w.subscriber("one")
	w.set.mu.Lock()
	c := w.set.shared
	w.set.mu.Unlock()
	c.proc.Kill()
	<-c.ended
	sub.Event(protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText("x")}))
	if n := w.processes(); n != 0 {
		t.Errorf("%d processes", n)
	}
}
