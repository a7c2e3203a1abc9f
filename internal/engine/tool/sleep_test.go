package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// sleepsFor is a [Sleeper] that sleeps for so long, and says why.
type sleepsFor struct {
	d   time.Duration
	why string
}

func (s sleepsFor) Sleep(context.Context, time.Duration) (time.Duration, string, error) {
	return s.d, s.why, nil
}

func TestSleepSaysHowLongItSleptAndWhyItEnded(t *testing.T) {
	for _, c := range []struct {
		input string
		with  Sleeper
		want  string
	}{
		{`{"seconds":90}`, sleepsFor{90 * time.Second, ""}, "You have slept for 1m30s."},
		{`{"seconds":90}`, sleepsFor{1600 * time.Millisecond, "a message waits"}, "The sleep ended after 2s of 1m30s: a message waits."},
		{`{"seconds":0}`, sleepsFor{}, "it can be 1 to 3600"},
		{`{"seconds":3601}`, sleepsFor{}, "it can be 1 to 3600"},
		{`{"seconds":1}`, nil, "proactive mode is off"},
	} {
		p, err := sleepTool{}.With(Setting{}, Session{Sleeper: c.with}).Prepare(t.Context(), Call{Input: json.RawMessage(c.input)})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			r, err := p.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got = r.Content[0].Text
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s gives %q, want %q", c.input, got, c.want)
		}
	}
}

func TestSleepIsInNoListOfTools(t *testing.T) {
	for _, n := range Named() {
		if n.Spec().Name == "Sleep" {
			t.Error("it can be named")
		}
	}
	if got := WithSleep(WithSleep(Named())); len(got) != len(Named())+1 {
		t.Errorf("%d tools with it, %d without", len(got), len(Named()))
	}
}
