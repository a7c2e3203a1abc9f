package extension

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/hook"
	engine "scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// world is a set of extensions in scratch folders.
type world struct {
	t       *testing.T
	dir     string // of the user's extensions
	run     string
	set     *Set
	log     *fakeLog
	off     []string // switched off
	bounds  bounds
	child   []string // nil is the fake
	mu      sync.Mutex
	notices []string
	reports []string
	call    func(ctx context.Context, e Extension, method string, params json.RawMessage) (any, error)
	state   rpc.State
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{t: t, dir: filepath.Join(dir, "extensions"), run: filepath.Join(dir, "run"), log: &fakeLog{}}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) Call(ctx context.Context, e Extension, method string, params json.RawMessage) (any, error) {
	if w.call == nil {
		return nil, errors.New("there is no " + method)
	}
	return w.call(ctx, e, method, params)
}
func (w *world) State() rpc.State { return w.state }
func (w *world) Notify(level, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, text)
}
func (w *world) PutBlob(_ context.Context, data []byte) (string, error) {
	return strings.Repeat("a", 64), nil
}
func (w *world) HasBlob(sha string) bool { return sha == strings.Repeat("a", 64) }

// told returns what people were told, but for whom the session waits, which depends on the
// machine.
func (w *world) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.notices), waitNotice)
}

func waitNotice(s string) bool { return strings.HasPrefix(s, "The session waits for ") }

// js writes an extension for the child.
func (w *world) js(id string, s script) {
	w.write(filepath.Join(w.dir, id+".js"), s)
}

// program writes an extension that is a program.
func (w *world) program(id string, s script) {
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(w.dir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(dir, "script.json"), s)
	w.write(filepath.Join(dir, "scorel.extension.json"), map[string]any{"id": id, "kind": "process", "command": []string{exe}})
}

// command writes an extension that is a program of the machine.
func (w *world) command(id string, argv ...string) {
	dir := filepath.Join(w.dir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(dir, "scorel.extension.json"), map[string]any{"id": id, "kind": "process", "command": argv})
}

func (w *world) write(name string, v any) {
	data, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() *Set {
	w.t.Helper()
	w.make()
	if err := w.set.Load(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	return w.set
}

// make makes the set, and starts nothing.
func (w *world) make() {
	if w.child == nil {
		w.child = []string{"child"}
	}
	environ := append(os.Environ(), fakeMode+"=1")
	w.set = New(Config{Cache: filepath.Join(filepath.Dir(w.dir), "cache"), Host: w, Log: w.log, Version: "test", Record: w.run, Environ: func() ([]string, error) { return environ, nil }, child: w.child, bounds: w.bounds,
		Clean:   func(text string) string { return strings.ReplaceAll(text, "topsecret", "[key]") },
		Session: rpc.Session{ID: "ses_1", Cwd: w.t.TempDir()},
		Find: func(context.Context) Found {
			return Find([]Source{{Dir: w.dir, Scope: User}}, func(id string) bool { return slices.Contains(w.off, id) })
		},
		Report: func(what string, detail []byte) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.reports = append(w.reports, what+" "+string(detail))
		}})
	w.t.Cleanup(func() {
		w.set.Close()
		if left, _ := os.ReadDir(w.run); len(left) > 0 {
			w.t.Errorf("processes are left: %v", left)
		}
	})
}

func (w *world) info(id string) protocol.ExtensionInfo {
	w.t.Helper()
	for _, e := range w.set.List(w.t.Context()).Extensions {
		if e.ID == id {
			return e
		}
	}
	w.t.Fatalf("there is no extension %s", id)
	return protocol.ExtensionInfo{}
}

func (w *world) subscriber(id string) hook.Subscriber {
	w.t.Helper()
	for _, s := range w.set.Subscribers() {
		if s.Name == "extension "+id {
			return s
		}
	}
	w.t.Fatalf("%s is no subscriber", id)
	return hook.Subscriber{}
}

func (w *world) tool(name string) engine.Tool {
	w.t.Helper()
	tools, _ := w.set.Tools(nil)
	for _, t := range tools {
		if t.Spec().Name == name {
			return t
		}
	}
	w.t.Fatalf("there is no tool %s", name)
	return nil
}

func (w *world) runTool(name string, update func(string)) (engine.Result, error) {
	w.t.Helper()
	p, err := w.tool(name).Prepare(w.t.Context(), engine.Call{ID: "call_1", Input: json.RawMessage(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close()
	return p.Run(w.t.Context(), update)
}

// fakeLog is a conversation in memory.
type fakeLog struct {
	mu     sync.Mutex
	events []protocol.Event
	leaf   protocol.EventID
	at     map[protocol.EventID]int
}

func (l *fakeLog) add(id, parent protocol.EventID, body protocol.Body) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := protocol.NewEvent(body)
	e.ID, e.ParentID, e.Seq = id, parent, protocol.Seq(len(l.events)+1)
	if l.at == nil {
		l.at = map[protocol.EventID]int{}
	}
	l.at[id] = len(l.events)
	l.events = append(l.events, e)
	switch b := body.(type) {
	case *protocol.Rewind:
		l.leaf = *b.TargetEventID
	default:
		if e.Class() == protocol.Conversation {
			l.leaf = id
		}
	}
}

func (l *fakeLog) all() []protocol.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}
func (l *fakeLog) Leaf() protocol.EventID { l.mu.Lock(); defer l.mu.Unlock(); return l.leaf }
func (l *fakeLog) LastSeq() protocol.Seq {
	l.mu.Lock()
	defer l.mu.Unlock()
	return protocol.Seq(len(l.events))
}
func (l *fakeLog) Event(_ context.Context, id protocol.EventID) (protocol.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.at[id]; ok {
		return l.events[i], nil
	}
	return protocol.Event{}, errors.New("no such event")
}
func (l *fakeLog) EventsAfter(_ context.Context, seq protocol.Seq) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for _, e := range l.all() {
			if e.Seq > seq && !yield(e, nil) {
				return
			}
		}
	}
}
func (l *fakeLog) Back(ctx context.Context, leaf protocol.EventID) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for leaf != "" {
			e, err := l.Event(ctx, leaf)
			if !yield(e, err) || err != nil {
				return
			}
			leaf = e.ParentID
		}
	}
}
func (l *fakeLog) Controls(ctx context.Context, leaf protocol.EventID, types ...protocol.EventType) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		path := map[protocol.EventID]protocol.Seq{} // the seq of what follows
		next := protocol.Seq(1 << 40)
		for e := range l.Back(ctx, leaf) {
			path[e.ID] = next
			next = e.Seq
		}
		path[""] = next
		for _, e := range l.all() {
			if before, ok := path[e.ParentID]; ok && slices.Contains(types, e.Type) && e.Seq < before && !yield(e, nil) {
				return
			}
		}
	}
}

func tools(names ...string) (r rpc.Registration) {
	for _, n := range names {
		r.Tools = append(r.Tools, rpc.Tool{Name: n, Description: "Does " + n + "."})
	}
	return r
}

func hooks(names ...string) rpc.Registration { return rpc.Registration{Hooks: names} }

func TestWithoutExtensionsNothingIsStartedAndNothingRead(t *testing.T) {
	w := newWorld(t)
	if err := os.Remove(w.dir); err != nil {
		t.Fatal(err)
	}
	s := w.load()
	if tools, _ := s.Tools(nil); len(tools)+len(s.Subscribers())+len(s.Commands()) > 0 || s.Loaded() {
		t.Error("there is something")
	}
	if _, err := os.Stat(w.run); err == nil {
		t.Error("a process was started")
	}
}

func TestToolOfEachKindOfExtensionRuns(t *testing.T) {
	w := newWorld(t)
	w.js("one", script{tools("first"), map[string]string{"tool first": `answer {"content":[{"type":"text","text":"of one"}],"details":{"n":1}}`}})
	w.program("two", script{tools("second"), map[string]string{"tool second": "fail it broke"}})
	w.load()
	r, err := w.runTool("first", nil)
	if err != nil || r.Content[0].Text != "of one" || string(r.Details.(json.RawMessage)) != `{"n":1}` {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := w.runTool("second", nil); err == nil || err.Error() != "it broke" {
		t.Errorf("%v", err)
	}
	if len(w.told()) > 0 {
		t.Errorf("%q", w.told())
	}
}

func TestOutputOfARunningToolComesBeforeItsResult(t *testing.T) {
	w := newWorld(t)
	w.js("one", script{tools("first"), map[string]string{"tool first": `note tool/update {"ext":"one","toolCallId":"call_1","text":"half"}`}})
	w.load()
	var got string
	r, err := w.runTool("first", func(s string) { got += s })
	if err != nil || got != "half" || r.Content[0].Text != "(no output)" {
		t.Errorf("%q, %+v, %v", got, r, err)
	}
}

func TestLongOutputIsCutAndKeptWhole(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("é", maxOutput)
	w.js("one", script{tools("first"), map[string]string{"tool first": `answer {"content":[{"type":"text","text":"` + long + `"}],"details":{"n":1}}`}})
	w.load()
	r, err := w.runTool("first", nil)
	if err != nil || len(r.Content[0].Text) > maxOutput+200 || !strings.Contains(r.Content[0].Text, `left out; Read with path "result:call_1"`) {
		t.Errorf("%v, %v", len(r.Content[0].Text), err)
	}
	details, err := json.Marshal(r.Details)
	if err != nil || !strings.HasPrefix(string(details), `{"fullBlob":"aaaa`) || !strings.HasSuffix(string(details), `,"n":1}`) {
		t.Errorf("%s, %v", details, err)
	}
}

func TestToolCallHookDecides(t *testing.T) {
	w := newWorld(t)
	w.js("gate", script{hooks("tool_call"), map[string]string{"hook tool_call": `answer {"block":true,"reason":"not today"}`}})
	w.js("change", script{hooks("tool_call"), map[string]string{"hook tool_call": `answer {"input":{"a":2}}`}})
	w.js("open", script{hooks("tool_call"), map[string]string{}})
	w.js("broken", script{hooks("tool_call"), map[string]string{"hook tool_call": "fail thrown"}})
	w.load()
	ask := func(id string) (hook.ToolDecision, error) {
		return w.subscriber(id).BeforeTool(t.Context(), hook.ToolCall{ID: "c", Name: "Bash", Input: json.RawMessage(`{"a":1}`)})
	}
	if d, err := ask("gate"); err != nil || d.Verdict != hook.Deny || d.Reason != "not today" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := ask("change"); err != nil || string(d.Input) != `{"a":2}` || d.Verdict != hook.Continue {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := ask("open"); err != nil || d.Verdict != hook.Continue || d.Input != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := ask("broken"); err == nil || err.Error() != "thrown" {
		t.Errorf("a handler that throws gives %v", err)
	}
}

func TestHookThatNeverAnswersIsGivenUp(t *testing.T) {
	w := newWorld(t)
	w.bounds.handler, w.bounds.process = 50*time.Millisecond, 50*time.Millisecond
	w.js("one", script{hooks("tool_call"), map[string]string{"hook tool_call": "hang"}})
	w.program("two", script{hooks("tool_call"), map[string]string{"hook tool_call": "hang"}})
	w.load()
	for _, id := range []string{"one", "two"} {
		if _, err := w.subscriber(id).BeforeTool(t.Context(), hook.ToolCall{}); !errors.Is(err, errSlow) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestClockStandsStillWhileAnExtensionWaitsForTheHost(t *testing.T) {
	w := newWorld(t)
	w.bounds.process = 2 * time.Second
	w.program("one", script{hooks("tool_call"), map[string]string{"hook tool_call": `call ui/dialog {"kind":"confirm"}`}})
	w.call = func(ctx context.Context, e Extension, method string, _ json.RawMessage) (any, error) {
		<-time.After(w.bounds.process + w.bounds.process/2)
		return map[string]any{"block": true}, ctx.Err()
	}
	w.load()
	d, err := w.subscriber("one").BeforeTool(t.Context(), hook.ToolCall{})
	if err != nil || d.Verdict != hook.Deny {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestExtensionThatThrowsAtLoadIsToldOnceAndTheOthersRun(t *testing.T) {
	w := newWorld(t)
	w.js("bad", script{On: map[string]string{"load": "fail a.ts:3: boom"}})
	w.js("good", script{Registration: tools("first")})
	w.load()
	if got := w.info("bad"); got.State != protocol.ExtensionFailed || got.Problem != "a.ts:3: boom." {
		t.Errorf("%+v", got)
	}
	if got := w.info("good"); got.State != protocol.ExtensionLoaded || !slices.Equal(got.Tools, []string{"first"}) {
		t.Errorf("%+v", got)
	}
	if len(w.told()) != 1 {
		t.Errorf("%q", w.told())
	}
}

// TestWhoEndsTheProcessIsKeptApart has one extension end the process in each way, while
// another one shares it.
func TestWhoEndsTheProcessIsKeptApart(t *testing.T) {
	for _, way := range []string{"exit", "spin", "grow"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t)
			w.bounds.memory = 200 << 20
			if way == "spin" { // what grows is busy too, and must be ended for its memory
				w.bounds.busy = 2 * time.Second
			} else {
				w.bounds.busy = harness.Timeout
			}
			w.js("bad", script{tools("bomb"), map[string]string{"tool bomb": way}})
			w.js("good", script{rpc.Registration{Hooks: []string{"tool_call", "tool_result"}, Events: []string{"session_start"}}, map[string]string{"hook tool_call": "seen"}})
			w.js("other", script{Registration: tools("first")})
			w.js("watcher", script{Registration: rpc.Registration{Events: []string{"session_start"}}})
			w.log.add("evt_1", "", &protocol.MessageBody{Message: protocol.UserText("hello")})
			w.load()
			_, err := w.runTool("bomb", nil)
			if err == nil || !strings.Contains(err.Error(), "may have taken effect") {
				t.Errorf("%v", err)
			}
			why := map[string]string{"exit": "its process ended with status 3", "spin": "it ran for 2s without a pause", "grow": "it used more than 200 MiB of memory"}[way]
			if told := w.told(); len(told) != 1 || !strings.Contains(told[0], why) {
				t.Errorf("people were told %q", told)
			}
			// The others are back, with the conversation.
			if r, err := w.runTool("first", nil); err != nil {
				t.Errorf("%+v, %v", r, err)
			}
			var seen struct {
				Entries []rpc.Entry
				Events  []rpc.EventNote
			}
			if _, err := w.find("good").call(t.Context(), "tool_call", 0, just(nil), &seen); err != nil {
				t.Fatal(err)
			}
			if len(seen.Entries) != 1 || seen.Entries[0].ID != "evt_1" {
				t.Errorf("it sees %+v", seen.Entries)
			}
			if way != "exit" { // the fake does not say who ended it then
				seen.Events = slices.DeleteFunc(seen.Events, func(e rpc.EventNote) bool { return e.Ext != "good" })
				if len(seen.Events) != 1 || !strings.Contains(string(seen.Events[0].Event), `"reason":"reload"`) {
					t.Errorf("it was told %s", seen.Events)
				}
				w.set.mu.Lock()
				shared, bad, good := w.set.shared, w.find("bad").apart, w.find("good").apart
				w.set.mu.Unlock()
				if shared == nil || !bad || good {
					t.Errorf("apart: bad %v, good %v", bad, good)
				}
				// Also who is asked for nothing, and only watches.
				w.set.mu.Lock()
				watches := w.find("watcher").child
				w.set.mu.Unlock()
				if watches == nil {
					t.Error("the one that watches is not back")
				}
			}
		})
	}
}

func (w *world) find(id string) *member {
	for _, m := range w.set.members {
		if m.ID == id {
			return m
		}
	}
	w.t.Fatalf("no %s", id)
	return nil
}

func TestNobodyLooksAtThePageOfAProcessThatHasEnded(t *testing.T) {
	for range 8 { // one that does is killed at about every second end
		w := newWorld(t)
		w.bounds.watch = time.Microsecond
		w.js("one", script{tools("one"), nil})
		w.load()
		w.set.Close()
	}
}

func TestHookOfTheOthersIsAskedOnceMore(t *testing.T) {
	w := newWorld(t)
	w.bounds.busy = 2 * time.Second
	w.js("bad", script{tools("bomb"), map[string]string{"tool bomb": "spin"}})
	w.js("good", script{hooks("tool_result", "tool_call"), map[string]string{"hook tool_result": "hang", "hook tool_call": `answer {"reason":"second"}`}})
	w.load()
	// What hangs in the first process is asked again, under the name of the other hook.
	asked := 0
	done := make(chan error, 1)
	go func() {
		answer, err := w.find("good").ask(t.Context(), rpc.MethodHook, 0, nil, func(*child) (any, error) {
			asked++
			name := "tool_result"
			if asked > 1 {
				name = "tool_call"
			}
			return rpc.HookCall{Ext: "good", Hook: name}, nil
		})
		if err == nil && string(answer) != `{"reason":"second"}` {
			err = errors.New(string(answer))
		}
		done <- err
	}()
	if _, err := w.runTool("bomb", nil); err == nil {
		t.Error("the bomb gave a result")
	}
	if err := <-done; err != nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestThreeEndsSwitchAnExtensionOffAndItsGateStaysShut(t *testing.T) {
	w := newWorld(t)
	w.js("bad", script{rpc.Registration{Hooks: []string{"tool_call"}, Tools: []rpc.Tool{{Name: "bomb"}}}, map[string]string{"tool bomb": "exit"}})
	w.load()
	for range maxKills {
		if _, err := w.runTool("bomb", nil); err == nil {
			t.Error("the bomb gave a result")
		}
	}
	if got := w.info("bad"); got.State != protocol.ExtensionStopped {
		t.Errorf("%+v", got)
	}
	if told := w.told(); len(told) != maxKills || !strings.Contains(told[2], "off for this session") {
		t.Errorf("%q", told)
	}
	if tools, _ := w.set.Tools(nil); len(tools) > 0 {
		t.Error("its tool is still offered")
	}
	if _, err := w.subscriber("bad").BeforeTool(t.Context(), hook.ToolCall{}); err == nil {
		t.Error("its gate is open")
	}
	w.js("bad", script{Registration: tools("calm")})
	w.set.Reload(t.Context())
	if got := w.info("bad"); got.State != protocol.ExtensionLoaded {
		t.Errorf("behind a reload %+v", got)
	}
}

func TestExtensionThatHangsAtLoadHoldsNobodyElse(t *testing.T) {
	w := newWorld(t)
	w.bounds.busy = 2 * time.Second
	w.js("bad", script{On: map[string]string{"load": "spin"}})
	w.js("good", script{Registration: tools("first")})
	w.load()
	if _, err := w.runTool("first", nil); err != nil {
		t.Error(err)
	}
	if len(w.told()) == 0 || !strings.Contains(w.told()[0], "bad was ended: it ran for") {
		t.Errorf("%q", w.told())
	}
}

func TestRequestsOfAnExtensionReachTheHostWithItsName(t *testing.T) {
	w := newWorld(t)
	w.program("two", script{rpc.Registration{Commands: []rpc.Command{{Name: "do"}}}, map[string]string{"command do": `call session/append {"kind":"mark","data":1}`}})
	w.call = func(_ context.Context, e Extension, method string, params json.RawMessage) (any, error) {
		if e.ID != "two" || method != rpc.CallAppend || !strings.Contains(string(params), `"mark"`) {
			t.Errorf("%s asks %s %s", e.ID, method, params)
		}
		return map[string]string{"status": "done"}, nil
	}
	s := w.load()
	status, err := s.Commands()[0].Run(t.Context(), `a "b c"`)
	if status != "done" || err != nil {
		t.Errorf("%q, %v", status, err)
	}
}

func TestArgumentsAreSplitAsAShellWould(t *testing.T) {
	for text, want := range map[string][]string{
		``: {}, `a b`: {"a", "b"}, ` a  "b c" `: {"a", "b c"}, `a\ b 'c\d' "" x"y"z`: {"a b", `c\d`, "", "xyz"}, `"open`: {"open"}, "ü\tß": {"ü", "ß"},
	} {
		if got := Words(text); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func toolCall(id string) engine.Call {
	return engine.Call{ID: id, Input: json.RawMessage(`{}`)}
}

// put writes a file below the folder of extensions.
func (w *world) put(name, text string) { w.t.Helper(); w.putAt(w.dir, name, text) }

func (w *world) putAt(dir, name, text string) {
	w.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}
