package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/engine/model"
	"scorel/protocol"
)

const auxiliary = "\n[auxiliary]\nmodel = \"other\"\n"

func aside(text string) model.Request {
	return model.Request{System: "Be brief.", Messages: []protocol.Message{protocol.UserText(text)}}
}

func TestOnlyTheAuxiliaryModelIsAskedBesideAConversation(t *testing.T) {
	for _, api := range apis() {
		w := newWorld(t, setting{other: api, tables: auxiliary, lines: []string{`{"again":true,"do":[{"text":"briefly"}]}`}}, `{"again":true,"do":[{"text":"main"}]}`)
		e := w.begin(false)
		m, err := w.host.Complete(t.Context(), e.id, "", aside("secret words"))
		if err != nil || m.PlainText() != "briefly" || m.Role != protocol.RoleAssistant || m.Usage == nil {
			t.Fatalf("%s: %+v %v", api, m, err)
		}
		w.judged()
		if a, b := w.server.Count(), w.second.Count(); a != 0 || b != 1 {
			t.Errorf("%s: the session's model was asked %d times, the auxiliary one %d", api, a, b)
		}
		all := strings.Join(w.reports.list, "\n")
		if !strings.Contains(all, "asked other beside the conversation") || strings.Contains(all, "secret") || strings.Contains(all, "briefly") {
			t.Errorf("%s: the diagnostics: %s", api, all)
		}
	}
}

func TestWithoutAnAuxiliaryModelNothingIsAsked(t *testing.T) {
	w := newWorld(t, setting{serving: true}, `{"again":true,"do":[{"text":"main"}]}`)
	e := w.begin(false)
	_, err := w.host.Complete(t.Context(), e.id, "", aside("x"))
	if pe := protocol.AsError(err); pe.Code != protocol.CodeInvalidRequest || !strings.Contains(pe.Message, "auxiliary.model") {
		t.Errorf("%v", err)
	}
	e.say("hello")
	e.say("again")
	if n := w.server.Count(); n != 2 {
		t.Errorf("%d requests for two turns", n)
	}
}

func TestARequestBesideAConversationThatCannotFitIsRefusedUnsent(t *testing.T) {
	w := newWorld(t, setting{window: 20_000, other: "anthropic-messages", tables: auxiliary, lines: []string{`{"again":true,"do":[{"text":"x"}]}`}}, `{"again":true,"do":[{"text":"main"}]}`)
	e := w.begin(false)
	for name, req := range map[string]model.Request{
		"needs at least one": {},
		"bytes of text":      aside(strings.Repeat("x", 5<<20)),
		"the window of":      aside(strings.Repeat("word ", 20_000)),
	} {
		if _, err := w.host.Complete(t.Context(), e.id, "", req); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.host.Complete(t.Context(), e.id, "nothing/at-all", aside("x")); err == nil || !strings.Contains(err.Error(), "There is no model") {
		t.Errorf("%v", err)
	}
	if n := w.second.Count(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestFourRequestsBesideConversationsRunAtOnceAndSixtyFourWait(t *testing.T) {
	arrived := make(chan struct{}, 100)
	w := newWorld(t, setting{request: func([]byte) { arrived <- struct{}{} }}, `{"again":true,"do":[{"hang":true}]}`)
	e := w.begin(false)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 100)
	for range 69 {
		go func() { // ends with ctx
			_, err := w.host.Complete(ctx, e.id, "mock", aside("x"))
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
	if n := w.server.Count(); n != 4 {
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
		w := newWorld(t, setting{window: 20_000, overrides: fewTools(), other: "openai-completions", tables: c.tables, lines: c.lines},
			`{"if":{"kind":"compact"},"do":[{"text":"The main one."}]}`, long, `{"again":true,"do":[{"text":"ok"}]}`)
		e := w.begin(false)
		e.say("fill")
		e.say("more " + strings.Repeat("with words ", 900))
		before := w.server.Count()
		r, err := client.Call[*protocol.Compacted](t.Context(), e.c, e.id, &protocol.CompactSession{})
		if err != nil || r.EventID == "" {
			t.Fatalf("%s: %+v %v", name, r, err)
		}
		b := e.until(ofType(protocol.TypeCompact)).Body.(*protocol.Compact)
		if !strings.Contains(b.Summary, c.summary) || b.Usage == nil || b.Usage.OutputTokens == 0 {
			t.Errorf("%s: %+v", name, b)
		}
		if m, o := w.server.Count()-before, w.second.Count(); m != c.main || o != c.other {
			t.Errorf("%s: asked the session's model %d times and the auxiliary one %d times", name, m, o)
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
		w := newWorld(t, setting{tables: tables}, `{"do":[{"text":"x"}]}`)
		r := call[*protocol.ConfigReport](t, w.connect(false), "", &protocol.GetConfig{WorkDir: w.project})
		if got := strings.Join(r.Notices, "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", tables, got)
		}
	}
}

func TestWhatRequestsBesideAConversationUseIsInItsSumOnce(t *testing.T) {
	w := newWorld(t, setting{window: 20_000, overrides: fewTools(), other: "openai-completions", tables: auxiliary + "summaries = true\n",
		lines: []string{`{"if":{"kind":"compact"},"do":[{"text":"They talked."}],"usage":{"inputTokens":5000,"outputTokens":50}}`, `{"again":true,"do":[{"text":"aside"}],"usage":{"inputTokens":70000,"outputTokens":700}}`}},
		`{"if":{"user":"^fill"},"do":[{"text":"many words here ","times":900}],"usage":{"inputTokens":100,"outputTokens":1}}`, `{"again":true,"do":[{"text":"ok"}],"usage":{"inputTokens":100,"outputTokens":2}}`)
	e := w.begin(false)
	e.say("fill")
	e.say("more " + strings.Repeat("with words ", 900))
	call[*protocol.Compacted](t, e.c, e.id, &protocol.CompactSession{})
	if _, err := w.host.Complete(t.Context(), e.id, "", aside("x")); err != nil {
		t.Fatal(err)
	}
	asked := e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.SessionInfo)
		return ok && b.Usage != nil
	}).Body.(*protocol.SessionInfo)
	if asked.Asked != "other" || asked.Usage.OutputTokens != 700 {
		t.Errorf("%+v %+v", asked, asked.Usage)
	}
	compact := e.until(ofType(protocol.TypeCompact)).Body.(*protocol.Compact)
	if compact.Usage.OutputTokens != 50 {
		t.Errorf("the compaction: %+v", compact.Usage)
	}
	const want = 1 + 2 + 50 + 700
	if got := e.s.Live.Usage.OutputTokens; got != want {
		t.Errorf("the client has a sum of %d, want %d", got, want)
	}
	w.restart()
	again := w.open(w.connect(false), e.id)
	if got := again.s.Live.Usage; got.OutputTokens != want || got.InputTokens < 70_000 {
		t.Errorf("the log has a sum of %+v, want %d out", got, want)
	}
}
