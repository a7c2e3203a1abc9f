package display

import (
	"strings"
	"testing"
)

func TestSummarySaysMostAboutACall(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{"command":"make test","timeout_seconds":5}`, "make test"},
		{`{"path":"a.go","content":"x"}`, "a.go"},
		{`{"command":"make serve","run_in_background":true}`, "make serve (in the background)"},
		{`{"command":"` + strings.Repeat("x", 200) + `","run_in_background":true}`, strings.Repeat("x", 99) + "… (in the background)"},
		{`{"task_id":"task_1","wait_seconds":5}`, "task_1"},
		{`{"task_id":"task_1","pattern":"ERR"}`, "ERR"},
		{`{"questions":[{"question":"Which?"}]}`, "Which?"},
		{`{"questions":[{"question":"Which?"},{"question":"What?"}]}`, "Which? (and 1 more)"},
		{`{"todos":[{"content":"read","status":"completed"},{"content":"write","status":"in_progress"},{"content":"run","status":"pending"}]}`, "1 of 3 done: write"},
		{`{"todos":[]}`, "0 of 0 done"},
		{`{"todos":"no list"}`, `{"todos":"no list"}`},
		{`{}`, ""},
		{`{"odd": [1, 2]}`, `{"odd":[1,2]}`},
		{`no json`, "no json"},
		{`{"command":"a\u001b[31mb\nc"}`, "a[U+001B][31mb c"},
		{`{"command":"rm a\u200db\u00a0c"}`, "rm a[U+200D]b[U+00A0]c"},
		{`{"description":"a \ud83d\udc69\u200d\ud83d\udcbb"}`, "a 👩‍💻"},
		{`{"command":"` + strings.Repeat("x", 200) + `"}`, strings.Repeat("x", 119) + "…"},
	} {
		if got := Summary("", []byte(c.input)); got != c.want {
			t.Errorf("Summary(%.60s) = %q, want %q", c.input, got, c.want)
		}
	}
}
