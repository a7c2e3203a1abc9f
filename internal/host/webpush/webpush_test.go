package webpush_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host/clients"
	"scorel/internal/host/hosttest"
	"scorel/internal/host/webpush"
	"scorel/protocol"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// service is a push service that judges requests as RFC 8030 and RFC 8292 demand.
type service struct {
	t   *testing.T
	srv *httptest.Server

	mu     sync.Mutex
	paths  []string // of the pushes that came
	key    string   // that the newest one named
	sub    string
	answer func(n int, w http.ResponseWriter, r *http.Request) // to the n-th push, from 1; nil: 201
}

func newService(t *testing.T) *service {
	s := &service{t: t}
	s.srv = httptest.NewTLSServer(s)
	t.Cleanup(func() { s.srv.CloseClientConnections(); s.srv.Close() })
	return s
}

func (s *service) endpoint(name string) string { return s.srv.URL + "/push/" + name }

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.judge(r); err != nil {
		s.t.Errorf("a push service refuses this request: %v", err)
	}
	s.mu.Lock()
	s.paths = append(s.paths, strings.TrimPrefix(r.URL.Path, "/push/"))
	n, answer := len(s.paths), s.answer
	s.mu.Unlock()
	if answer != nil {
		answer(n, w, r)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

var (
	tokenForm = regexp.MustCompile(`^vapid t=([^.,]+)\.([^.,]+)\.([^.,]+), k=([A-Za-z0-9_-]+)$`)
	topicForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
)

func (s *service) judge(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	ttl, ttlErr := strconv.Atoi(r.Header.Get("TTL"))
	switch {
	case err != nil || len(body) > 0 || r.ContentLength != 0:
		return fmt.Errorf("it has a body: %q, length %d, %v", body, r.ContentLength, err)
	case r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/push/") || r.URL.RawQuery != "":
		return fmt.Errorf("it is %s %s", r.Method, r.URL)
	case ttlErr != nil || ttl <= 0 || ttl > 24*3600:
		return fmt.Errorf("TTL is %q", r.Header.Get("TTL"))
	case r.Header.Get("Urgency") != "high" || !topicForm.MatchString(r.Header.Get("Topic")):
		return fmt.Errorf("urgency %q, topic %q", r.Header.Get("Urgency"), r.Header.Get("Topic"))
	case r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" || r.Header.Get("Content-Encoding") != "":
		return fmt.Errorf("it says more than it should: %v", r.Header)
	}
	return s.judgeToken(r.Header.Get("Authorization"))
}

func (s *service) judgeToken(header string) error {
	part := tokenForm.FindStringSubmatch(header)
	if part == nil {
		return fmt.Errorf("the header is %q", header)
	}
	var raw [5][]byte
	for i := 1; i <= 4; i++ {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part[i]); err != nil {
			return err
		}
	}
	var head struct{ Typ, Alg string }
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(raw[1], &head); err != nil || head.Alg != "ES256" || head.Typ != "JWT" {
		return fmt.Errorf("the head is %s", raw[1])
	}
	if err := json.Unmarshal(raw[2], &claims); err != nil {
		return err
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw[4])
	if err != nil || len(raw[3]) != 64 {
		return fmt.Errorf("the key or the signature has another form: %v, %d bytes", err, len(raw[3]))
	}
	digest := sha256.Sum256([]byte(part[1] + "." + part[2]))
	if !ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(raw[3][:32]), new(big.Int).SetBytes(raw[3][32:])) {
		return fmt.Errorf("the signature is wrong")
	}
	left := time.Until(time.Unix(claims.Exp, 0))
	if claims.Aud != s.srv.URL || left <= 0 || left > 12*time.Hour || !strings.HasPrefix(claims.Sub, "https://") {
		return fmt.Errorf("the claims are %s", raw[2])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.sub = part[4], claims.Sub
	return nil
}

func (s *service) pushes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.paths...)
}

func (s *service) answers(f func(n int, w http.ResponseWriter, r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *service) said() (key, sub string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key, s.sub
}

// quick is a pace at which tests do not wait.
var quick = webpush.Pace{Settle: time.Millisecond, Watched: time.Millisecond, Interval: time.Millisecond, Retry: time.Millisecond, Timeout: hosttest.Patience}

// world has a push service, a session and a phone.
type world struct {
	*hosttest.World
	service *service
	phone   clients.Entry
	session *hosttest.Entry
}

const ask, done = `{"do":[{"call":"Bash","id":"c1","input":{"command":"touch x"}}]}`, `{"do":[{"text":"done"}]}`

func newWorld(t *testing.T, pace webpush.Pace, turns int) *world {
	t.Helper()
	w := &world{service: newService(t)}
	var lines []string
	for range turns {
		lines = append(lines, ask, done)
	}
	w.World = hosttest.New(t, hosttest.Setting{Serving: true, Config: "", Tables: fmt.Sprintf("[host]\npushServices = [%q]\n", w.service.srv.URL)}, lines...)
	transport := w.service.srv.Client().Transport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	w.Config.Push = webpush.Options{Pace: pace, Transport: transport}
	w.Restart()
	w.phone = w.Pair(1, "phone", protocol.GrantAnswer)
	w.session = w.Begin(true)
	return w
}

// enter comes in as the phone.
func (w *world) enter() *client.Client {
	w.T.Helper()
	c, _ := w.Entered(w.phone, protocol.GrantAnswer)
	return c
}

// subscribe keeps a subscription of the phone, which then goes.
func (w *world) subscribe(name string) {
	w.T.Helper()
	c := w.enter()
	key := hosttest.Call[*protocol.Push](w.T, c, "", &protocol.GetPush{}).PublicKey
	got := hosttest.Call[*protocol.Push](w.T, c, "", &protocol.SetPush{Endpoint: w.service.endpoint(name), Key: key, Origin: "https://desk.example"})
	if got.State != protocol.PushOn || got.PublicKey != key {
		w.T.Fatalf("subscribed: %+v", got)
	}
	_ = c.Close()
}

func (w *world) state() *protocol.Push {
	w.T.Helper()
	c := w.enter()
	defer func() { _ = c.Close() }()
	return hosttest.Call[*protocol.Push](w.T, c, "", &protocol.GetPush{})
}

// asks has the session begin to wait.
func (w *world) asks() protocol.PermissionRequest {
	w.T.Helper()
	w.session.Events = nil
	w.session.Send("go")
	return w.session.Asked(1)
}

// answer answers the question and waits for the end of the turn.
func (w *world) answer(q protocol.PermissionRequest) {
	w.T.Helper()
	hosttest.Call[*protocol.Done](w.T, w.session.C, w.session.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1})
	w.session.End()
}

// becomes waits until the subscription of the phone stands so.
func (w *world) becomes(want protocol.PushState) {
	w.T.Helper()
	var got *protocol.Push
	defer func() {
		if w.T.Failed() || got.State != want {
			w.Reports.Mu.Lock()
			defer w.Reports.Mu.Unlock()
			w.T.Logf("it is %+v after pushes %q; the log: %q", got, w.service.pushes(), w.Reports.List)
		}
	}()
	w.Eventually(fmt.Sprintf("that it is %s", want), func() bool {
		got = w.state()
		return got.State == want
	})
}

func (w *world) pushed(want ...string) {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("pushes %q", want), func() bool { return fmt.Sprint(w.service.pushes()) == fmt.Sprint(want) })
}

func TestASessionThatWaitsWakesWhoIsNotThere(t *testing.T) {
	w := newWorld(t, quick, 2)
	w.subscribe("one")
	q := w.asks()
	w.pushed("one")
	key, sub := w.service.said()
	if state := w.state(); state.PublicKey != key || state.State != protocol.PushOn {
		t.Errorf("the key that was used is %s: %+v", key, state)
	}
	if sub != "https://desk.example" {
		t.Errorf("the contact is %s", sub)
	}
	w.answer(q)
	w.asks()
	w.pushed("one", "one")
}

func TestKeyAndSubscriptionOutliveTheHostAndAreForTheUserAlone(t *testing.T) {
	w := newWorld(t, quick, 1)
	w.subscribe("one")
	before := w.state()
	w.Restart()
	if after := w.state(); *after != *before || after.State != protocol.PushOn {
		t.Errorf("after a restart %+v, before %+v", after, before)
	}
	w.session = w.Open(w.Connect(true), w.session.ID)
	w.asks()
	w.pushed("one")
	for _, name := range []string{"push-key.json", "push.json"} {
		info, err := os.Stat(filepath.Join(w.Home, ".scorel", name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	var file struct{ PrivateKey string }
	if err := json.Unmarshal([]byte(w.ReadAll(filepath.Join(w.Home, ".scorel", "push-key.json"))), &file); err != nil || file.PrivateKey == "" {
		t.Fatal(err)
	}
	w.Reports.Mu.Lock()
	defer w.Reports.Mu.Unlock()
	for _, line := range w.Reports.List {
		if strings.Contains(line, file.PrivateKey) || strings.Contains(line, w.service.srv.URL) {
			t.Errorf("the log says %q", line)
		}
	}
}

func TestALostKeyEndsSubscriptionsUntilTheBrowserSubscribesAgain(t *testing.T) {
	w := newWorld(t, quick, 1)
	w.subscribe("one")
	before := w.state().PublicKey
	if err := os.Remove(filepath.Join(w.Home, ".scorel", "push-key.json")); err != nil {
		t.Fatal(err)
	}
	w.Restart()
	after := w.state()
	if after.State != "" || after.PublicKey == before {
		t.Errorf("with another key: %+v", after)
	}
	c := w.enter()
	pe := hosttest.Refused(t, c, "", &protocol.SetPush{Endpoint: w.service.endpoint("two"), Key: before}, protocol.CodeConflict)
	if !strings.Contains(pe.Message, "get_push") {
		t.Errorf("%v", pe)
	}
	w.subscribe("two")
	w.session = w.Open(w.Connect(true), w.session.ID)
	w.asks()
	w.pushed("two")
}

func TestASubscriptionGoesWithItsClientAndFollowsItsName(t *testing.T) {
	w := newWorld(t, quick, 2)
	w.subscribe("one")
	owner := w.Connect(false)
	hosttest.Call[*protocol.Done](t, owner, "", &protocol.RenameEntry{ClientID: w.phone.ClientID, Label: "pocket"})
	if list := hosttest.Call[*protocol.EntryList](t, owner, "", &protocol.ListEntries{}).Entries; len(list) != 1 || list[0].Push != protocol.PushOn || list[0].Label != "pocket" {
		t.Errorf("listed: %+v", list)
	}
	hosttest.Call[*protocol.Done](t, owner, "", &protocol.RevokeEntry{ClientID: w.phone.ClientID})
	if text := w.ReadAll(filepath.Join(w.Home, ".scorel", "push.json")); strings.Contains(text, w.service.srv.URL) {
		t.Errorf("kept: %s", text)
	}
	other := w.Pair(2, "tablet", protocol.GrantAnswer)
	w.phone = other
	w.subscribe("tablet")
	w.asks()
	w.pushed("tablet")
}

func TestAClientThatWasTakenOffBehindTheHostsBackGetsNothing(t *testing.T) {
	w := newWorld(t, quick, 1)
	w.subscribe("one")
	if err := w.Host.Entries().Revoke(w.phone.ClientID); err != nil {
		t.Fatal(err)
	}
	w.asks()
	w.Eventually("that the subscription is gone", func() bool {
		return !strings.Contains(w.ReadAll(filepath.Join(w.Home, ".scorel", "push.json")), w.service.srv.URL)
	})
	if got := w.service.pushes(); len(got) > 0 {
		t.Errorf("pushed %q", got)
	}
}

func TestWhoCouldNotAnswerHasNoSubscription(t *testing.T) {
	w := newWorld(t, quick, 1)
	key := w.state().PublicKey
	viewer, _ := w.Entered(w.Pair(2, "wall", protocol.GrantView), protocol.GrantView)
	set := &protocol.SetPush{Endpoint: w.service.endpoint("x"), Key: key}
	hosttest.Refused(t, viewer, "", set, protocol.CodeForbidden)
	hosttest.Refused(t, w.Connect(false), "", set, protocol.CodeForbidden) // who has the token is on no list
	hosttest.Call[*protocol.Done](t, viewer, "", &protocol.DeletePush{})
}

func TestAClientWithLessThanAnswerIsNotWoken(t *testing.T) {
	w := newWorld(t, quick, 2)
	w.subscribe("one")
	if err := w.Host.Entries().SetGrant(w.phone.ClientID, protocol.GrantView); err != nil {
		t.Fatal(err)
	}
	other := w.Pair(2, "tablet", protocol.GrantAnswer)
	phone := w.phone
	w.phone = other
	w.subscribe("two")
	q := w.asks()
	w.pushed("two")
	w.answer(q)
	if err := w.Host.Entries().SetGrant(phone.ClientID, protocol.GrantAnswer); err != nil {
		t.Fatal(err)
	}
	w.asks()
	w.Eventually("a push to each", func() bool { return len(w.service.pushes()) == 3 })
}

func TestOnlyPublicHTTPSAddressesArePushedTo(t *testing.T) {
	w := newWorld(t, quick, 1)
	c := w.enter()
	key := w.state().PublicKey
	for endpoint, why := range map[string]string{
		"http://push.example/x":                             "https",
		"https://me:pw@push.example/x":                      "user name",
		"https://push.example/x#y":                          "fragment",
		"https://127.0.0.1:1/x":                             "this machine",
		"https://localhost/x":                               "this machine",
		"https://LOCALHOST./x":                              "this machine",
		"https://[::1]/x":                                   "this machine",
		"https://10.0.0.1/x":                                "private",
		"https://192.168.1.1/x":                             "private",
		"https://169.254.169.254/latest":                    "link-local",
		"https://[fd00::1]/x":                               "",
		"https://[::ffff:10.0.0.1]/x":                       "",
		"https://2130706433/x":                              "",
		"https://router/x":                                  "not a public name",
		"push.example":                                      "https",
		"https://push.example/" + strings.Repeat("x", 2048): "2048",
	} {
		pe := hosttest.Refused(t, c, "", &protocol.SetPush{Endpoint: endpoint, Key: key}, protocol.CodeInvalidRequest)
		if !strings.Contains(pe.Message, why) || strings.Contains(pe.Message, "/latest") {
			t.Errorf("%.60s: %s", endpoint, pe.Message)
		}
	}
	if s := w.state().State; s != "" {
		t.Errorf("kept: %s", s)
	}
	hosttest.Call[*protocol.Push](t, c, "", &protocol.SetPush{Endpoint: "https://push.example:8443/x", Key: key})
}

func TestAnOwnPushServiceThatIsNoLongerNamedGetsNothing(t *testing.T) {
	w := newWorld(t, quick, 1)
	w.subscribe("one")
	name := filepath.Join(w.Home, ".scorel", "config.toml")
	w.Write(name, strings.Replace(w.ReadAll(name), "pushServices", "names", 1))
	w.Write(name, regexp.MustCompile(`(?m)^names = .*$`).ReplaceAllString(w.ReadAll(name), ""))
	w.asks()
	w.becomes(protocol.PushRefused)
	if got := w.service.pushes(); len(got) > 0 {
		t.Errorf("pushed %q", got)
	}
}

func TestWhatThePushServiceAnswersIsKeptAndTold(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		want   protocol.PushState
		tries  int
	}{
		{"not found", 404, protocol.PushGone, 1}, {"gone", 410, protocol.PushGone, 1}, {"forbidden", 403, protocol.PushRefused, 1},
		{"bad request", 400, protocol.PushRefused, 1}, {"redirect", 307, protocol.PushRefused, 1}, {"broken", 503, protocol.PushUnreachable, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, quick, 2)
			w.service.answers(func(_ int, rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Location", w.service.endpoint("elsewhere"))
				rw.WriteHeader(c.status)
			})
			w.subscribe("one")
			q := w.asks()
			w.becomes(c.want)
			w.Eventually("the tries", func() bool { return len(w.service.pushes()) == c.tries })
			if got := w.state(); got.Status != c.status {
				t.Errorf("the status is %d", got.Status)
			}
			list := hosttest.Call[*protocol.EntryList](t, w.Connect(false), "", &protocol.ListEntries{}).Entries
			if len(list) != 1 || list[0].Push != c.want {
				t.Errorf("listed: %+v", list)
			}
			text := w.ReadAll(filepath.Join(w.Home, ".scorel", "push.json"))
			if kept := strings.Contains(text, w.service.srv.URL); kept != (c.want != protocol.PushGone) {
				t.Errorf("kept %v: %s", kept, text)
			}
			w.service.answers(nil)
			w.answer(q)
			if c.want == protocol.PushGone {
				w.subscribe("again")
			}
			w.asks()
			w.Eventually("that it works again", func() bool { return w.state().State == protocol.PushOn && len(w.service.pushes()) == c.tries+1 })
			for _, p := range w.service.pushes() {
				if p == "elsewhere" {
					t.Error("a redirect was followed")
				}
			}
		})
	}
}

func TestAPushServiceThatIsBusyIsAskedAgainWhenItSays(t *testing.T) {
	w := newWorld(t, quick, 1)
	var first, second time.Time
	w.service.answers(func(n int, rw http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			first = time.Now()
			rw.Header().Set("Retry-After", "1")
			rw.WriteHeader(http.StatusTooManyRequests)
			return
		}
		second = time.Now()
		rw.WriteHeader(http.StatusCreated)
	})
	w.subscribe("one")
	w.asks()
	w.pushed("one", "one")
	w.becomes(protocol.PushOn)
	if d := second.Sub(first); d < 900*time.Millisecond {
		t.Errorf("it was asked again after %v", d)
	}
}

func TestWhatWasAnsweredIsNotTriedAgain(t *testing.T) {
	pace := quick
	pace.Retry = time.Hour
	w := newWorld(t, pace, 1)
	w.service.answers(func(_ int, rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) })
	w.subscribe("one")
	q := w.asks()
	w.becomes(protocol.PushUnreachable)
	w.answer(q)
	w.pushed("one")
}

func TestAPushServiceThatHangsHoldsNothingUp(t *testing.T) {
	pace := quick
	pace.Timeout = 50 * time.Millisecond
	w := newWorld(t, pace, 2)
	w.service.answers(func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	w.subscribe("one")
	q := w.asks()
	w.becomes(protocol.PushUnreachable)
	w.answer(q) // the session goes on

	pace.Timeout = time.Hour
	w.Config.Push.Pace = pace
	w.Restart()
	w.session = w.Open(w.Connect(true), w.session.ID)
	before := len(w.service.pushes())
	w.asks()
	w.Eventually("a push that hangs", func() bool { return len(w.service.pushes()) > before })
	ended := make(chan error, 1)
	go func() { ended <- w.Host.Close() }() // ends with the host
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(hosttest.Patience):
		t.Fatal("the host does not end")
	}
}
