package webpush

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"scorel/internal/host/clients"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/guard"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// plan has clients that are pushed to, and no loop.
type plan struct {
	*Pushes
	t   *testing.T
	now time.Time
}

// State implements [Sessions]: no question is open.
func (plan) State(protocol.SessionID) *protocol.SessionState { return nil }

// States implements [Sessions].
func (plan) States() []protocol.SessionState { return nil }

// EntriesChanged implements [Watcher].
func (plan) EntriesChanged() {}

func newPlan(t *testing.T, names ...protocol.ClientID) *plan {
	p := &plan{t: t, now: time.Unix(1_000_000, 0)}
	log := diagnostics.New(diagnostics.Config{StoreDir: t.TempDir(), Now: time.Now})
	p.Pushes = New(Config{Dir: t.TempDir(), FS: disk.OS(), Log: log, Guard: guard.New(log, nil), Now: func() time.Time { return p.now }, Sessions: p, Watcher: p})
	for _, name := range names {
		p.targets[name] = &target{subscription: subscription{ClientID: name, Endpoint: "https://push.example/"}, told: map[protocol.SessionID]bool{}}
	}
	return p
}

func (p *plan) asks(id protocol.SessionID, asks bool) {
	p.SessionChanged(protocol.SessionSummary{SessionID: id, State: &protocol.SessionState{Asking: asks}})
}

func (p *plan) job(id protocol.SessionID, state protocol.JobState) {
	p.SessionChanged(protocol.SessionSummary{SessionID: id, Meta: protocol.Meta{Job: &protocol.JobMeta{State: state}}})
}

// sent returns who is pushed to now, and for how many sessions, and ends these pushes.
func (p *plan) sent(out outcome) (list []string) {
	orders, _ := p.due(p.now)
	for _, o := range orders {
		list = append(list, fmt.Sprint(o.sub.ClientID, len(o.sessions)))
		p.finish(o, out)
	}
	slices.Sort(list)
	return list
}

func (p *plan) want(what string, got []string, want ...string) {
	p.t.Helper()
	if !slices.Equal(got, want) {
		p.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

var taken = outcome{state: protocol.PushOn}

func TestAPushWaitsWhetherTheQuestionIsAnswered(t *testing.T) {
	p := newPlan(t, "a")
	p.asks("s1", true)
	p.want("at once", p.sent(taken))
	p.now = p.now.Add(settle)
	p.asks("s1", false)
	p.want("answered", p.sent(taken))
	p.asks("s1", true)
	p.asks("s1", true) // something else of it has changed
	_, again := p.due(p.now)
	if !again.Equal(p.now.Add(settle)) {
		t.Errorf("it looks again in %v", again.Sub(p.now))
	}
	p.now = again
	p.want("still open", p.sent(taken), "a1")
	p.now = p.now.Add(time.Hour)
	p.want("told already", p.sent(taken))
	p.SessionDeleted("s1")
	p.want("deleted", p.sent(taken))
}

func TestASessionThatSomebodyHasOpenIsPushedLater(t *testing.T) {
	p := newPlan(t, "a")
	p.SessionChanged(protocol.SessionSummary{SessionID: "s1", State: &protocol.SessionState{Asking: true, Clients: 1}})
	p.now = p.now.Add(watched - 1)
	p.want("before", p.sent(taken))
	p.now = p.now.Add(1)
	p.want("then", p.sent(taken), "a1")
}

func TestPushesToOneClientCollapse(t *testing.T) {
	p := newPlan(t, "a", "b")
	for n := range 50 {
		p.asks(protocol.SessionID(fmt.Sprint("s", n)), true)
	}
	p.now = p.now.Add(settle)
	p.want("first", p.sent(taken), "a50", "b50")
	p.asks("t1", true)
	p.asks("t2", true)
	p.now = p.now.Add(settle)
	p.want("within the interval", p.sent(taken))
	p.asks("t1", false)
	_, again := p.due(p.now)
	if want := p.now.Add(interval - settle); !again.Equal(want) {
		t.Errorf("it looks again at %v, not %v", again, want)
	}
	p.now = again
	p.want("after the interval", p.sent(taken), "a1", "b1")
}

func TestWhoWasShownThatASessionWaitsIsNotWoken(t *testing.T) {
	p := newPlan(t, "a", "b")
	p.asks("s1", true)
	p.noteShown("a", []protocol.SessionID{"s1", "unknown"})
	p.noteShown("stranger", []protocol.SessionID{"s1"})
	p.now = p.now.Add(settle)
	p.want("the other", p.sent(taken), "b1")
	p.asks("s1", false)
	p.asks("s1", true)
	p.now = p.now.Add(interval)
	p.want("a new question", p.sent(taken), "a1", "b1")
	if n := len(p.targets["a"].told); n != 1 {
		t.Errorf("%d sessions are remembered", n)
	}
}

func TestAFailedPushIsRepeatedAtMostFourTimes(t *testing.T) {
	p := newPlan(t, "a")
	p.asks("s1", true)
	p.now = p.now.Add(settle)
	failed := func() outcome {
		return outcome{state: protocol.PushUnreachable, again: p.backoff(p.targets["a"].failures)}
	}
	var waits []time.Duration
	p.want("first", p.sent(failed()), "a1")
	for {
		_, again := p.due(p.now)
		if again.IsZero() {
			break
		}
		waits = append(waits, again.Sub(p.now))
		p.now = again
		p.want("again", p.sent(failed()), "a1")
	}
	if want := []time.Duration{10 * time.Second, 40 * time.Second, 160 * time.Second}; !slices.Equal(waits, want) {
		t.Errorf("it waits %v, not %v", waits, want)
	}
}

func TestAtMostEightPushesAreSentAtOnce(t *testing.T) {
	p := newPlan(t)
	for n := range 20 {
		id := protocol.ClientID(fmt.Sprint("c", n))
		p.targets[id] = &target{subscription: subscription{ClientID: id, Endpoint: "https://push.example/"}, told: map[protocol.SessionID]bool{}}
	}
	p.asks("s1", true)
	p.now = p.now.Add(settle)
	total := 0
	for {
		orders, _ := p.due(p.now)
		if more, _ := p.due(p.now); len(more) > 0 {
			t.Errorf("%d more at once", len(more))
		}
		if len(orders) == 0 {
			break
		}
		if len(orders) > maxSending {
			t.Errorf("%d at once", len(orders))
		}
		total += len(orders)
		for _, o := range orders {
			p.finish(o, taken)
		}
	}
	if total != 20 {
		t.Errorf("%d were sent", total)
	}
}

func TestAJobThatBeginsToWaitIsPushedAndOneThatWaitedBeforeIsNot(t *testing.T) {
	p := newPlan(t, "a")
	p.job("old", protocol.JobWaiting) // a host that has just started hears of it
	p.job("new", protocol.JobWorking)
	p.now = p.now.Add(time.Hour)
	p.want("nothing new", p.sent(taken))
	p.job("new", protocol.JobWaiting)
	p.now = p.now.Add(settle)
	p.want("the new one", p.sent(taken), "a1")
	p.job("old", protocol.JobWorking)
	p.job("old", protocol.JobWaiting)
	p.now = p.now.Add(interval)
	p.want("the old one again", p.sent(taken), "a1")
}

func TestWhatIsKnownOfSessionsIsBounded(t *testing.T) {
	p := newPlan(t, "a")
	p.asks("s1", true)
	for n := range 2 * maxKnown {
		p.job(protocol.SessionID(fmt.Sprint("job", n)), protocol.JobWorking)
	}
	if len(p.waits) > maxKnown || p.waits["s1"] == nil {
		t.Errorf("%d sessions are known; the one that waits: %v", len(p.waits), p.waits["s1"])
	}
}

func TestAQuestionThatIsNoLongerOpenIsNotSent(t *testing.T) {
	p := newPlan(t, "a")
	p.asks("s1", true)
	p.now = p.now.Add(settle)
	orders, _ := p.due(p.now)
	if len(orders) != 1 {
		t.Fatalf("%d orders", len(orders))
	}
	if p.stillWaits(orders[0].sessions) { // its session is not open any more
		t.Error("a session that has closed waits")
	}
}

func TestWhatWasAnsweredWhileNobodyHadASubscriptionIsNotRemembered(t *testing.T) {
	p := newPlan(t, "a")
	p.asks("s1", true)
	p.drop("a")
	if p.Wants() {
		t.Error("it wants to be told without a subscription")
	}
	// It is answered meanwhile, and nobody is told.
	if _, err := p.put(subscription{ClientID: "a", Endpoint: "https://push.example/"}, nil); err != nil {
		t.Fatal(err)
	}
	p.asks("s1", true)
	p.now = p.now.Add(settle)
	p.want("the next question", p.sent(taken), "a1")
}

func TestADamagedFileIsToldAndKept(t *testing.T) {
	dir := t.TempDir()
	st := store{disk.OS(), filepath.Join(dir, "push.json")}
	if err := disk.WriteFile(disk.OS(), st.name, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := st.read(); err == nil {
		t.Error("it was read")
	}
	if err := st.change("a", nil, func(*subscription) *subscription { return &subscription{ClientID: "a"} }); err == nil {
		t.Error("it was written")
	}
	if data, err := disk.ReadFile(disk.OS(), st.name, 100); err != nil || string(data) != "{" {
		t.Errorf("it became %q, %v", data, err)
	}
}

func TestWhatBecameOfAPushIsShownWhereItCannotBeStored(t *testing.T) {
	p := newPlan(t, "c")
	if err := os.MkdirAll(p.store.name, 0o700); err != nil { // a folder is where the file belongs
		t.Fatal(err)
	}
	sub := *p.target("c")
	if err := p.keep(sub, outcome{state: protocol.PushUnreachable, status: 503}); err == nil {
		t.Error("it was stored")
	}
	if got := p.target("c"); got.State != protocol.PushUnreachable || got.Status != 503 {
		t.Errorf("shown: %+v", got)
	}
}

func TestAPushIsTriedAgainWhenTheListOfClientsCannotBeReadForAMoment(t *testing.T) {
	p := newPlan(t, "c")
	name := filepath.Join(t.TempDir(), "clients.json")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	p.cfg.Entries = clients.New(disk.OS(), name, time.Now)
	p.job("s", protocol.JobWorking)
	p.job("s", protocol.JobWaiting)
	p.now = p.now.Add(time.Minute)
	orders, _ := p.due(p.now)
	if len(orders) != 1 {
		t.Fatalf("%+v", orders)
	}
	p.send(t.Context(), orders[0])
	p.now = p.now.Add(time.Hour)
	if orders, _ := p.due(p.now); len(orders) != 1 {
		t.Errorf("later: %+v", orders)
	}
}

func TestASubscriptionThatCouldNotBeRemovedIsRemovedByTheNextTry(t *testing.T) {
	p := newPlan(t, "c")
	p.cfg.Serving = true
	p.targets["c"].State = protocol.PushOn
	sub := *p.target("c")
	if err := p.store.change("c", nil, func(*subscription) *subscription { return &sub }); err != nil {
		t.Fatal(err)
	}
	fsys := p.store.fs
	p.store.fs = &disktest.Faulty{FS: fsys, N: 1, Sticky: true, Err: syscall.ENOSPC}
	if err := p.delete("c"); err == nil {
		t.Fatal("it was removed from a full disk")
	}
	p.store.fs = fsys
	if err := p.delete("c"); err != nil {
		t.Fatal(err)
	}
	if left, err := p.store.read(); err != nil || len(left) > 0 {
		t.Errorf("the next host pushes to %+v, %v", left, err)
	}
}
