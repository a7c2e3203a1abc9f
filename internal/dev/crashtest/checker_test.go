package crashtest

import (
	"strings"
	"testing"
)

const (
	head  = `{"version":1,"sessionId":"ses_1"}` + "\n"
	first = `{"type":"message","id":"evt_1","parentId":null,"seq":1}` + "\n"
	mark  = `{"type":"label","id":"evt_2","parentId":"evt_1","seq":2,"control":true}` + "\n"
	third = `{"type":"message","id":"evt_3","parentId":"evt_1","seq":4}` + "\n"
	delta = `{"type":"text_delta","seq":3}` + "\n"
)

func TestCheckerFindsEachKindOfFault(t *testing.T) {
	for _, c := range []struct{ name, log, printed, want string }{
		{"sound", head + first + mark + third, first + mark + delta + third, ""},
		{"sound with an unfinished end", head + first + `{"type":"mess`, first + `{"type":"mes`, ""},
		{"no header", first + third, "", "not a header"},
		{"nothing", "", "", "no header"},
		{"a broken line", head + first + "{\n" + third, "", "line 3 is not JSON"},
		{"a repeated id", head + first + strings.ReplaceAll(first, `"seq":1`, `"seq":2`), "", "repeats the id"},
		{"a repeated seq", head + first + strings.ReplaceAll(third, `"seq":4`, `"seq":1`), "", "the seq 1 behind 1"},
		{"a missing parent", head + third, "", "not a conversation event before it"},
		{"a control event as parent", head + first + mark + strings.ReplaceAll(third, "evt_1", "evt_2"), "", "not a conversation event before it"},
		{"a lost event", head + first, first + third, "was printed and is not in the log"},
		{"an event that was printed and only begun in the log", head + first + strings.TrimSuffix(third, "\n"), first + third, "is not in the log"},
		{"other bytes", head + first, strings.ReplaceAll(first, `"seq":1`, `"seq": 1`), "stands in the log as"},
		{"another order", head + first + mark + third, third + mark, "behind one that follows"},
		{"garbage printed", head + first, "garbage\n", "a printed line is not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, err := ReadLog([]byte(c.log))
			if err == nil {
				_, err = log.Holds([]byte(c.printed))
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestPairsFindsCallsAndResultsThatAreAlone(t *testing.T) {
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`
	text := `{"role":"user","content":"go on"}`
	for _, c := range []struct{ name, messages, want string }{
		{"a pair", text + "," + call + "," + result, ""},
		{"two pairs of one id", text + "," + call + "," + result + "," + call + "," + result, ""},
		{"a call at the end", text + "," + call, "no result follows"},
		{"a call without result", call + "," + text, "lacks the result"},
		{"a result without call", text + "," + result, "did not call"},
		{"a result twice", call + "," + result + "," + result, "did not call"},
		{"nothing", "", "no messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Pairs([]byte(`{"messages":[` + c.messages + `]}`))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
