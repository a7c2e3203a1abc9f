package turnconfig_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAPersonMayOpenOnePortOfThisMachineForGood(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "agent %s", r.UserAgent())
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	fetch := func(id string) string {
		return fmt.Sprintf(`{"do":[{"call":"WebFetch","id":"%s","input":{"url":"http://%s/"}}]}`, id, host)
	}
	w := hosttest.New(t, hosttest.Setting{Attended: true}, fetch("c1"), `{"if":{"result":"agent scorel"},"do":[{"text":"done"}]}`,
		`{"if":{"user":"again"},"do":[{"call":"WebFetch","id":"c2","input":{"url":"http://`+host+`/"}}]}`, `{"if":{"result":"agent scorel"},"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Send("fetch")
	q := e.Asked(1)
	if !strings.Contains(q.Reason, host+", which is this machine or an unusual port") {
		t.Errorf("the question: %+v", q)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "always")})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	rules, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "rules.json"))
	if err != nil || !strings.Contains(string(rules), "WebFetch(domain:"+host+")") {
		t.Errorf("rules.json: %s, %v", rules, err)
	}
	next := w.Begin(true)
	next.Send("again")
	if end := next.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, next.Trace())
	}
	for _, ev := range next.Events {
		if ev.Type == protocol.TypePermissionRequest {
			t.Error("what was opened for good is asked for again")
		}
	}
	w.Judged()
}

func TestTheKeyOfASearchServiceReachesItAndNoChild(t *testing.T) {
	var key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("X-Subscription-Token")
		_, _ = io.WriteString(w, `{"web":{"results":[{"title":"Found","url":"https://example.com/"}]}}`)
	}))
	defer server.Close()
	t.Setenv("FIND_KEY", "find-sesame")
	w := hosttest.New(t, hosttest.Setting{Attended: true,
		Tables: "[search]\nprovider = \"brave\"\napiKeyEnv = \"FIND_KEY\"\nbaseUrl = \"" + server.URL + "\"\n[permissions]\nallow = [\"WebSearch\", \"Bash(env)\"]\n"},
		`{"do":[{"call":"WebSearch","id":"c1","input":{"query":"x"}}]}`,
		`{"if":{"result":"1. Found"},"do":[{"call":"Bash","id":"c2","input":{"command":"env"}}]}`,
		`{"if":{"result":"PATH="},"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Send("search")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	if key != "find-sesame" {
		t.Errorf("the service got the key %q", key)
	}
	if log := e.Trace(); strings.Contains(log, "sesame") {
		t.Errorf("the key is in the log:\n%s", log)
	}
	logs, _ := filepath.Glob(filepath.Join(w.Home, ".scorel", "sessions", "*"))
	for _, name := range logs {
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), "sesame") {
			t.Errorf("%s holds the key", name)
		}
	}
	w.Judged()
}
