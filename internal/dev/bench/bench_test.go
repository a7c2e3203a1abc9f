package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSeriesGivesMedianAndQuantile(t *testing.T) {
	for _, c := range []struct {
		s                series
		median, p99, max float64
	}{
		{nil, 0, 0, 0},
		{series{3}, 3, 3, 3},
		{series{4, 1, 3, 2}, 2.5, 4, 4},
		{series{9, 1, 5}, 5, 9, 9},
	} {
		if c.s.median() != c.median || c.s.quantile(0.99) != c.p99 || c.s.max() != c.max {
			t.Errorf("%v: median %v, p99 %v, max %v", c.s, c.s.median(), c.s.quantile(0.99), c.s.max())
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0.456: "0.46", 4: "4", 4.25: "4.25", 45: "45", 45.67: "45.7", 20000: "20000", 99.96: "100"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

func TestPeersBelongToFiguresThatExist(t *testing.T) {
	p, err := readPeers()
	if err != nil || p.Date == "" || p.Machine == "" {
		t.Fatal(p, err)
	}
	var keys []string
	for _, g := range groups() {
		keys = append(keys, g.key, g.key+".rss", g.key+".anonymous")
	}
	for key, list := range p.Figures {
		if !slices.Contains(keys, key) {
			t.Errorf("there is no figure %s", key)
		}
		for _, x := range list {
			if x.Peer == "" || x.Value <= 0 {
				t.Errorf("%s: %+v", key, x)
			}
		}
	}
}

func TestTableSaysWhatReachesItsGoal(t *testing.T) {
	var out strings.Builder
	r := report{Head: head{Commit: "abc"}, Peers: "then", Figures: []figure{
		{Name: "fast", Unit: "ms", Values: series{4, 6}, Median: 5, Goal: 10, Peers: []peer{{"Codex", 7}}},
		{Name: "slow", Unit: "ms", Values: series{11}, Median: 11, Goal: 10},
		{Name: "rate", Unit: "/s", Values: series{19_000}, Median: 19_000, Goal: 20_000, AtLeast: true},
		{Name: "seen", Unit: "MB", Values: series{3}, Median: 3},
	}}
	if err := r.table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`fast +ms +5 \(4–6\) +≤ 10 +7 Codex +ok`, `slow .*≤ 10 .*miss`, `rate .*≥ 20000 .*miss`, `seen +MB +3 \(3–3\) +–`, `2 missed`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no line fits %q in\n%s", want, out.String())
		}
	}
}

func TestSessionsAreSoundAndAsLongAsAsked(t *testing.T) {
	for _, compact := range []bool{false, true} {
		store, err := session.OpenStore(session.Config{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		log, err := write(t.Context(), store, "/", 400, compact)
		if err != nil {
			t.Fatal(err)
		}
		id, events := log.ID(), log.Index().Len()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		report, err := store.Verify(t.Context(), id)
		if err != nil || !report.Clean() {
			t.Errorf("compact %t: %v, %v", compact, report.Sentences(), err)
		}
		if want := map[bool]int{false: 400, true: 401}[compact]; events != want {
			t.Errorf("compact %t: %d events, want %d", compact, events, want)
		}
	}
}

func TestContextAndAppendsAreMeasured(t *testing.T) {
	store, err := session.OpenStore(session.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := measureContext(t.Context(), store, 400, 3)
	if err != nil || len(c.Build) != 3 || len(c.Extend) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	a, err := measureAppends(t.Context(), store, 4, 20*time.Millisecond)
	if err != nil || a.Events < 1 || a.PerSecond <= 0 || a.P99 < a.P50 || a.Max < a.P99 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestOpeningWithAndWithoutChecksumsIsMeasured(t *testing.T) {
	o, err := measureOpens(t.Context(), t.TempDir(), 400, 2)
	if err != nil || len(o.Checked) != 2 || len(o.Bare) != 2 || o.Bytes < 400*300 {
		t.Errorf("%+v, %v", o, err)
	}
}

// mocked returns a mock with a listener, and its client side.
func mocked(t *testing.T, script string, judge bool) *server {
	t.Helper()
	m := &mock{}
	if err := m.load([]byte(script), judge); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(m.handler())
	t.Cleanup(func() {
		h.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &server{url: h.URL}
}

func ask(ctx context.Context, s *server, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

const question = `{"model":"mock","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hello"}]}`

func TestMockPlaysItsAnswersInOrder(t *testing.T) {
	s := mocked(t, inOrder(4, `{"text":"first answer"}`, `{"call":"Read","id":"c","input":{}}`), false)
	ctx := t.Context()
	for run := range 2 {
		if err := s.reset(ctx, 0); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{`"text":"firs"`, `"name":"Read"`} {
			status, body, err := ask(ctx, s, question)
			if err != nil || status != http.StatusOK || !strings.Contains(body, want) || !strings.Contains(body, "message_stop") {
				t.Fatalf("run %d, answer %d: %d %v %s", run, i, status, err, body)
			}
		}
		if status, _, err := ask(ctx, s, question); err != nil || status != http.StatusNotImplemented {
			t.Errorf("a request too many: %d %v", status, err)
		}
		visits, err := s.visits(ctx)
		if err != nil || len(visits) != 3 || visits[0].Bytes != len(question) || visits[2].Messages != 1 ||
			visits[0].Arrived > visits[0].Read || visits[0].Read > visits[0].Answered {
			t.Errorf("%+v, %v", visits, err)
		}
	}
}

func TestMockHoldsARequestUntilItIsReleased(t *testing.T) {
	s := mocked(t, inOrder(0, `{"text":"one"}`, `{"text":"two"}`), false)
	ctx := t.Context()
	if err := s.reset(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if _, body, err := ask(ctx, s, question); err != nil || !strings.Contains(body, "one") {
		t.Fatal(body, err)
	}
	answered := make(chan string, 1)
	go func() { // ends with the answer
		_, body, err := ask(ctx, s, question)
		if err != nil {
			body = err.Error()
		}
		answered <- body
	}()
	if err := s.held(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case body := <-answered:
		t.Errorf("answered while it was held: %s", body)
	default:
	}
	if err := s.release(ctx); err != nil {
		t.Fatal(err)
	}
	if body := <-answered; !strings.Contains(body, "two") {
		t.Error(body)
	}
}

func TestMockJudgesRequests(t *testing.T) {
	s := mocked(t, builtin, true)
	if status, _, err := ask(t.Context(), s, question); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
	if status, _, err := ask(t.Context(), s, `{"model":"mock","max_tokens":10,"stream":true,"messages":[]}`); err != nil || status != http.StatusBadRequest {
		t.Errorf("a request without messages: %d, %v", status, err)
	}
	visits, err := s.visits(t.Context())
	if err != nil || len(visits) != 2 || visits[0].Refused != "" || visits[1].Refused == "" || visits[0].Messages != 1 {
		t.Errorf("%+v, %v", visits, err)
	}
}

func TestAnswersMadeAheadCanNeitherWaitNorLook(t *testing.T) {
	for _, line := range []string{`{"do":[{"wait":5}]}`, `{"if":{"user":"x"},"do":[{"text":"y"}]}`, `{"do":[{"error":{"status":529}}]}`} {
		if err := (&mock{}).load([]byte("{\"script\":1}\n"+line), false); err == nil {
			t.Errorf("%s was taken", line)
		}
	}
}

func TestExpressionThatMatchesNothingIsRefused(t *testing.T) {
	err := benchCommand(t.Context(), []string{"-only", "prompts"})
	if err == nil || !strings.Contains(err.Error(), "resume-10k") {
		t.Errorf("the error is %v; want one that names what there is", err)
	}
}

func TestReportIsSavedAsJSON(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bench.json")
	if err := (report{Head: newHead(t.TempDir(), 3), Figures: []figure{{Key: "k", Values: series{1}}}}).save(name); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	var r report
	if err != nil || json.Unmarshal(data, &r) != nil || r.Head.N != 3 || r.Head.Kernel == "" || r.Figures[0].Key != "k" {
		t.Errorf("%v: %s", err, data)
	}
}

func TestAGroupThatFailsLeavesWhatItHadAndTheOthers(t *testing.T) {
	gives := func(err error, figures ...figure) func(context.Context, *bench, int) ([]figure, error) {
		return func(context.Context, *bench, int) ([]figure, error) { return figures, err }
	}
	var r report
	r.take(t.Context(), nil, []group{
		{"one", gives(errors.New("a mark is not shown"), figure{Key: "one", Name: "one", Values: series{3}}, figure{Key: "one.more", Name: "more"})},
		{"two", gives(nil, figure{Key: "two", Name: "two", Values: series{4}})},
	}, peers{}, 1)
	var out strings.Builder
	if err := r.table(&out); err != nil || len(r.Figures) != 2 || r.Figures[0].Median != 3 || len(r.Failed) != 1 ||
		!strings.Contains(out.String(), "not measured to the end: one: a mark is not shown") {
		t.Errorf("%+v, %v\n%s", r, err, out.String())
	}
}

// TestAServingHostIsMeasured measures with little to do, with the programs that make
// bench runs.
func TestAServingHostIsMeasured(t *testing.T) {
	dir := t.TempDir()
	if err := harness.Build(dir, "scorel/cmd/scorel", "scorel/internal/dev/bench"); err != nil {
		t.Fatal(err)
	}
	figures := filepath.Join(dir, "figures.json")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bench"), "-small", "-n", "3", "-bin", filepath.Join(dir, "scorel"),
		"-only", "^(extension|replaced|ten|servers|host|latency|reconnect|sessions|fanout|armed|due|wake|ps|supervised|tui)$", "-json", figures)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(figures)
	var r report
	if err != nil || json.Unmarshal(data, &r) != nil {
		t.Fatalf("%v: %s", err, data)
	}
	want := []string{"extension", "extension.cached", "extension.anonymous", "extension.call", "extension.same", "extension.list", "replaced", "ten", "servers", "host", "host.1000", "latency", "latency.p99", "reconnect", "sessions", "fanout", "fanout.cpu", "fanout.rss",
		"armed", "armed.wakes", "due", "due.open", "wake", "ps", "bg", "supervised",
		"tui", "tui.reply", "tui.resume", "tui.rss", "tui.anonymous"}
	mayBeNone := []string{"fanout.cpu", "replaced", "servers", "armed", "armed.wakes"} // the kernel counts whole ticks; a difference may be none
	for _, f := range r.Figures {
		if len(f.Values) == 0 || f.Goal <= 0 || f.Median <= 0 && !slices.Contains(mayBeNone, f.Key) {
			t.Errorf("%+v", f)
		}
		want = slices.DeleteFunc(want, func(key string) bool { return key == f.Key })
	}
	if len(want) > 0 {
		t.Errorf("%v were not measured", want)
	}
}
