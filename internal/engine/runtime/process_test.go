package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// worker is a gadget that reports its work.
type worker struct {
	*gadget
	report func(ctx context.Context, call tool.Call) (tool.Result, error)
}

func newWorker(name string, report func(ctx context.Context, call tool.Call) (tool.Result, error)) *worker {
	w := &worker{newGadget(name, nil), report}
	w.spec.Parallel = true
	return w
}

func (w *worker) Prepare(_ context.Context, call tool.Call) (tool.Prepared, error) {
	return &work{prepared{g: w.gadget}, w, call}, nil
}

type work struct {
	prepared
	w    *worker
	call tool.Call
}

func (w *work) Label() string { return "skill of " + w.call.ID }

func (w *work) Run(ctx context.Context, _ func(string)) (tool.Result, error) {
	return w.w.report(ctx, w.call)
}

func processesOf(tr *trial) (told []string, summaries map[string]protocol.ProcessSummary) {
	tr.t.Helper()
	summaries = map[string]protocol.ProcessSummary{}
	for _, raw := range tr.events {
		switch b := raw.Body.(type) {
		case *protocol.ToolExecutionStart:
			told = append(told, "start "+b.ToolCallID)
		case *protocol.ToolProcess:
			told = append(told, fmt.Sprintf("%s %s %s %s", b.ToolCallID, b.ToolLabel, b.Event.Status, b.Event.Message))
			if b.AssistantEventID == "" || b.ToolName != "Work" {
				tr.t.Errorf("the event names neither its message nor its tool: %+v", b)
			}
		case *protocol.ToolExecutionEnd:
			told = append(told, "end "+b.ToolCallID)
		case *protocol.MessageBody:
			if b.Message.Process != nil {
				var s protocol.ProcessSummary
				if err := json.Unmarshal(b.Message.Process, &s); err != nil {
					tr.t.Fatal(err)
				}
				summaries[b.Message.ToolCallID] = s
			}
		}
	}
	return told, summaries
}

func TestWhatACallReportsIsToldBetweenItsStartAndItsEnd(t *testing.T) {
	w := newWorker("Work", func(_ context.Context, call tool.Call) (tool.Result, error) {
		call.Report(protocol.ProcessUpdate{Message: "first of " + call.ID})
		call.Report(protocol.ProcessUpdate{Message: "second of " + call.ID})
		call.LogStderr("a line")
		return tool.Result{Content: []protocol.Block{protocol.Text("done")}, IsError: call.ID == "c2"}, nil
	})
	tr := newTrial(t, []tool.Tool{w}, `{"do":[{"call":"Work","id":"c1","input":{}},{"call":"Work","id":"c2","input":{}}]}`, done)
	tr.run.Processes = progress.New(progress.Config{Session: "ses_1"})
	tr.execute(t.Context())
	told, summaries := processesOf(tr)
	for id, want := range map[string]string{
		"c1": "start c1;c1 skill of c1 running first of c1;c1 skill of c1 running second of c1;end c1",
		"c2": "start c2;c2 skill of c2 running first of c2;c2 skill of c2 running second of c2;c2 skill of c2 failed Failed;end c2",
	} {
		own := slices.DeleteFunc(slices.Clone(told), func(s string) bool { return !strings.Contains(s, id) })
		if got := strings.Join(own, ";"); got != want {
			t.Errorf("of %s was told %s", id, got)
		}
	}
	if s := summaries["c1"]; len(s.Events) != 2 || s.Latest.Message != "second of c1" || s.LogRef.OperationID != "tool-c1" {
		t.Errorf("the summary of c1 is %+v", s)
	}
	if s := summaries["c2"]; len(s.Events) != 3 || s.Latest.Status != protocol.ProcessFailed {
		t.Errorf("the summary of c2 is %+v", s)
	}
}

func TestACancelledCallEndsItsOperations(t *testing.T) {
	for _, c := range []struct {
		cause error
		why   string
	}{{context.Canceled, "Cancelled by user"}, {ErrHostStops, "Cancelled, because the host stopped"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newWorker("Work", func(ctx context.Context, call tool.Call) (tool.Result, error) {
			call.Report(protocol.ProcessUpdate{Message: "begun"})
			cancel(c.cause)
			<-ctx.Done()
			return tool.Result{}, nil
		})
		tr := newTrial(t, []tool.Tool{w}, `{"do":[{"call":"Work","id":"c1","input":{}}]}`, done)
		tr.run.Processes = progress.New(progress.Config{Session: "ses_1"})
		tr.execute(ctx)
		told, summaries := processesOf(tr)
		if want := []string{"start c1", "c1 skill of c1 running begun", "c1 skill of c1 cancelled " + c.why, "end c1"}; !slices.Equal(told, want) {
			t.Errorf("%q", told)
		}
		if s := summaries["c1"]; s.Latest == nil || s.Latest.Status != protocol.ProcessCancelled {
			t.Errorf("the summary is %+v", s)
		}
	}
}

func TestAToolThatPanicsLeavesNoOperationRunning(t *testing.T) {
	w := newWorker("Work", func(_ context.Context, call tool.Call) (tool.Result, error) {
		call.Report(protocol.ProcessUpdate{Message: "begun"})
		panic("a nil map")
	})
	tr := newTrial(t, []tool.Tool{w}, `{"do":[{"call":"Work","id":"c1","input":{}}]}`, done)
	tr.run.Processes = progress.New(progress.Config{Session: "ses_1"})
	tr.execute(t.Context())
	if _, summaries := processesOf(tr); summaries["c1"].Latest == nil || summaries["c1"].Latest.Status != protocol.ProcessFailed {
		t.Errorf("the summary is %+v", summaries["c1"])
	}
}
