package runtime

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

func TestTheTimeOfATurnEndsWhateverItWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		kept  string // what is stored of the answer
	}{
		"a model that says nothing":       {[]string{`{"do":[{"hang":true}]}`}, ""},
		"a model in the middle of a text": {[]string{`{"do":[{"text":"half"},{"hang":true}]}`}, "half"},
		"a wait for another try":          {[]string{`{"do":[{"error":{"status":529,"retryAfter":50}}]}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := newTrial(t, nil, c.lines...)
				tr.run.Sleep = nil // in real time
				tr.run.Limits.Spend.Time = 30 * time.Second
				begun := time.Now()
				end := tr.execute(t.Context())
				if d := time.Since(begun); d != 30*time.Second {
					t.Errorf("it ended after %v, want 30 s", d)
				}
				tr.reaches(end, protocol.LimitUse{Kind: protocol.LimitTime, Where: protocol.LimitOfTurn, Used: 0.5, Limit: 0.5}, protocol.CodeTimeLimit, "0.5 of 0.5 minutes")
				last := tr.desk.messages[len(tr.desk.messages)-1]
				if last.PlainText() != c.kept || last.StopReason != protocol.StopError || last.ErrorMessage != end.Error.Message {
					t.Errorf("stored of the answer: %+v", last)
				}
			})
		})
	}
}

func TestTheTimeOfATurnStandsStillWhileAPersonIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(nil)
		asks := newGadget("Ask", func(ctx context.Context, _ json.RawMessage, _ func(string)) (tool.Result, error) {
			defer budget.Wait()()
			return tool.Result{Content: []protocol.Block{protocol.Text("blue")}}, Sleep(ctx, time.Hour)
		})
		tr := newTrial(t, []tool.Tool{asks}, `{"do":[{"call":"Ask","input":{}}]}`, `{"do":[{"text":"Blue."}]}`)
		tr.run.Limits.Spend.Time = 30 * time.Second
		tr.run.Budget = budget
		if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
			t.Errorf("end: %+v %v", end, end.Error)
		}
	})
}

func TestAnAnswerThatIsCompleteAtALimitIsASuccess(t *testing.T) {
	for name, c := range map[string]struct {
		line     string
		terminal protocol.Terminal
	}{
		"complete":   {`{"do":[{"text":"All of it."}],` + spending + `}`, protocol.TerminalCompleted},
		"cut":        {`{"do":[{"text":"Half of"}],"stop":"max_tokens",` + spending + `}`, protocol.TerminalBudget},
		"with calls": {`{"do":[{"text":"I work."},{"call":"Work","input":{}}],` + spending + `}`, protocol.TerminalBudget},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, []tool.Tool{newGadget("Work", answers("worked"))}, c.line)
			tr.run.Limits.Spend.Tokens = 50
			end := tr.execute(t.Context())
			if end.Terminal != c.terminal || end.Limit == nil || end.Limit.Kind != protocol.LimitTokens || (end.Error == nil) != (c.terminal == protocol.TerminalCompleted) {
				t.Errorf("end: %+v %+v %v", end, end.Limit, end.Error)
			}
			told := false
			for _, m := range tr.desk.messages {
				told = told || strings.Contains(m.ErrorMessage, "The run stopped")
			}
			if told != (c.terminal == protocol.TerminalBudget) {
				t.Errorf("the log says that it stopped: %v; %+v", told, tr.desk.messages)
			}
		})
	}
}

func TestAnAnswerThatStaysCutIsToldOnceAndAContinuedOneIsNot(t *testing.T) {
	cut, rest := `{"do":[{"text":"a"}],"stop":"max_tokens"}`, `{"do":[{"text":"b"}]}`
	tr := newTrial(t, nil, cut, cut, cut, rest) // the first one is withdrawn
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted || end.Error != nil {
		t.Errorf("continued: %+v", end)
	}
	for _, m := range tr.desk.messages {
		if m.ErrorMessage != "" || m.Partial {
			t.Errorf("a message of a continued answer is a failure: %+v", m)
		}
	}
	tr = newTrial(t, nil, `{"again":true,"do":[{"text":"a"}],"stop":"max_tokens"}`)
	end := tr.execute(t.Context())
	if end.Terminal != protocol.TerminalMaxTokens || end.Error == nil || end.Error.Code != protocol.CodeOutputLimit {
		t.Fatalf("cut: %+v %v", end, end.Error)
	}
	last := tr.desk.messages[len(tr.desk.messages)-1]
	if !last.IsFailure() || last.ErrorMessage != end.Error.Message {
		t.Errorf("the log ends with %+v", last)
	}
}
