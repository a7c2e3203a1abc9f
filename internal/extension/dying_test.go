package extension

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/hook"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// returns fails when f has not returned after a time that is long for it: what hangs
// would otherwise hang the test too.
func returns(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(harness.Timeout):
		t.Fatalf("%s has not returned", what)
	}
}

func events(names ...string) rpc.Registration { return rpc.Registration{Events: names} }

// Extensions are asked for nothing before all are loaded, so that no request waits for the
// start of another one; it ends with its process all the same.
func TestProcessThatDiesInWhatItAskedForAtItsStartIsOver(t *testing.T) {
	w := newWorld(t)
	w.js("asks", script{events("session_start"), map[string]string{"event session_start": `call agent/sendUser {"ext":"asks"}`}})
	refused := make(chan error, 8)
	w.call = func(ctx context.Context, _ Extension, _ string, _ json.RawMessage) (any, error) {
		w.set.mu.Lock()
		c := w.set.shared
		w.set.mu.Unlock()
		if c != nil {
			c.proc.Kill()
		}
		select {
		case <-ctx.Done(): // its end is noticed
		case <-time.After(time.Minute):
			t.Error("what a dead process asked for is not cancelled")
		}
		err := w.set.Load(ctx) // as a message does that begins a turn
		refused <- err
		return nil, err
	}
	returns(t, "the start", func() { w.load() })
	if err := <-refused; err == nil {
		t.Error("what a dead process asked for went on")
	}
	if e := w.info("asks"); e.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", e)
	}
}

func TestProcessThatDiesInAHookOfWhatItAskedForItselfIsOver(t *testing.T) {
	for _, name := range []string{"session_before_compact", "context"} {
		w := newWorld(t)
		r := hooks(name)
		r.Commands = commands("shrink")
		w.js("shrinks", script{r, map[string]string{"command shrink": `call agent/compact {"ext":"shrinks"}`, "hook " + name: "exit"}})
		asked := make(chan error, 1)
		w.call = func(context.Context, Extension, string, json.RawMessage) (any, error) {
			var err error
			sub := w.subscriber("shrinks")
			if name == "context" {
				_, err = sub.Context(t.Context(), nil)
			} else {
				_, err = sub.BeforeCompact(t.Context(), hook.Compaction{})
			}
			asked <- err
			return nil, err
		}
		w.load()
		returns(t, "the command", func() {
			if _, err := w.set.Commands()[0].Run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "ended while the command ran") {
				t.Errorf("%s: the command: %v", name, err)
			}
			if err := <-asked; err == nil || !strings.Contains(err.Error(), "its process ended") {
				t.Errorf("%s: the hook: %v", name, err)
			}
		})
	}
}

func TestReloadIsNotHeldUpByWhatAnExtensionAsksForAtItsEnd(t *testing.T) {
	w := newWorld(t)
	w.js("shrinks", script{rpc.Registration{}, map[string]string{"unload": `call agent/compact {"ext":"shrinks"}`}})
	asked := make(chan error, 8)
	w.call = func(ctx context.Context, _ Extension, _ string, _ json.RawMessage) (any, error) {
		err := w.set.Load(ctx)
		asked <- err
		return nil, err
	}
	w.load()
	returns(t, "the reload", func() { w.set.Reload(t.Context()) })
	if err := <-asked; err == nil {
		t.Error("what the end of an extension asked for waited for the start of the next")
	}
	if e := w.info("shrinks"); e.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", e)
	}
}

func commands(names ...string) (list []rpc.Command) {
	for _, n := range names {
		list = append(list, rpc.Command{Name: n})
	}
	return list
}

func hookCall() hook.ToolCall {
	return hook.ToolCall{ID: "c", Name: "Bash", Input: json.RawMessage(`{}`)}
}
