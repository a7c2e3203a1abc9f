package lane

import (
	"context"
	"encoding/json"
	"testing"

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
