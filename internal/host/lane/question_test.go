package lane

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/host/lane/question"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// ask puts a dialog that belongs to no run, and returns its id and where its answer comes.
func (tr *trial) ask() (id string, answer chan string) {
	tr.t.Helper()
	answer = make(chan string, 1)
	tr.t.Cleanup(tr.lane.Questions().Attach(true))
	go func() { // ends with the answer
		v, _ := tr.lane.Questions().DialogApart(context.Background(), protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Sure?"}, 0)
		answer <- string(v)
	}()
	tr.wait(func() bool {
		for _, id = range tr.shown() {
			return true
		}
		return false
	})
	return id, answer
}

// shown are the dialogs that clients see.
func (tr *trial) shown() []string {
	tr.t.Helper()
	if err := tr.lane.Publisher().Flush(tr.t.Context()); err != nil {
		tr.t.Fatal(err)
	}
	var ids []string
	for _, u := range tr.lane.Publisher().Live().UI {
		ids = append(ids, u.UIID)
	}
	return ids
}

func TestAQuestionThatStaysIsShownAgainWhenSomethingCouldNotBeStored(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, again)
	tr.open()
	tr.say("hello")
	id, answer := tr.ask()
	disk.armed.Store(true)
	if _, err := tr.lane.Control(t.Context(), &protocol.Custom{Kind: "mark", Data: []byte("{}")}); err == nil {
		t.Fatal("it is stored")
	}
	if shown := tr.shown(); len(shown) != 1 || shown[0] != id {
		t.Errorf("clients are shown %v", shown)
	}
	if err := tr.lane.Questions().AnswerUI(tr.caller(), id, json.RawMessage("true")); err != nil || <-answer != "true" {
		t.Errorf("%v", err)
	}
	tr.close()
}

func TestAnAnswerIsToldAlsoWhileATurnEndsOfWhichSomethingWasLost(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	tr.do = func(context.Context) {
		id, answer := tr.ask()
		disk.armed.Store(true)
		if _, err := tr.lane.Control(context.Background(), &protocol.Custom{Kind: "mark", Data: []byte("{}")}); err == nil {
			t.Error("it is stored")
		}
		if shown := tr.shown(); len(shown) != 1 { // the turn has not come to its end: its call runs
			t.Errorf("clients are shown %v", shown)
		}
		if err := tr.lane.Questions().AnswerUI(tr.caller(), id, json.RawMessage("true")); err != nil || <-answer != "true" {
			t.Errorf("%v", err)
		}
		if shown := tr.shown(); len(shown) != 0 {
			t.Errorf("clients are shown %v", shown)
		}
	}
	tr.open()
	tr.say("go")
	tr.close()
}

// TestAQuestionBelowATurnOfAChannelIsOverWhenNobodyIsThereAnyMore: a sub-agent of a turn that
// waits for nobody does not wait either, when the only person who watched it has gone.
func TestAQuestionBelowATurnOfAChannelIsOverWhenNobodyIsThereAnyMore(t *testing.T) {
	const does = `{"do":[{"call":"Do","id":"c1","input":{}}]}`
	above, below := newTrial(t, does, again), newTrial(t, does, again)
	above.open()
	below.open()
	config := below.host.config
	below.host.config = func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
		c, err := config(ctx, m, o)
		if err == nil {
			c.Above = &Above{order: Order{Lane: above.lane, turn: above.lane.course.running.Load()}, asked: &question.Above{At: above.lane.questions}}
		}
		return c, err
	}
	decided := make(chan protocol.Decision, 1)
	below.do = func(ctx context.Context) {
		detach := below.lane.Questions().Attach(true)
		done := make(chan struct{})
		go func() { // ends with the answer
			defer close(done)
			a, err := below.lane.Questions().Ask(ctx, &protocol.PermissionRequest{PermissionID: "prm_1", ToolName: "Do", Args: json.RawMessage("{}")}, 0)
			if err != nil {
				t.Error(err)
			}
			decided <- a.Decision
		}()
		below.wait(func() bool { return len(below.lane.Publisher().Live().Permissions) == 1 })
		detach()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	above.do = func(context.Context) { below.say("go") }
	if err := above.lane.Inject(t.Context(), &protocol.ChannelInject{Channel: "chat", Content: "go"}); err != nil {
		t.Fatal(err)
	}
	select {
	case d := <-decided:
		if d != protocol.DecisionExpired {
			t.Errorf("it ends with %s", d)
		}
	case <-time.After(harness.Timeout):
		below.lane.Stop()
		t.Error("it waits for somebody")
	}
	above.rest()
	below.close()
	above.close()
}
