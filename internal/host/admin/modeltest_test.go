package admin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAModelIsTestedWithoutASession(t *testing.T) {
	for _, api := range hosttest.APIs() {
		w := hosttest.New(t, hosttest.Setting{API: api}, `{"again":true,"do":[{"text":"ok"}]}`)
		c := w.Connect(false)
		got := hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "mock"})
		if got.Ref != "mock" || got.Problem != "" || got.LatencyMS < 0 {
			t.Errorf("%s: %+v", api, got)
		}
		w.Judged()
		if n := len(w.Server.Requests()); n != 1 {
			t.Errorf("%s: %d requests", api, n)
		}
		if got := hosttest.Call[*protocol.SessionList](t, c, "", &protocol.ListSessions{}); len(got.Sessions) != 0 {
			t.Errorf("%s: a session was made", api)
		}
	}
}

func TestATestOfAModelSaysWhatIsWrong(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	busy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(busy.Close)
	w := hosttest.New(t, hosttest.Setting{WrongKey: true, Key: "right", Tables: `
[models.gone]
type = "custom"
api = "openai-completions"
baseUrl = "` + gone.URL + `"
id = "x"
[models.busy]
type = "custom"
api = "openai-completions"
baseUrl = "` + busy.URL + `"
id = "x"
`}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	for ref, says := range map[string]string{
		"mock":                     "MOCK_KEY",
		"gone":                     "connection",
		"busy":                     "503",
		"nothing/at-all":           "There is no model nothing/at-all",
		"openrouter/openai/gpt-4o": "needs a key",
	} {
		got := hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: ref})
		if (got.Code == protocol.CodeAuthFailed) != (ref == "mock" || strings.HasPrefix(ref, "openrouter")) { // a wrong key, and none
			t.Errorf("%s: code %q", ref, got.Code)
		}
		if !strings.Contains(got.Problem, says) || !strings.HasSuffix(got.Problem, ".") || strings.Contains(got.Problem, "\n") || got.Ref != ref {
			t.Errorf("%s: %+v", ref, got)
		}
	}
	if n := len(w.Waits.All()); n != 0 {
		t.Errorf("it was tried again %d times", n)
	}
	hosttest.Refused(t, c, "", &protocol.TestModel{Model: strings.Repeat("x", 600)}, protocol.CodeInvalidRequest)
}

func TestATestOfAModelEndsAfterTwentySeconds(t *testing.T) {
	home := t.TempDir()
	silent := filepath.Join(home, "silent.jsonl")
	if err := os.WriteFile(silent, []byte(`{"script":1}`+"\n"+`{"do":[{"hang":true}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := hosttest.Bare(t, home)
		start := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 3 { // with the one below there is place for all
				go func() {
					_, _ = client.Call[*protocol.ModelTest](context.Background(), c, "", &protocol.TestModel{Model: "script:" + silent})
				}()
			}
			got := hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "script:" + silent})
			if took := time.Since(start); took != 20*time.Second || !strings.Contains(got.Problem, "did not answer within 20 s") {
				t.Errorf("after %v: %+v", took, got)
			}
		}()
		synctest.Wait()
		hosttest.Refused(t, c, "", &protocol.TestModel{Model: "demo"}, protocol.CodeRateLimited)
		<-done
		synctest.Wait()
	})
}
