package script_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t testing.TB, text string) *script.Model {
	t.Helper()
	s, err := script.Parse(strings.NewReader(text), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return script.New(script.Config{Script: s})
}

func step(messages ...protocol.Message) model.Request {
	return model.Request{Kind: model.KindStep, Messages: messages}
}

func play(t *testing.T, m *script.Model, req model.Request) (modeltest.Answer, error) {
	t.Helper()
	return modeltest.Collect(m.Stream(t.Context(), req))
}

func TestPlaysAllKindsOfContent(t *testing.T) {
	m := load(t, `{"script":1,"window":5000,"chunk":3}
# a comment
{"do":[{"thinking":"hm"},{"text":"äöü","times":2},{"text":"!"},{"call":"Read","id":"c1","input":{"path":"a"}},{"call":"Read","raw":"{\"pa"}]}`)
	a, err := play(t, m, step(protocol.UserText("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Content) != 4 || a.Content[0].Thinking != "hm" || a.Content[1].Text != "äöüäöü!" || a.Content[2].ID != "c1" ||
		string(a.Content[2].Input) != `{"path":"a"}` || a.Content[3].ID == "" || len(a.Invalid) != 1 {
		t.Fatalf("%+v", a)
	}
	if a.Done.StopReason != protocol.StopToolUse || a.Done.Usage.InputTokens == 0 || a.Done.Usage.OutputTokens == 0 {
		t.Fatalf("%+v", a.Done)
	}
	if i := m.Info(); i.Ref != "script:s.jsonl" || i.ContextWindow != 5000 || i.API != model.APIScript {
		t.Fatalf("%+v", i)
	}
}

func TestChunksAreExactAndVaryOnlyByTheSeed(t *testing.T) {
	chunks := func(head string) []string {
		var out []string
		m := load(t, head+"\n"+`{"do":[{"text":"0123456789ä"}]}`)
		for d := range m.Stream(t.Context(), step(protocol.UserText("x"))) {
			if d, ok := d.(model.TextDelta); ok {
				out = append(out, d.Text)
			}
		}
		return out
	}
	if got := strings.Join(chunks(`{"script":1,"chunk":4}`), "|"); got != "0123|4567|89ä" {
		t.Error(got)
	}
	if got := strings.Join(chunks(`{"script":1}`), "|"); got != "0123456789ä" {
		t.Error(got)
	}
	seven := strings.Join(chunks(`{"script":1,"chunk":2,"seed":7}`), "|")
	if again := strings.Join(chunks(`{"script":1,"chunk":2,"seed":7}`), "|"); again != seven || strings.ReplaceAll(seven, "|", "") != "0123456789ä" {
		t.Errorf("%s and %s", seven, again)
	}
}

func TestFirstUnusedLineThatFitsIsPlayed(t *testing.T) {
	m := load(t, `{"script":1}
{"if":{"kind":"compact"},"again":true,"do":[{"text":"summary"}]}
{"if":{"user":"fix"},"do":[{"text":"one"}]}
{"if":{"user":"fix","result":"ok"},"do":[{"text":"never"}]}
{"if":{"result":"FAIL"},"do":[{"text":"two"}]}
{"if":{"result":"."},"again":true,"do":[{"text":"three"}]}
{"do":[{"text":"four"}]}`)
	user := protocol.UserText("please fix it")
	calls := protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c", "Bash", nil)}}
	result := func(s string) protocol.Message {
		return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", Content: []protocol.Block{protocol.Text(s)}}
	}
	compact := step(user)
	compact.Kind = model.KindCompact
	for i, tt := range []struct {
		req  model.Request
		want string
	}{
		{step(user), "one"},
		{compact, "summary"},
		{step(user, calls, result("x FAIL y")), "two"},
		{step(user, calls, result("x FAIL y")), "three"}, // two is used
		{step(user, calls, result("fine")), "three"},
		{compact, "summary"},
		{step(user), "four"},
	} {
		a, err := play(t, m, tt.req)
		if err != nil || a.Text != tt.want {
			t.Fatalf("call %d: %q, %v; want %q", i, a.Text, err, tt.want)
		}
	}
	_, err := play(t, m, step(user))
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassInvalid || !strings.HasPrefix(e.Message, "s.jsonl:7: no unused line fits") {
		t.Fatalf("got %v", err)
	}
}

func TestLinesAreUnusedAgainInANewProcess(t *testing.T) {
	text := `{"script":1}` + "\n" + `{"if":{"user":"a"},"do":[{"text":"one"}]}` + "\n" + `{"if":{"user":"b"},"do":[{"text":"two"}]}`
	for range 2 {
		a, err := play(t, load(t, text), step(protocol.UserText("a"), protocol.Message{Role: protocol.RoleAssistant}, protocol.UserText("b")))
		if err != nil || a.Text != "two" {
			t.Fatalf("%q %v", a.Text, err)
		}
	}
}

func TestMadeUpIdsDifferBetweenStepsOfAConversation(t *testing.T) {
	m := load(t, `{"script":1}`+"\n"+`{"again":true,"do":[{"call":"Read","input":{}}]}`)
	a, err1 := play(t, m, step(protocol.UserText("x")))
	b, err2 := play(t, m, step(protocol.UserText("x"), a.Message(m.Info()), protocol.ToolError(a.Content[0].ID, "Read", "no")))
	if err1 != nil || err2 != nil || a.Content[0].ID == b.Content[0].ID {
		t.Fatalf("%+v %+v", a, b)
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		do    string
		class model.Class
		text  string // shown before
		open  int
	}{
		{`{"text":"half"},{"cut":true}`, model.ClassTransient, "half", 1},
		{`{"text":"half"},{"cut":"clean"}`, model.ClassTransient, "half", 1},
		{`{"call":"Read","id":"c","input":{"path":"abc"},"cut":true}`, model.ClassTransient, "", 1},
		{`{"error":{"status":529,"retryAfter":1.5}}`, model.ClassOverloaded, "", 0},
		{`{"error":{"status":429}}`, model.ClassTransient, "", 0},
		{`{"error":{"status":0}}`, model.ClassTransient, "", 0},
		{`{"error":{"status":401}}`, model.ClassAuth, "", 0},
		{`{"error":{"status":400}}`, model.ClassInvalid, "", 0},
		{`{"error":{"tooLong":true}}`, model.ClassTooLong, "", 0},
		{`{"garbage":true}`, model.ClassTransient, "", 0},
		{`{"html":true}`, model.ClassTransient, "", 0},
	}
	for _, tt := range tests {
		a, err := play(t, load(t, "{\"script\":1}\n{\"do\":["+tt.do+"]}"), step(protocol.UserText("x")))
		var e *model.Error
		if !errors.As(err, &e) || e.Class != tt.class || a.Text != tt.text || a.Open != tt.open || !strings.HasPrefix(e.Message, "s.jsonl:2: ") {
			t.Errorf("%s: %+v, %v", tt.do, a, err)
		}
		if strings.Contains(tt.do, "retryAfter") && e.RetryAfter != 1500*time.Millisecond {
			t.Errorf("%s: %v", tt.do, e.RetryAfter)
		}
	}
}

func TestDelaysAndWaitsTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := load(t, `{"script":1,"chunk":1,"delayMs":10}`+"\n"+`{"do":[{"text":"abcd"},{"wait":500},{"text":"e"}]}`)
		begin := time.Now()
		if _, err := play(t, m, step(protocol.UserText("x"))); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 550*time.Millisecond {
			t.Fatalf("took %v", took)
		}
	})
}

func TestALatePieceDoesNotDelayTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := script.Parse(strings.NewReader(`{"script":1,"chunk":1,"delayMs":10}`+"\n"+`{"do":[{"text":"abcdefgh"}]}`), "s.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		late := map[int]time.Duration{1: 35 * time.Millisecond, 5: time.Second} // the first is caught up with, the second is too much
		n := 0
		m := script.New(script.Config{Script: s, Sleep: func(_ context.Context, d time.Duration) error {
			n++
			time.Sleep(d + late[n])
			return nil
		}})
		begin := time.Now()
		var at []time.Duration
		for d, err := range m.Stream(t.Context(), step(protocol.UserText("x"))) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := d.(model.TextDelta); ok {
				at = append(at, time.Since(begin)/time.Millisecond)
			}
		}
		if want := []time.Duration{45, 45, 45, 45, 1050, 1060, 1070, 1080}; !slices.Equal(at, want) {
			t.Fatalf("pieces after %v ms, want %v", at, want)
		}
	})
}

func TestHangAndWaitEndWithTheContext(t *testing.T) {
	for _, do := range []string{`{"hang":true}`, `{"wait":3600000}`} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m := load(t, "{\"script\":1}\n{\"do\":["+do+"]}")
			if _, err := modeltest.Collect(m.Stream(ctx, step(protocol.UserText("x")))); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: %v", do, err)
			}
		})
	}
}

func TestMistakesAreNamedWithFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		``:                              "s.jsonl:1: a script begins with",
		`{"script":2}`:                  "s.jsonl:1: a script begins with",
		`{"do":[]}`:                     "s.jsonl:1: it is not a script of answers",
		"{\"script\":1}\n{\"does\":[]}": `s.jsonl:2: json: unknown field "does"`,
		"{\"script\":1}\n\n{\"do\":[{\"text\":\"a\",\"wait\":1}]}": "s.jsonl:3: step 1: a step does one thing",
		"{\"script\":1}\n{\"do\":[{}]}":                            "s.jsonl:2: step 1: a step does one thing",
		"{\"script\":1}\n{\"do\":[{\"cut\":3}]}":                   "s.jsonl:2: step 1: cut is true",
		"{\"script\":1}\n{\"if\":{\"user\":\"(\"},\"do\":[]}":      "s.jsonl:2: error parsing regexp",
		"{\"script\":1}\n{\"if\":{\"kind\":\"nap\"},\"do\":[]}":    "s.jsonl:2: kind is step or compact",
		"{\"script\":1}\n{\"do\":[],\"stop\":\"now\"}":             "s.jsonl:2: stop is",
		"{\"script\":1}\n{\"do\":[]} {}":                           "s.jsonl:2: more than one value",
		"{\"script\":1}\n{\"do\":[{\"text\":\"a\",\"times\":-1}]}": "s.jsonl:2: step 1: times",
	} {
		_, err := script.Parse(strings.NewReader(text), "s.jsonl")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := script.Load(filepath.Join(t.TempDir(), "none.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestUsageIsTheScripts(t *testing.T) {
	m := load(t, `{"script":1}`+"\n"+`{"do":[{"text":"a"}],"stop":"max_tokens","usage":{"inputTokens":7,"outputTokens":8}}`)
	a, err := play(t, m, step(protocol.UserText("x")))
	if err != nil || a.Done.Usage != (protocol.Usage{InputTokens: 7, OutputTokens: 8}) || a.Done.StopReason != protocol.StopMaxTokens {
		t.Fatalf("%+v %v", a.Done, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"script":1,"chunk":2,"seed":3}` + "\n" + `{"if":{"user":"a"},"do":[{"text":"x"},{"wait":0},{"call":"R","raw":"{"}]}`)
	f.Add(`{"script":1}` + "\n" + `{"do":[{"text":"x"},{"cut":"clean"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := script.Parse(strings.NewReader(text), "s.jsonl")
		if err != nil {
			return
		}
		noWait := func(context.Context, time.Duration) error { return nil }
		m := script.New(script.Config{Script: s, Sleep: noWait})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // for hang
		defer cancel()
		_, err = modeltest.Collect(m.Stream(ctx, step(protocol.UserText("a"))))
		if err != nil && strings.Contains(err.Error(), "modeltest: ") {
			t.Fatal(err)
		}
	})
}

func TestFieldsOfACallAreFilledFromTheRequest(t *testing.T) {
	m := load(t, `{"script":1}
{"again":true,"do":[{"call":"TaskOutput","id":"c1","input":{"task_id":"?","none":"kept"},"fill":{"task_id":"task_\\w+","none":"nowhere","word":"says (\\w+)"}}]}`)
	a, err := play(t, m, step(protocol.UserText("it was task_old and says a"), protocol.UserText("now task_new says bye")))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(a.Content[0].Input); got != `{"none":"kept","task_id":"task_new","word":"bye"}` {
		t.Errorf("the input is %s", got)
	}
	if _, err := script.Parse(strings.NewReader("{\"script\":1}\n{\"do\":[{\"call\":\"X\",\"fill\":{\"a\":\"(\"}}]}"), "s"); err == nil || !strings.Contains(err.Error(), "s:2: step 1: fill a") {
		t.Errorf("a pattern that is none: %v", err)
	}
}

func TestStampedPiecesSayWhenTheyWereGivenAndTheBlockIsTheirSum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := load(t, `{"script":1,"chunk":2,"delayMs":5,"stamp":true}
{"do":[{"text":"abcd"}]}
{"do":[{"text":"ef"}]}`)
		begun := time.Now()
		want := fmt.Sprintf("@%d;ab@%d;cd", begun.Add(5*time.Millisecond).UnixNano(), begun.Add(10*time.Millisecond).UnixNano())
		a, err := play(t, m, step(protocol.UserText("hello")))
		if err != nil || a.Content[0].Text != want {
			t.Errorf("%q, %v; want %q", a.Content[0].Text, err, want)
		}
		a, err = play(t, m, step(protocol.UserText("hello")))
		if want := fmt.Sprintf("@%d;ef", begun.Add(15*time.Millisecond).UnixNano()); err != nil || a.Content[0].Text != want {
			t.Errorf("the next answer: %q, %v; want %q", a.Content[0].Text, err, want)
		}
	})
}
