package runtime

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/model"
	"scorel/protocol"
)

func TestWaitsDoubleWithinAQuarterUpToHalfAMinute(t *testing.T) {
	for _, jitter := range []float64{0, 0.5, 0.999} {
		tr := newTrial(t, nil, `{"again":true,"do":[{"error":{"status":500}}]}`)
		tr.run.Jitter = func() float64 { return jitter }
		if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalModelError {
			t.Errorf("end: %+v", end)
		}
		if len(tr.waits) != 7 {
			t.Fatalf("waits: %v", tr.waits)
		}
		for i, w := range tr.waits {
			want := time.Duration(float64(min(500*time.Millisecond<<i, 30*time.Second)) * (0.75 + jitter/2))
			if w != want {
				t.Errorf("with %v wait %d is %v, want %v", jitter, i, w, want)
			}
		}
	}
}

// limited is a model with an output limit of its own that keeps its requests.
type limited struct {
	model.Model
	max      int
	requests []int // the limits that were asked for
}

func (l *limited) Info() model.Info {
	i := l.Model.Info()
	i.MaxTokens = l.max
	return i
}

func (l *limited) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	l.requests = append(l.requests, r.MaxTokens)
	return l.Model.Stream(ctx, r)
}

func TestTheFallbackIsAskedWithinItsOwnOutputLimit(t *testing.T) {
	over := `{"do":[{"error":{"status":529}}]}`
	tr := newTrial(t, nil, over, over, over)
	main := &limited{Model: tr.run.Model, max: 64_000}
	spare := &limited{Model: harness.Scripted(t, "script:spare", `{"do":[{"text":"here"}]}`), max: 4_000}
	tr.run.Model, tr.run.Fallback = main, spare
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	if len(spare.requests) != 1 || spare.requests[0] != 4_000 || len(main.requests) != 3 || main.requests[0] != defaultOutput {
		t.Errorf("limits: %v, of the fallback %v", main.requests, spare.requests)
	}
	if len(tr.waits) != 3 || tr.waits[2] != 0 {
		t.Errorf("waits: %v", tr.waits)
	}
}

func TestWhatGoesOnAtTheOutputLimitIsAskedForAtTheModelsLimitAtOnce(t *testing.T) {
	cut := `{"do":[{"text":"a"}],"stop":"max_tokens"}`
	tr := newTrial(t, nil, cut, cut, cut, `{"do":[{"text":"b"}]}`)
	main := &limited{Model: tr.run.Model, max: 64_000}
	tr.run.Model = main
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	if want := []int{defaultOutput, 64_000, 64_000, 64_000}; !slices.Equal(main.requests, want) {
		t.Errorf("limits: %v, want %v", main.requests, want)
	}
}

func TestOverloadsCountOnlyInARow(t *testing.T) {
	over := `{"do":[{"error":{"status":529}}]}`
	tr := newTrial(t, nil, over, over, `{"do":[{"error":{"status":500}}]}`, over, over, `{"do":[{"text":"here"}]}`)
	tr.run.Fallback = harness.Scripted(t, "script:spare")
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("the fallback was asked: %+v", end)
	}
}

func TestASilentStreamIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t, nil, `{"do":[{"text":"some"},{"hang":true}]}`, `{"do":[{"text":"all"}]}`)
		begun := time.Now()
		if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v", end)
		}
		if d := time.Since(begun); d != 120*time.Second {
			t.Errorf("it was given up after %v", d)
		}
		if len(tr.waits) != 1 {
			t.Errorf("waits: %v", tr.waits)
		}
	})
}

func TestATooLongRequestIsCompactedOnceAndThenSaysSo(t *testing.T) {
	long := `{"do":[{"error":{"tooLong":true}}]}`
	tr := newTrial(t, nil, `{"do":[{"text":"shown before"},{"error":{"status":500}}]}`, long, long)
	end := tr.execute(t.Context())
	if end.Terminal != protocol.TerminalPromptTooLong || end.Error == nil || end.Error.Message != "It does not fit." {
		t.Errorf("end: %+v %+v", end, end.Error)
	}
	if len(tr.desk.compacts) != 2 || tr.desk.compacts[0] != Refused {
		t.Errorf("compactions: %v", tr.desk.compacts)
	}
	last := tr.desk.messages[len(tr.desk.messages)-1]
	if last.PlainText() != "shown before" || !last.Partial {
		t.Errorf("what was shown is lost: %+v", tr.desk.messages)
	}
}

func TestTheUsageOfATurnCountsEachAnswerOnce(t *testing.T) {
	const usage = `"usage":{"inputTokens":10,"outputTokens":5}`
	tr := newTrial(t, nil, `{"do":[{"text":"cut"}],"stop":"max_tokens",`+usage+`}`, `{"do":[{"error":{"status":401}}]}`)
	main := &limited{Model: tr.run.Model, max: 64_000}
	tr.run.Model = main
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalModelError {
		t.Fatalf("end: %+v", end)
	}
	for _, e := range tr.events {
		if b, ok := e.Body.(*protocol.TurnEnd); ok && (b.Usage.InputTokens != 10 || b.Usage.OutputTokens != 5) {
			t.Errorf("usage: %+v", b.Usage)
		}
	}
	if last := tr.desk.messages[len(tr.desk.messages)-1]; last.PlainText() != "cut" || !last.Partial {
		t.Errorf("what was shown is lost: %+v", last)
	}
	tr.stored(protocol.Usage{InputTokens: 10, OutputTokens: 5})
	// An answer that was withdrawn, or that is empty, counts too.
	tr = newTrial(t, nil, `{"do":[{"text":"cut"}],"stop":"max_tokens",`+usage+`}`, `{"do":[{"text":"all"}],`+usage+`}`)
	tr.run.Model = &limited{Model: tr.run.Model, max: 64_000}
	tr.execute(t.Context())
	tr.stored(protocol.Usage{InputTokens: 20, OutputTokens: 10})
	tr = newTrial(t, nil, `{"do":[],`+usage+`}`)
	tr.execute(t.Context())
	tr.stored(protocol.Usage{InputTokens: 10, OutputTokens: 5})
}

// stored asserts what the events of a trial record, and that its turn says the same.
func (tr *trial) stored(want protocol.Usage) {
	tr.t.Helper()
	var all, turn protocol.Usage
	for _, e := range tr.events {
		if u := protocol.UsageOf(e.Body); u != nil {
			all.Add(*u)
		}
		if b, ok := e.Body.(*protocol.TurnEnd); ok {
			turn.Add(*b.Usage)
		}
	}
	if all != want || turn != want {
		tr.t.Errorf("the events record %+v, the end of the turn %+v, want %+v", all, turn, want)
	}
}

func TestSteeringAndFollowUpsAreTakenWhereTheyBelong(t *testing.T) {
	tr := newTrial(t, nil, `{"if":{"user":"look"},"do":[{"text":"one"}]}`, `{"if":{"user":"hurry"},"do":[{"text":"two"}]}`, `{"if":{"user":"next"},"do":[{"text":"three"}]}`)
	tr.desk.steer, tr.desk.follow = []string{"hurry"}, []string{"next"}
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	var s []string
	turns := 0
	for _, m := range tr.desk.messages {
		s = append(s, m.PlainText())
	}
	for _, e := range tr.events {
		if b, ok := e.Body.(*protocol.TurnStart); ok {
			if b.TurnIndex != turns {
				t.Errorf("turn %d has index %d", turns, b.TurnIndex)
			}
			turns++
		}
	}
	if got := strings.Join(s, ","); got != "look,one,hurry,two,next,three" || turns != 2 {
		t.Errorf("%d turns: %s", turns, got)
	}
}

// proxied ends its answers for a reason of its own.
type proxied struct{ model.Model }

func (p proxied) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for d, err := range p.Model.Stream(ctx, r) {
			if done, ok := d.(model.Done); ok {
				done.Unlisted = "FUNCTION_CALL"
				d = done
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func TestAnEndForAnUnlistedReasonIsALineInTheDiagnosticsAndNoRetry(t *testing.T) {
	tr := newTrial(t, nil, `{"do":[{"text":"here"}]}`)
	tr.run.Model = proxied{tr.run.Model}
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted || len(tr.waits) > 0 {
		t.Fatalf("end: %+v after %v", end, tr.waits)
	}
	if len(tr.reports) != 1 || !strings.Contains(tr.reports[0], "FUNCTION_CALL") {
		t.Errorf("reports: %q", tr.reports)
	}
}
