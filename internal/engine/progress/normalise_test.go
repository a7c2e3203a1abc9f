package progress

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"scorel/protocol"
)

func ptr(n float64) *float64 { return &n }

func number64(p *float64) any {
	if p == nil {
		return nil
	}
	return *p
}

var noon = time.Date(2026, 5, 6, 12, 0, 0, 5e6, time.UTC)

func TestWhatIsMissingInAReportGetsItsDefault(t *testing.T) {
	e := Normalise(protocol.ProcessUpdate{Message: "hello"}, noon)
	want := protocol.ProcessEvent{Version: 1, TargetType: "tool", Source: "tool", Status: "running", Level: "info", Message: "hello",
		Timestamp: "2026-05-06T12:00:00.005Z"}
	got, _ := json.Marshal(e)
	expect, _ := json.Marshal(want)
	if string(got) != string(expect) {
		t.Errorf("got  %s\nwant %s", got, expect)
	}
	e = Normalise(protocol.ProcessUpdate{TargetType: "planet", Source: "star", Status: "shining", Level: "loud", Stage: "s", Timestamp: "yesterday"}, noon)
	if e.TargetType != "tool" || e.Source != "tool" || e.Status != "running" || e.Level != "info" || e.Message != "s" || e.Timestamp != "2026-05-06T12:00:00.005Z" {
		t.Errorf("unknown words: %+v", e)
	}
	if e := Normalise(protocol.ProcessUpdate{Timestamp: "2026-05-06T04:07:17.187+08:00"}, noon); e.Timestamp != "2026-05-06T04:07:17.187+08:00" || e.Message != "running" {
		t.Errorf("a time that was given: %+v", e)
	}
}

func TestThePercentageIsGivenOrWorkedOutAndClamped(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name                    string
		current, total, percent *float64
		want                    any
	}{
		{"nothing", nil, nil, nil, nil},
		{"rounded", ptr(3), ptr(8), nil, 38.0},
		{"given is not rounded", ptr(3), ptr(8), ptr(12.5), 12.5},
		{"no total", ptr(3), nil, nil, nil},
		{"a total of 0", ptr(3), ptr(0), nil, nil},
		{"a negative total", ptr(3), ptr(-1), nil, nil},
		{"more than all", ptr(9), ptr(3), nil, 100.0},
		{"less than none", ptr(-9), ptr(3), nil, 0.0},
		{"given too much", nil, nil, ptr(1e300), 100.0},
		{"given too little", nil, nil, ptr(-5), 0.0},
		{"no number", ptr(1), ptr(2), &nan, 50.0},
		{"infinite", ptr(1), ptr(2), &inf, 50.0},
		{"a current that is none", &nan, ptr(2), nil, nil},
		{"a total that is none", ptr(1), &inf, nil, nil},
		{"a quotient beyond all numbers", ptr(1e308), ptr(1e-308), nil, 100.0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Normalise(protocol.ProcessUpdate{Current: c.current, Total: c.total, Percent: c.percent}, noon)
			if got := number64(e.Percent); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTextsOfAnEventAreCutAtTheirBounds(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	e := Normalise(protocol.ProcessUpdate{Message: long, Detail: long, Stage: long, TaskID: long, OperationID: long, ParentOperationID: long + "\xff"}, noon)
	for name, c := range map[string]struct {
		text string
		most int
	}{"message": {e.Message, maxMessage}, "detail": {e.Detail, maxDetail}, "stage": {e.Stage, maxWord}, "task": {e.TaskID, maxWord},
		"operation": {e.OperationID, maxWord}, "parent": {e.ParentOperationID, maxWord}} {
		if want := strings.Repeat("ä", c.most) + "..."; c.text != want {
			t.Errorf("%s has %d characters", name, utf8.RuneCountInString(c.text))
		}
	}
	if e := Normalise(protocol.ProcessUpdate{Message: "a\xffb"}, noon); e.Message != "a�b" {
		t.Errorf("bytes that are not text: %q", e.Message)
	}
}

func TestAPayloadKeepsScalarsAndNoSecrets(t *testing.T) {
	long := strings.Repeat("x", 501)
	for _, c := range []struct{ name, in, want string }{
		{"scalars", `{"n":1,"s":"a","b":true,"z":null,"f":1.5e3}`, `{"n":1,"s":"a","b":true,"z":null,"f":1.5e3}`},
		{"nested", `{"o":{"a":1},"l":[1,2]}`, `{"o":"[object]","l":"[object]"}`},
		{"secrets", `{"apiKey":"k","API_KEY":"k","api-key":"k","accessToken":1,"PASSWORD":{"a":1},"client_secret":true,"Authorization":"Bearer x","my.credential":"c","key":"fine"}`,
			`{"apiKey":"[redacted]","API_KEY":"[redacted]","api-key":"[redacted]","accessToken":"[redacted]","PASSWORD":"[redacted]","client_secret":"[redacted]","Authorization":"[redacted]","my.credential":"[redacted]","key":"fine"}`},
		{"a long text", `{"s":"` + long + `"}`, `{"s":"` + long[:500] + `..."}`},
		{"500 characters", `{"s":"` + long[:500] + `"}`, `{"s":"` + long[:500] + `"}`},
		{"a number that nobody can read", `{"n":1e999}`, `{"n":null}`},
		{"a number of many digits", `{"n":` + strings.Repeat("1", 60) + `}`, `{"n":1.1111111111111112e+59}`},
		{"the last of the same", `{"a":1,"a":2}`, `{"a":2}`},
		{"empty", `{}`, ``}, {"a list", `[1]`, ``}, {"a text", `"x"`, ``}, {"broken", `{"a":`, ``}, {"two", `{} {}`, ``}, {"nothing", ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Redact(json.RawMessage(c.in))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	var many strings.Builder
	for i := range 10_000 {
		many.WriteString(`,"` + strings.Repeat("k", i%7) + strings.Repeat("l", i%300) + `":"` + long[:300] + `"`)
	}
	got := Redact(json.RawMessage("{" + many.String()[1:200_000] + `"}`))
	var fields map[string]any
	if err := json.Unmarshal(got, &fields); err != nil || len(fields) > maxKeys || len(got) > maxPayload+maxKeys {
		t.Errorf("%d fields in %d bytes, %v", len(fields), len(got), err)
	}
}
