package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// failure is one way in which a model call fails.
type failure struct {
	name string
	line string // of the script
	// low and high bound the wait that follows, for the n-th failure in a row; no
	// wait follows when high is 0.
	low, high time.Duration
	shows     bool                  // a message was announced before
	reason    protocol.CancelReason // with which it is taken back
	end       protocol.Terminal     // of a turn that it ends at once
}

func failures() []failure {
	const half = 500 * time.Millisecond
	retried := func(name, do string, shows bool) failure {
		return failure{name: name, line: `{"do":[` + do + `]}`, low: half * 3 / 4, high: half * 5 / 4, shows: shows, reason: protocol.CancelRetry}
	}
	waited := retried("429 with Retry-After", `{"error":{"status":429,"retryAfter":3}}`, false)
	waited.low, waited.high = 3*time.Second, 3*time.Second
	limit := failure{name: "output limit", line: `{"do":[{"text":"Cut at the li"}],"stop":"max_tokens"}`, shows: true, reason: protocol.CancelMaxTokens}
	return []failure{
		waited,
		retried("529", `{"error":{"status":529}}`, false),
		retried("cut in the middle of a call", `{"text":"Let me look."},{"call":"Read","id":"c1","input":{"path":"a.txt","limit":10},"cut":true},{"cut":true}`, true),
		retried("a clean end without the end event", `{"text":"Let me"},{"cut":"clean"}`, true),
		retried("silence", `{"text":"Let me"},{"hang":true}`, true),
		retried("garbage", `{"text":"Let me"},{"garbage":true}`, true),
		retried("an error inside the stream", `{"text":"Let me"},{"error":{"status":529}}`, true),
		{name: "401", line: `{"do":[{"error":{"status":401}}]}`, end: protocol.TerminalModelError},
		{name: "prompt too long", line: `{"do":[{"error":{"tooLong":true}}]}`},
		limit,
	}
}

func TestFailuresAreRecoveredFrom(t *testing.T) {
	all := failures()
	find := func(name string) failure {
		return all[slices.IndexFunc(all, func(f failure) bool { return f.name == name })]
	}
	var cells [][]failure
	for _, f := range all {
		cells = append(cells, []failure{f})
	}
	for _, pair := range [][2]string{
		{"529", "529"},
		{"429 with Retry-After", "garbage"},
		{"cut in the middle of a call", "cut in the middle of a call"},
		{"a clean end without the end event", "an error inside the stream"},
		{"silence", "529"},
		{"garbage", "401"},
		{"output limit", "cut in the middle of a call"},
		{"an error inside the stream", "prompt too long"},
		{"prompt too long", "prompt too long"},
		{"output limit", "output limit"},
	} {
		cells = append(cells, []failure{find(pair[0]), find(pair[1])})
	}
	for _, api := range hosttest.APIs() {
		for _, cell := range cells {
			var names []string
			for _, f := range cell {
				names = append(names, f.name)
			}
			t.Run(api+"/"+strings.Join(names, ", then "), func(t *testing.T) {
				t.Parallel()
				recovers(t, api, cell)
			})
		}
	}
}

// recovers plays the failures, then a good answer, and checks what everybody saw.
func recovers(t *testing.T, api string, cell []failure) {
	var lines []string
	silence := 30 * time.Second
	end, answer := protocol.TerminalCompleted, "Recovered."
	for _, f := range cell {
		lines = append(lines, f.line)
		if f.name == "silence" {
			silence = time.Second
		}
		if f.end != "" {
			end, answer = f.end, ""
		}
	}
	tooLong, limits := 0, 0
	for _, f := range cell {
		switch f.name {
		case "prompt too long":
			tooLong++
		case "output limit":
			limits++
		}
	}
	if tooLong == 2 {
		end, answer = protocol.TerminalPromptTooLong, ""
	}
	if answer != "" {
		lines = append(lines, `{"do":[{"text":"Recovered."}]}`)
	}
	lines = append(lines, `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
	w := hosttest.New(t, hosttest.Setting{API: api, Silence: silence}, lines...)
	w.File("a.txt", "hello\n")
	e := w.Begin(false)
	got := e.Say("look")
	if got.Terminal != end {
		t.Fatalf("the turn ended %s (%v), want %s\n%s", got.Terminal, got.Error, end, e.Trace())
	}
	if end != protocol.TerminalCompleted && (got.Reason != protocol.EndError || got.Error == nil || got.Error.Code != protocol.CodeProviderError) {
		t.Errorf("the end of a failed turn: %+v %+v", got, got.Error)
	}
	e.Announced()

	var want []failure
	for _, f := range cell {
		if f.high > 0 {
			want = append(want, f)
		}
	}
	waits := w.Waits.All()
	if len(waits) != len(want) {
		t.Fatalf("waits: %v, want %d", waits, len(want))
	}
	for i, f := range want {
		factor := time.Duration(1)
		if i > 0 && f.low != f.high {
			factor = 1 << i // the doubling, from one try to the next
		}
		if waits[i] < f.low*factor || waits[i] > f.high*factor {
			t.Errorf("wait %d was %v, want %v to %v", i+1, waits[i], f.low*factor, f.high*factor)
		}
	}
	retries, cancelled := 0, []protocol.CancelReason(nil)
	for _, ev := range e.Events {
		switch b := ev.Body.(type) {
		case *protocol.Retry:
			retries++
			if b.Attempt != retries || b.MaxAttempts != 8 || b.Error == "" || time.Duration(b.DelayMS)*time.Millisecond != waits[retries-1].Truncate(time.Millisecond) {
				t.Errorf("retry %d: %+v", retries, b)
			}
		case *protocol.MessageCancelled:
			cancelled = append(cancelled, b.Reason)
		}
	}
	if retries != len(want) {
		t.Errorf("%d retry events, want %d", retries, len(want))
	}
	var reasons []protocol.CancelReason
	for i, f := range cell {
		if f.shows && !(f.name == "output limit" && i == 1 && limits == 2) {
			reasons = append(reasons, f.reason)
		}
	}
	var wantTexts []string
	switch {
	case limits == 2: // the second answer has the model's full limit, so it stands
		wantTexts = []string{"Cut at the li", "Recovered."}
	case answer != "":
		wantTexts = []string{answer}
	case cell[0].shows: // no further try follows: what was shown is kept
		wantTexts = []string{"Let me"}
	default: // why there is no answer
		wantTexts = []string{""}
	}
	if !slices.Equal(cancelled, reasons) {
		t.Errorf("taken back: %v, want %v", cancelled, reasons)
	}
	var texts []string
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleAssistant {
			texts = append(texts, m.PlainText())
			if m.Partial != (answer == "") {
				t.Errorf("the message %q has partial %v", m.PlainText(), m.Partial)
			}
		}
	}
	if !slices.Equal(texts, wantTexts) {
		t.Errorf("stored: %q, want %q", texts, wantTexts)
	}
	hosttest.Paired(t, e.Messages())
	if got := e.Say("go on"); got.Terminal != protocol.TerminalCompleted {
		t.Errorf("the next turn ended %+v %v\n%s", got, got.Error, e.Trace())
	}
	hosttest.Paired(t, e.Messages())
	w.Judged()
	t.Logf("%s: %s, waits %v, stored %q", api, end, waits, texts)
}

func TestEightTriesWaitTwiceAsLongEachTimeAndAtMostHalfAMinute(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, `{"again":true,"if":{"user":"look"},"do":[{"error":{"status":503}}]}`, `{"do":[{"text":"Back."}]}`)
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalModelError {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			if w.Server.Count() != 8 {
				t.Errorf("%d tries, want 8", w.Server.Count())
			}
			waits := w.Waits.All()
			if len(waits) != 7 {
				t.Fatalf("waits: %v", waits)
			}
			for i, d := range waits {
				middle := min(500*time.Millisecond<<i, 30*time.Second)
				if d < middle*3/4 || d > middle*5/4 {
					t.Errorf("wait %d was %v, want %v ± 25%%", i+1, d, middle)
				}
			}
			if slices.Equal(waits, []time.Duration{500e6, 1e9, 2e9, 4e9, 8e9, 16e9, 30e9}) {
				t.Error("the waits are not spread")
			}
			if m := e.Messages(); len(m) != 2 || !m[1].IsFailure() || !strings.HasPrefix(m[1].ErrorMessage, "gave up after 8 tries: ") {
				t.Errorf("the log does not say why there is no answer: %+v", m)
			}
			e.Say("hello?")
			w.Judged()
		})
	}
}

func TestALongRetryAfterIsNotWaitedFor(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"error":{"status":429,"retryAfter":61}}]}`)
	e := w.Begin(false)
	if end := e.Say("look"); end.Terminal != protocol.TerminalModelError || len(w.Waits.All()) != 0 {
		t.Errorf("end: %+v, waits %v", end, w.Waits.All())
	}
}

func TestTheLongestTextShownIsKeptWhenNoFurtherTryFollows(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			var lines []string
			for i := 1; i <= 8; i++ {
				n := i
				if i > 3 {
					n = 8 - i // the third is the longest
				}
				lines = append(lines, fmt.Sprintf(`{"do":[{"text":"word ","times":%d},{"cut":true}]}`, n+1))
			}
			lines = append(lines, `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
			w := hosttest.New(t, hosttest.Setting{API: api}, lines...)
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalModelError {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			e.Announced()
			m := e.Messages()
			last := m[len(m)-1]
			if len(m) != 2 || !last.Partial || last.StopReason != protocol.StopError || strings.Count(last.PlainText(), "word") != 5 || last.ErrorMessage == "" {
				t.Errorf("stored: %+v", m)
			}
			for _, ev := range e.Events {
				if b, ok := ev.Body.(*protocol.MessageStart); ok && e.Events[len(e.Events)-1].ID == b.EventID {
					t.Error("the message stands under an id that was taken back")
				}
			}
			e.Say("go on")
			w.Judged()
		})
	}
}

func TestThreeOverloadsHandTheRestOfTheTurnToTheFallback(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			over := `{"if":{"user":"look"},"do":[{"error":{"status":529}}]}`
			w := hosttest.New(t, hosttest.Setting{API: api, Fallback: true}, over, over, over,
				`{"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`, `{"do":[{"text":"It says hello."}]}`,
				`{"if":{"user":"and now"},"do":[{"text":"The first again."}]}`)
			w.File("a.txt", "hello\n")
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			said := false
			for _, ev := range e.Events {
				if b, ok := ev.Body.(*protocol.Retry); ok {
					said = said || strings.Contains(b.Error, "spare")
				}
			}
			if !said {
				t.Errorf("the change was not announced\n%s", e.Trace())
			}
			e.Say("and now")
			var models []string
			for _, r := range w.Server.Requests() {
				models = append(models, hosttest.ModelOf(r))
			}
			want := []string{"mock-1", "mock-1", "mock-1", "spare-1", "spare-1", "mock-1"}
			if !slices.Equal(models, want) {
				t.Errorf("models: %v, want %v", models, want)
			}
			for _, m := range e.Messages() {
				if m.Role == protocol.RoleAssistant && (m.Model == "spare-1") != (m.PlainText() != "The first again.") {
					t.Errorf("%q is said to be of %s", m.PlainText(), m.Model)
				}
			}
			w.Judged()
		})
	}
}

func TestATruncatedAnswerGoesOnThreeTimesAtMost(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, `{"again":true,"if":{"user":"look|Continue"},"do":[{"text":"part "}],"stop":"max_tokens"}`,
				`{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalMaxTokens {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			parts := 0
			for _, m := range e.Messages() {
				if m.Role == protocol.RoleAssistant && m.StopReason == protocol.StopMaxTokens && !m.Partial {
					parts++
				}
			}
			if parts != 4 {
				t.Errorf("%d parts are stored, want 4", parts)
			}
			e.Announced()
			e.Say("go on")
			w.Judged()
		})
	}
}

func TestACallThatTheOutputLimitTruncatedNeverRuns(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api},
				`{"do":[{"text":"a"},{"call":"Glob","id":"c1","input":{"pattern":"*"}},{"call":"Write","id":"c2","raw":"{\"path\":\"x\",\"cont"}],"stop":"max_tokens"}`,
				`{"do":[{"text":"a"},{"call":"Glob","id":"c3","input":{"pattern":"*"}},{"call":"Write","id":"c4","raw":"{\"path\":\"x\",\"cont"}],"stop":"max_tokens"}`,
				`{"do":[{"text":"done"}]}`)
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			var calls []string
			for _, m := range e.Messages() {
				for _, c := range m.Calls() {
					calls = append(calls, c.ID)
				}
			}
			if !slices.Equal(calls, []string{"c3"}) {
				t.Errorf("calls: %v, want the complete one of the second answer alone", calls)
			}
			hosttest.Paired(t, e.Messages())
			w.Judged()
		})
	}
}
