package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/engine/model"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const auxiliary = "\n[auxiliary]\nmodel = \"other\"\n"

func aside(text string) model.Request {
	return model.Request{System: "Be brief.", Messages: []protocol.Message{protocol.UserText(text)}}
}

func TestOnlyTheAuxiliaryModelIsAskedBesideAConversation(t *testing.T) {
	for _, api := range hosttest.APIs() {
		w := hosttest.New(t, hosttest.Setting{Other: api, Tables: auxiliary, Lines: []string{`{"again":true,"do":[{"text":"briefly"}]}`}}, `{"again":true,"do":[{"text":"main"}]}`)
		e := w.Begin(false)
		m, err := w.Host.Complete(t.Context(), e.ID, "", aside("secret words"))
		if err != nil || m.PlainText() != "briefly" || m.Role != protocol.RoleAssistant || m.Usage == nil {
			t.Fatalf("%s: %+v %v", api, m, err)
		}
		w.Judged()
		if a, b := w.Server.Count(), w.Second.Count(); a != 0 || b != 1 {
			t.Errorf("%s: the session's model was asked %d times, the auxiliary one %d", api, a, b)
		}
		all := strings.Join(w.Reports.List, "\n")
		if !strings.Contains(all, "asked other beside the conversation") || strings.Contains(all, "secret") || strings.Contains(all, "briefly") {
			t.Errorf("%s: the diagnostics: %s", api, all)
		}
	}
}

func TestWithoutAnAuxiliaryModelNothingIsAsked(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, `{"again":true,"do":[{"text":"main"}]}`)
	e := w.Begin(false)
	_, err := w.Host.Complete(t.Context(), e.ID, "", aside("x"))
	if pe := protocol.AsError(err); pe.Code != protocol.CodeInvalidRequest || !strings.Contains(pe.Message, "auxiliary.model") {
		t.Errorf("%v", err)
	}
	e.Say("hello")
	e.Say("again")
	if n := w.Server.Count(); n != 2 {
		t.Errorf("%d requests for two turns", n)
	}
}

func TestARequestBesideAConversationThatCannotFitIsRefusedUnsent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Window: 20_000, Other: "anthropic-messages", Tables: auxiliary, Lines: []string{`{"again":true,"do":[{"text":"x"}]}`}}, `{"again":true,"do":[{"text":"main"}]}`)
	e := w.Begin(false)
	for name, req := range map[string]model.Request{
		"needs at least one": {},
		"bytes of text":      aside(strings.Repeat("x", 5<<20)),
		"the window of":      aside(strings.Repeat("word ", 20_000)),
	} {
		if _, err := w.Host.Complete(t.Context(), e.ID, "", req); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Host.Complete(t.Context(), e.ID, "nothing/at-all", aside("x")); err == nil || !strings.Contains(err.Error(), "There is no model") {
		t.Errorf("%v", err)
	}
	if n := w.Second.Count(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestFourRequestsBesideConversationsRunAtOnceAndSixtyFourWait(t *testing.T) {
	arrived := make(chan struct{}, 100)
	w := hosttest.New(t, hosttest.Setting{Request: func([]byte) { arrived <- struct{}{} }}, `{"again":true,"do":[{"hang":true}]}`)
	e := w.Begin(false)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 100)
	for range 69 {
		go func() { // ends with ctx
			_, err := w.Host.Complete(ctx, e.ID, "mock", aside("x"))
			ended <- err
		}()
	}
	for range 4 {
		<-arrived
	}
	if pe := protocol.AsError(<-ended); pe.Code != protocol.CodeRateLimited { // the one too many
		t.Errorf("the first to end: %v", pe)
	}
	cancel()
	for range 68 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled one: %v", err)
		}
	}
	if n := w.Server.Count(); n != 4 {
		t.Errorf("%d were asked at once", n)
	}
}

func TestSummariesComeFromTheAuxiliaryModelOnlyWhereThatIsWanted(t *testing.T) {
	for name, c := range map[string]struct {
		tables      string
		lines       []string
		main, other int
		summary     string
	}{
		"not wanted": {auxiliary, nil, 1, 0, "The main one."},
		"wanted":     {auxiliary + "summaries = true\n", []string{`{"if":{"kind":"compact"},"do":[{"text":"The other one."}]}`}, 0, 1, "The other one."},
		"refused":    {auxiliary + "summaries = true\n", []string{`{"if":{"kind":"compact"},"do":[{"error":{"status":403}}]}`}, 1, 1, "The main one."},
		"empty":      {auxiliary + "summaries = true\n", []string{`{"if":{"kind":"compact"},"do":[{"text":" "}]}`}, 1, 1, "The main one."},
	} {
		w := hosttest.New(t, hosttest.Setting{Window: 20_000, Overrides: hosttest.FewTools(), Other: "openai-completions", Tables: c.tables, Lines: c.lines},
			`{"if":{"kind":"compact"},"do":[{"text":"The main one."}]}`, hosttest.Long, `{"again":true,"do":[{"text":"ok"}]}`)
		e := w.Begin(false)
		e.Say("fill")
		e.Say("more " + strings.Repeat("with words ", 900))
		before := w.Server.Count()
		r, err := client.Call[*protocol.Compacted](t.Context(), e.C, e.ID, &protocol.CompactSession{})
		if err != nil || r.EventID == "" {
			t.Fatalf("%s: %+v %v", name, r, err)
		}
		b := e.Until(hosttest.OfType(protocol.TypeCompact)).Body.(*protocol.Compact)
		if !strings.Contains(b.Summary, c.summary) || b.Usage == nil || b.Usage.OutputTokens == 0 {
			t.Errorf("%s: %+v", name, b)
		}
		if m, o := w.Server.Count()-before, w.Second.Count(); m != c.main || o != c.other {
			t.Errorf("%s: asked the session's model %d times and the auxiliary one %d times", name, m, o)
		}
	}
}

// What a model without a price costs is not counted: a limit in dollars would not hold.
func TestTheAuxiliaryModelWithoutAPriceMakesNoSummaryWhereDollarsAreLimited(t *testing.T) {
	for name, c := range map[string]struct{ limit, summary string }{
		"no limit":         {"", "The other one."},
		"dollars":          {"[limits]\nmaxBudgetUSD = 5\n", "The main one."},
		"minutes, no more": {"[limits]\nmaxTurnMinutes = 50\n", "The other one."},
	} {
		w := hosttest.New(t, hosttest.Setting{Window: 20_000, Overrides: hosttest.FewTools(), Other: "openai-completions", Tables: auxiliary + "summaries = true\n" + c.limit,
			Lines: []string{`{"if":{"kind":"compact"},"do":[{"text":"The other one."}]}`}},
			`{"if":{"kind":"compact"},"do":[{"text":"The main one."}]}`,
			`{"if":{"user":"^fill"},"do":[{"text":"many words here ","times":900}],"usage":{"inputTokens":19000,"outputTokens":5000}}`, `{"again":true,"do":[{"text":"ok"}]}`)
		e := w.Begin(false)
		e.Say("fill")
		e.Say("more " + strings.Repeat("with words ", 900))
		b := e.Until(hosttest.OfType(protocol.TypeCompact)).Body.(*protocol.Compact)
		if !strings.Contains(b.Summary, c.summary) {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

func TestTheConfigurationSaysWhatIsWrongWithTheAuxiliaryModel(t *testing.T) {
	for tables, want := range map[string]string{
		"[auxiliary]\nmodel = \"mock\"\n":    "",
		"[auxiliary]\nmodel = \"no/such\"\n": "auxiliary.model: ",
		"[auxiliary]\nsummaries = true\n":    "auxiliary.summaries does nothing",
		"[memory]\nconsolidate = true\n":     "memory.consolidate does nothing",
	} {
		w := hosttest.New(t, hosttest.Setting{Tables: tables}, `{"do":[{"text":"x"}]}`)
		r := hosttest.Call[*protocol.ConfigReport](t, w.Connect(false), "", &protocol.GetConfig{WorkDir: w.Project})
		if got := strings.Join(r.Notices, "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", tables, got)
		}
	}
}

func TestWhatRequestsBesideAConversationUseIsInItsSumOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Window: 20_000, Overrides: hosttest.FewTools(), Other: "openai-completions", Tables: auxiliary + "summaries = true\n",
		Lines: []string{`{"if":{"kind":"compact"},"do":[{"text":"They talked."}],"usage":{"inputTokens":5000,"outputTokens":50}}`, `{"again":true,"do":[{"text":"aside"}],"usage":{"inputTokens":70000,"outputTokens":700}}`}},
		`{"if":{"user":"^fill"},"do":[{"text":"many words here ","times":900}],"usage":{"inputTokens":100,"outputTokens":1}}`, `{"again":true,"do":[{"text":"ok"}],"usage":{"inputTokens":100,"outputTokens":2}}`)
	e := w.Begin(false)
	e.Say("fill")
	e.Say("more " + strings.Repeat("with words ", 900))
	hosttest.Call[*protocol.Compacted](t, e.C, e.ID, &protocol.CompactSession{})
	if _, err := w.Host.Complete(t.Context(), e.ID, "", aside("x")); err != nil {
		t.Fatal(err)
	}
	asked := e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.SessionInfo)
		return ok && b.Usage != nil
	}).Body.(*protocol.SessionInfo)
	if asked.Asked != "other" || asked.Usage.OutputTokens != 700 {
		t.Errorf("%+v %+v", asked, asked.Usage)
	}
	compact := e.Until(hosttest.OfType(protocol.TypeCompact)).Body.(*protocol.Compact)
	if compact.Usage.OutputTokens != 50 {
		t.Errorf("the compaction: %+v", compact.Usage)
	}
	const want = 1 + 2 + 50 + 700
	if got := e.S.Live.Usage.OutputTokens; got != want {
		t.Errorf("the client has a sum of %d, want %d", got, want)
	}
	w.Restart()
	again := w.Open(w.Connect(false), e.ID)
	if got := again.S.Live.Usage; got.OutputTokens != want || got.InputTokens < 70_000 {
		t.Errorf("the log has a sum of %+v, want %d out", got, want)
	}
}
