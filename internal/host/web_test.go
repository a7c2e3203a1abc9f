package host_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	w := newWorld(t, setting{attended: true}, fetch("c1"), `{"if":{"result":"agent scorel"},"do":[{"text":"done"}]}`,
		`{"if":{"user":"again"},"do":[{"call":"WebFetch","id":"c2","input":{"url":"http://`+host+`/"}}]}`, `{"if":{"result":"agent scorel"},"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.send("fetch")
	q := e.asked(1)
	if !strings.Contains(q.Reason, host+", which is this machine or an unusual port") {
		t.Errorf("the question: %+v", q)
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "always")})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	rules, err := os.ReadFile(filepath.Join(w.home, ".scorel", "rules.json"))
	if err != nil || !strings.Contains(string(rules), "WebFetch(domain:"+host+")") {
		t.Errorf("rules.json: %s, %v", rules, err)
	}
	next := w.begin(true)
	next.send("again")
	if end := next.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, next.trace())
	}
	for _, ev := range next.events {
		if ev.Type == protocol.TypePermissionRequest {
			t.Error("what was opened for good is asked for again")
		}
	}
	w.judged()
}

func TestTheKeyOfASearchServiceReachesItAndNoChild(t *testing.T) {
	var key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("X-Subscription-Token")
		_, _ = io.WriteString(w, `{"web":{"results":[{"title":"Found","url":"https://example.com/"}]}}`)
	}))
	defer server.Close()
	t.Setenv("FIND_KEY", "find-sesame")
	w := newWorld(t, setting{attended: true,
		tables: "[search]\nprovider = \"brave\"\napiKeyEnv = \"FIND_KEY\"\nbaseUrl = \"" + server.URL + "\"\n[permissions]\nallow = [\"WebSearch\", \"Bash(env)\"]\n"},
		`{"do":[{"call":"WebSearch","id":"c1","input":{"query":"x"}}]}`,
		`{"if":{"result":"1. Found"},"do":[{"call":"Bash","id":"c2","input":{"command":"env"}}]}`,
		`{"if":{"result":"PATH="},"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.send("search")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	if key != "find-sesame" {
		t.Errorf("the service got the key %q", key)
	}
	if log := e.trace(); strings.Contains(log, "sesame") {
		t.Errorf("the key is in the log:\n%s", log)
	}
	logs, _ := filepath.Glob(filepath.Join(w.home, ".scorel", "sessions", "*"))
	for _, name := range logs {
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), "sesame") {
			t.Errorf("%s holds the key", name)
		}
	}
	w.judged()
}
