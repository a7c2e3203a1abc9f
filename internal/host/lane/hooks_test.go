package lane

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/session/history"
	"scorel/internal/host/lane/listener"
	"scorel/protocol"
)

func TestAHookRefusesAMessageAndNothingOfItIsStored(t *testing.T) {
	for _, busy := range []bool{false, true} {
		tr := newTrial(t, again)
		asked := 0
		tr.hooks = []hook.Subscriber{{Name: "gate", Scope: hook.ScopeUser, Prompt: func(_ context.Context, p hook.Prompt) (hook.PromptDecision, error) {
			asked++
			if strings.Contains(p.Content[0].Text, "secret") {
				return hook.PromptDecision{Verdict: hook.Deny, Reason: "not that word"}, nil
			}
			return hook.PromptDecision{}, nil
		}}}
		tr.model.before = func(ctx context.Context, n int) {
			if busy && n == 1 {
				if _, err := tr.send("the secret"); err == nil || err.Error() != "gate refused the message: not that word" || protocol.AsError(err).Code != protocol.CodePermissionDenied {
					t.Errorf("error: %v", err)
				}
			}
		}
		tr.open()
		if !busy {
			if _, err := tr.send("the secret"); err == nil {
				t.Error("the message was taken")
			}
			if n := tr.lane.Log().Index().Len(); n != 0 {
				t.Errorf("%d events are stored", n)
			}
		}
		tr.say("hello")
		if got, want := tr.path(), []string{"user hello", "assistant fine"}; !slices.Equal(got, want) {
			t.Errorf("path %q, want %q", got, want)
		}
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
		tr.close()
	}
}

func TestWhatAHookSaysOfAMessageIsToldWithIt(t *testing.T) {
	tr := newTrial(t, again)
	tr.hooks = []hook.Subscriber{{Name: "weather", Scope: hook.ScopeUser, Prompt: func(_ context.Context, p hook.Prompt) (hook.PromptDecision, error) {
		text := p.Content[0].Text
		if text == "mine" {
			return hook.PromptDecision{Handled: true}, nil
		}
		return hook.PromptDecision{Context: "about " + text, Content: []protocol.Block{protocol.Text(strings.ToUpper(text))}}, nil
	}}}
	tr.model.before = func(ctx context.Context, n int) {
		if n == 1 {
			if _, err := tr.send("later"); err != nil {
				t.Error(err)
			}
			items, update := tr.followUps()
			items = append(items, protocol.QueueItem{Content: []protocol.Block{protocol.Text("added")}})
			if err := tr.lane.RewriteQueue(ctx, tr.caller(), protocol.QueueFollowUp, update, items); err != nil {
				t.Error(err)
			}
		}
	}
	tr.open()
	tr.say("now")
	want := []string{"hook_context about now", "user NOW", "assistant fine", "hook_context about later", "user LATER", "assistant fine", "hook_context about added", "user ADDED", "assistant fine"}
	if got := tr.path(); !slices.Equal(got, want) {
		t.Errorf("path %q\nwant %q", got, want)
	}
	if sent, err := tr.send("mine"); err != nil || sent.Handled != "weather" || sent.EventID != "" {
		t.Errorf("%+v %v", sent, err)
	}
	if got := tr.path(); len(got) != len(want) {
		t.Errorf("a message that a hook has taken is stored: %q", got)
	}
	tr.close()
}

func TestASystemPromptOfAHookHoldsForItsTurnAlone(t *testing.T) {
	tr := newTrial(t, again)
	other := "Sing."
	tr.hooks = []hook.Subscriber{{Name: "extension sing", Scope: hook.ScopeUser, BeforeAgent: func(_ context.Context, p hook.Prompt, system string) (hook.AgentStart, error) {
		if p.Content[0].Text != "sing" {
			return hook.AgentStart{}, nil
		}
		if system != "Help." {
			t.Errorf("the hook is told of %q", system)
		}
		return hook.AgentStart{System: &other, Context: "in tune", Message: &protocol.CustomMessage{Kind: "song", Message: protocol.UserText("la")}}, nil
	}}}
	tr.open()
	tr.say("sing")
	tr.say("stop")
	if a, b := tr.model.requests[0].System, tr.model.requests[1].System; a != "Sing." || b != "Help." {
		t.Errorf("system prompts %q, %q", a, b)
	}
	if got, want := tr.path()[:4], []string{"user sing", "custom la", "hook_context in tune", "assistant fine"}; !slices.Equal(got, want) {
		t.Errorf("path %q, want %q", got, want)
	}
	var snapshots []string
	for e, err := range tr.lane.Log().Index().OfType(t.Context(), protocol.TypeInstructionSnapshot) {
		if err != nil {
			t.Fatal(err)
		}
		b := e.Body.(*protocol.InstructionSnapshot)
		snapshots = append(snapshots, b.Snapshot.Source+": "+b.Snapshot.Text)
	}
	if !slices.Equal(snapshots, []string{": Help.", "extension sing: Sing."}) {
		t.Errorf("snapshots %q", snapshots)
	}
	tr.close()
}

func TestNotesOfHooksReachTheModelBeforeItsNextCall(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	tr.hooks = []hook.Subscriber{{Name: "h", Scope: hook.ScopeUser,
		SessionStart: func(_ context.Context, s hook.SessionStart) (string, error) { return "started: " + s.Reason, nil },
		BeforeTool: func(_ context.Context, c hook.ToolCall) (hook.ToolDecision, error) {
			return hook.ToolDecision{Context: "before " + c.Name, Input: json.RawMessage(`{"n":7}`)}, nil
		},
		AfterTool: func(_ context.Context, c hook.ToolCall, r hook.ToolResult) (hook.ToolPatch, error) {
			return hook.ToolPatch{Context: "after " + string(c.Input), Content: append(r.Content, protocol.Text("patched"))}, nil
		}}}
	tr.open()
	tr.say("go")
	tr.say("more")
	want := []string{"hook_context started: startup", "user go", "calls", "tool_result did {\"n\":7}\npatched", "hook_context before Do", "hook_context after {\"n\":7}", "assistant fine", "user more", "assistant fine"}
	if got := tr.path(); !slices.Equal(got, want) {
		t.Errorf("path %q\nwant %q", got, want)
	}
	if sent := tr.model.sent(2); !strings.Contains(sent, "before Do") || !strings.Contains(sent, "after") {
		t.Errorf("sent:\n%s", sent)
	}
	tr.close()
}

func TestContextHandlersChangeWhatIsSentAndNotWhatIsStored(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	tr.hooks = []hook.Subscriber{{Name: "prune", Scope: hook.ScopeUser, Context: func(_ context.Context, list []history.Element) ([]history.Element, error) {
		return slices.DeleteFunc(list, func(e history.Element) bool { return e.Message.Role == protocol.RoleToolResult }), nil
	}}}
	tr.open()
	tr.say("go")
	if sent := tr.model.sent(2); strings.Contains(sent, "did") || !strings.Contains(sent, "tool_result: ") {
		t.Errorf("sent:\n%s", sent)
	}
	if got := tr.path(); got[2] != "tool_result did {}" {
		t.Errorf("path %q", got)
	}
	tr.close()
}

func TestAStopHookKeepsATurnGoingFiveTimesAtMostAndThenPeopleAreWarned(t *testing.T) {
	tr := newTrial(t, again)
	var stops []hook.Stop
	tr.hooks = []hook.Subscriber{{Name: "more", Scope: hook.ScopeUser, Stop: func(_ context.Context, s hook.Stop) (string, error) {
		stops = append(stops, s)
		return "go on", nil
	}}}
	tr.subagent = true
	tr.open()
	warned := make(chan string, 10)
	defer tr.lane.Listeners().Watch(func(e protocol.Event) {
		if n, ok := e.Body.(*protocol.Notice); ok {
			warned <- n.Level + " " + n.Text
		}
	})()
	tr.say("go")
	if n := tr.model.count(); n != 5 {
		t.Errorf("%d model calls", n)
	}
	for i, s := range stops {
		if s != (hook.Stop{Blocked: i, Subagent: true, Text: "fine"}) {
			t.Errorf("stop %d: %+v", i, s)
		}
	}
	select {
	case w := <-warned:
		if !strings.HasPrefix(w, "warning Hooks wanted this turn to go on for the fifth time") {
			t.Error(w)
		}
	case <-time.After(harness.Timeout):
		t.Error("nobody is warned")
	}
	tr.close()
}

func TestAHookCancelsACompactionOrGivesItsSummary(t *testing.T) {
	answer := hook.CompactDecision{Cancel: true, Reason: "not now"}
	var asked []hook.Compaction
	tr := newTrial(t, again)
	tr.hooks = []hook.Subscriber{{Name: "keeper", Scope: hook.ScopeUser, BeforeCompact: func(_ context.Context, c hook.Compaction) (hook.CompactDecision, error) {
		asked = append(asked, c)
		return answer, nil
	}}}
	tr.open()
	tr.say(strings.Repeat("long ", 60_000))
	tr.say("second")
	if _, err := tr.lane.Compact(t.Context(), tr.caller(), "the names", Move{}); err == nil || err.Error() != "keeper cancelled the compaction: not now" {
		t.Errorf("error: %v", err)
	}
	answer = hook.CompactDecision{Summary: "It was long."}
	calls := tr.model.count()
	if c, err := tr.lane.Compact(t.Context(), tr.caller(), "", Move{}); err != nil || c.EventID == "" {
		t.Errorf("%+v %v", c, err)
	}
	if tr.model.count() != calls {
		t.Error("the model was asked for a summary")
	}
	got := tr.path()
	if last := got[len(got)-1]; last != "compact It was long." {
		t.Errorf("path ends with %.100q", last)
	}
	if len(asked) != 2 || asked[0].Reason != "manual" || asked[0].Instructions != "the names" || asked[0].Tokens == 0 || len(asked[0].Messages) == 0 || asked[0].FirstKept == "" {
		t.Errorf("asked: %.500v", asked)
	}
	tr.close()
}

func TestAHookRefusesAMoveOrNamesItsTarget(t *testing.T) {
	tr := newTrial(t, again)
	var moves []hook.Move
	tr.hooks = []hook.Subscriber{{Name: "guard", Scope: hook.ScopeUser, BeforeMove: func(_ context.Context, m hook.Move) (hook.MoveDecision, error) {
		moves = append(moves, m)
		return hook.MoveDecision{Cancel: m.Kind == "rewind", Reason: "stay", Label: "here"}, nil
	}}}
	tr.open()
	tr.say("one")
	leaf := tr.lane.Log().Index().Leaf()
	if _, err := tr.lane.Rewind(t.Context(), tr.caller(), Move{}); err == nil || err.Error() != "guard refused the rewind: stay" {
		t.Errorf("error: %v", err)
	}
	if _, err := tr.lane.Branch(t.Context(), tr.caller(), Move{Branch: leaf}); err != nil {
		t.Error(err)
	}
	if labels := tr.lane.Publisher().Live().Labels; len(labels) != 1 || labels[0] != (protocol.LiveLabel{TargetEventID: leaf, Label: "here"}) {
		t.Errorf("labels %+v", labels)
	}
	if want := []hook.Move{{Kind: "rewind", Leaf: leaf}, {Kind: "branch", Target: leaf, Leaf: leaf}}; !slices.Equal(moves, want) {
		t.Errorf("moves %+v", moves)
	}
	tr.close()
}

func TestAnAskOfAHookIsPutToPeopleAndItsAllowSkipsTheQuestion(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict hook.Verdict
		mode    permission.Mode
		asked   int
		want    string
		scope   string
	}{
		{"nobody asks where nothing must be asked", hook.Continue, permission.Default, 0, "did", ""},
		{"a hook asks", hook.Ask, permission.Default, 1, "did", "once"},
		{"a hook asks where everything is allowed", hook.Ask, permission.Bypass, 1, "did", "once"},
		{"a hook asks where nobody is asked", hook.Ask, permission.DontAsk, 0, "Nobody is asked in this mode", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTrial(t, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
			tr.mode = c.mode
			tr.hooks = []hook.Subscriber{{Name: "h", Scope: hook.ScopeUser, BeforeTool: func(context.Context, hook.ToolCall) (hook.ToolDecision, error) {
				return hook.ToolDecision{Verdict: c.verdict, Reason: "sure?"}, nil
			}}}
			tr.open()
			defer tr.lane.Questions().Attach(true)()
			var mu sync.Mutex
			asked := 0
			var scopes []string
			defer tr.lane.Listeners().Watch(func(e protocol.Event) {
				mu.Lock()
				defer mu.Unlock()
				switch b := e.Body.(type) {
				case *protocol.PermissionRequest:
					if len(b.Suggestions) == 0 {
						return
					}
					asked++
					if b.Reason != "h asks: sure?" {
						t.Errorf("reason %q", b.Reason)
					}
					go func() { // ends when the answer is stored
						if err := tr.lane.Questions().AnswerPermission(context.Background(), tr.caller(), b.PermissionID, 0, ""); err != nil {
							t.Error(err)
						}
					}()
				case *protocol.PermissionDecision:
					scopes = append(scopes, b.Scope)
				}
			})()
			tr.say("go")
			mu.Lock()
			defer mu.Unlock()
			if asked != c.asked || !strings.HasPrefix(tr.path()[2], "tool_result "+c.want) || strings.Join(scopes, " ") != c.scope {
				t.Errorf("asked %d times, decided %q, path %q", asked, scopes, tr.path())
			}
			tr.close()
		})
	}
}

// attend attaches somebody who answers each dialog.
func (tr *trial) attend(value string) (leave func()) {
	detach := tr.lane.Questions().Attach(true)
	stop := tr.lane.Listeners().Watch(func(e protocol.Event) {
		if b, ok := e.Body.(*protocol.UIRequest); ok {
			go func() { // ends with the answer
				_ = tr.lane.Questions().AnswerUI(tr.caller(), b.UIID, json.RawMessage(value))
			}()
		}
	})
	return func() { stop(); detach() }
}

func TestTheTimeOfACallIsWithoutTheWaitForADialogOfIt(t *testing.T) {
	tr := newTrial(t, `{"do":[{"call":"Do","input":{}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	var clock atomic.Int64 // seconds
	tr.now = func() time.Time { return time.Unix(1_000_000+clock.Load(), 0) }
	tr.do = func(ctx context.Context) {
		clock.Add(2)
		tr.lane.Questions().Dialog(ctx, protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Sure?", ToolCallID: tr.called}, 0)
		clock.Add(3)
	}
	tr.open()
	detach := tr.lane.Questions().Attach(true)
	stop := tr.lane.Listeners().Watch(func(e protocol.Event) {
		if b, ok := e.Body.(*protocol.UIRequest); ok {
			clock.Add(100) // it is read
			go func() {    // ends with the answer
				_ = tr.lane.Questions().AnswerUI(tr.caller(), b.UIID, json.RawMessage("true"))
			}()
		}
	})
	tr.say("do it")
	stop()
	detach()
	index := tr.lane.Log().Index()
	for e, err := range index.Back(t.Context(), index.Leaf()) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Message(); ok && m.Role == protocol.RoleToolResult {
			if got := m.ToolDetails().DurationMS; got != 5000 {
				t.Errorf("the call took %d ms", got)
			}
			return
		}
	}
	t.Error("there is no result")
}

func TestADialogIsAnsweredByWhoIsThere(t *testing.T) {
	tr := newTrial(t, again).open()
	options := []protocol.Option{{Label: "a"}, {Label: "b"}}
	if v, ok := tr.lane.Questions().Dialog(t.Context(), protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Sure?"}, 0); ok {
		t.Errorf("with nobody there it is answered: %s", v)
	}
	leave := tr.attend(`"b"`)
	if v, ok := tr.lane.Questions().Dialog(t.Context(), protocol.Dialog{Kind: protocol.DialogSelect, Title: "Which?", Options: options}, 0); !ok || string(v) != `"b"` {
		t.Errorf("answer %s %v", v, ok)
	}
	leave()
	leave = tr.attend("null")
	if v, ok := tr.lane.Questions().Dialog(t.Context(), protocol.Dialog{Kind: protocol.DialogInput, Title: "Name?"}, 0); ok {
		t.Errorf("a closed dialog is answered: %s", v)
	}
	leave()
	leave = tr.attend(`"c"`) // no option: it stays open
	if v, ok := tr.lane.Questions().Dialog(t.Context(), protocol.Dialog{Kind: protocol.DialogSelect, Title: "Which?", Options: options}, 50*time.Millisecond); ok {
		t.Errorf("an answer that is not an option: %s", v)
	}
	leave()
	if err := tr.lane.Publisher().Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if open := tr.lane.Publisher().Live().UI; len(open) != 0 {
		t.Errorf("left open: %+v", open)
	}
	if _, ok := tr.lane.Questions().Dialog(t.Context(), protocol.Dialog{Kind: "picture"}, 0); ok || !tr.reported("no dialog of kind") {
		t.Error("an unknown dialog is shown")
	}
	leave = tr.lane.Questions().Attach(true)
	done := make(chan bool, 1)
	go func() { // ends with the lane
		_, ok := tr.lane.Questions().Dialog(context.Background(), protocol.Dialog{Kind: protocol.DialogEditor, Title: "Text?"}, 0)
		done <- ok
	}()
	tr.wait(func() bool {
		return len(tr.shown()) > 0
	})
	leave()
	tr.close()
	if <-done {
		t.Error("a dialog outlives the session")
	}
}

func TestTheEndOfARunClosesItsDialogsAndNoOthers(t *testing.T) {
	tr := newTrial(t, again).open()
	defer tr.close()
	defer tr.lane.Questions().Attach(true)()
	dialog := protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Sure?"}
	own, apart := make(chan bool, 1), make(chan string, 1)
	open := tr.shown
	if err := tr.lane.AtBoundary(t.Context(), func(context.Context) error {
		go func() { // ends with the run
			_, ok := tr.lane.Questions().Dialog(context.Background(), dialog, 0)
			own <- ok
		}()
		go func() { // ends with the answer
			v, _ := tr.lane.Questions().DialogApart(context.Background(), dialog, 0)
			apart <- string(v)
		}()
		tr.wait(func() bool { return len(open()) == 2 })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if <-own {
		t.Error("the dialog of the run was answered")
	}
	left := open()
	if err := tr.lane.Publisher().Flush(t.Context()); err != nil || len(left) != 1 {
		t.Fatalf("open are %v, %v", left, err)
	}
	if shown := tr.lane.Publisher().Live().UI; len(shown) != 1 || shown[0].UIID != left[0] {
		t.Errorf("clients are shown %+v", shown)
	}
	if err := tr.lane.Questions().AnswerUI(tr.caller(), left[0], json.RawMessage("true")); err != nil {
		t.Error(err)
	}
	if v := <-apart; v != "true" {
		t.Errorf("answered %q", v)
	}
}

func TestWhoWatchesIsToldFromTheStartOfTheSessionToItsEnd(t *testing.T) {
	tr := newTrial(t, again)
	var mu sync.Mutex
	var told []string
	var order []string
	tr.hooks = []hook.Subscriber{{Name: "w", Scope: hook.ScopeUser,
		Happened: func(_ context.Context, h hook.Happening) {
			mu.Lock()
			defer mu.Unlock()
			var data map[string]any
			if err := json.Unmarshal(h.Data, &data); err != nil || data["sessionId"] != string(tr.lane.ID()) || len(data) < 2 {
				t.Errorf("%s: %v %s", h.Type, err, h.Data)
			}
			told, order = append(told, h.Type), append(order, h.Type)
		},
		Event: func(e protocol.Event) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, string(e.Type))
		}}}
	tr.open()
	tr.say("hello")
	other := "x/y"
	if err := tr.lane.UpdateInfo(t.Context(), tr.caller(), protocol.MetaChanges{Model: &other}); err != nil {
		t.Error(err)
	}
	tr.close()
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"session_start", "prompt_submit", "turn_finish", "model_select", "session_end"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
	for _, behind := range [][2]string{{"message", "prompt_submit"}, {"prompt_submit", "runtime_start"}, {"runtime_end", "turn_finish"}, {"session_info", "model_select"}} {
		if i, j := slices.Index(order, behind[0]), slices.Index(order, behind[1]); i < 0 || j < i {
			t.Errorf("%s is not told before %s: %q", behind[0], behind[1], order)
		}
	}
}

func TestClosingDoesNotWaitForAWatcherForEver(t *testing.T) {
	tr := newTrial(t, again)
	ended := make(chan struct{})
	tr.hooks = []hook.Subscriber{{Name: "w", Scope: hook.ScopeUser, Happened: func(ctx context.Context, h hook.Happening) {
		if h.Type == "session_end" {
			<-ctx.Done()
			close(ended)
		}
	}}}
	tr.open()
	tr.say("hello")
	began := time.Now()
	tr.close()
	<-ended
	if took := time.Since(began); took < listener.ShutdownTime/2 {
		t.Errorf("it took only %v", took)
	}
}

func TestWhatMustStandInTheContextIsToldOnce(t *testing.T) {
	tr := newTrial(t, again)
	tr.items = []protocol.Item{{Kind: protocol.ItemMemory, Origin: protocol.OriginSystem, Content: "remember", Visibility: protocol.VisibilityHidden}}
	tr.open()
	tr.say("one")
	tr.say("two")
	if got, want := tr.path(), []string{"user one", "memory remember", "assistant fine", "user two", "assistant fine"}; !slices.Equal(got, want) {
		t.Errorf("path %q, want %q", got, want)
	}
	tr.close()
}

func TestWithoutHooksNothingIsAsked(t *testing.T) {
	tr := newTrial(t, again).open()
	tr.say("one")
	if err := tr.lane.Additions().Add(t.Context(), note("x")); err != nil {
		t.Error(err)
	}
	tr.close()
	if err := tr.lane.Additions().Add(t.Context(), note("y")); err == nil || !errors.As(err, new(*protocol.Error)) {
		t.Errorf("behind the end: %v", err)
	}
}
