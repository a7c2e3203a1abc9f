package clients_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/host/clients"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox/sandboxtest"
	"scorel/protocol"
)

// clock is a clock that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newStore(t *testing.T) (*clients.Store, string, *clock) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "entries.json")
	c := &clock{time.UnixMilli(1_700_000_000_000)}
	return clients.New(disk.OS(), name, c.now), name, c
}

func key(n int) []byte { return bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 16) }

func add(t *testing.T, s *clients.Store, n int, label string, grant protocol.Grant) clients.Entry {
	t.Helper()
	e, err := s.Add(key(n), label, grant)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAnEntryIsKeptAsItWasAddedAndListedByLabel(t *testing.T) {
	s, name, _ := newStore(t)
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Fatalf("without a file: %v %v", list, err)
	}
	phone := add(t, s, 2, "phone", protocol.GrantAnswer)
	add(t, s, 1, "laptop", protocol.GrantControl)
	again := clients.New(disk.OS(), name, time.Now)
	got, ok, err := again.Get(phone.ClientID)
	if err != nil || !ok || got.Label != "phone" || got.Grant != protocol.GrantAnswer || !bytes.Equal(got.PublicKey, key(2)) ||
		got.AddedAt != 1_700_000_000_000 || got.LastSeen != 0 || got.ClientID != protocol.ClientIDOf(key(2)) {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	list, err := again.List()
	if err != nil || len(list) != 2 || list[0].Label != "laptop" || list[1].Label != "phone" {
		t.Errorf("%+v %v", list, err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

func TestAChangedEntryIsChangedAndARevokedOneGone(t *testing.T) {
	s, _, _ := newStore(t)
	a, b := add(t, s, 1, "a", protocol.GrantView), add(t, s, 2, "b", protocol.GrantView)
	if err := errors.Join(s.Rename(a.ClientID, " my\tphone\n"), s.SetGrant(a.ClientID, protocol.GrantControl), s.Revoke(b.ClientID)); err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Label != "my phone" || list[0].Grant != protocol.GrantControl {
		t.Errorf("%+v %v", list, err)
	}
	for what, err := range map[string]error{"rename": s.Rename(b.ClientID, "x"), "grant": s.SetGrant(b.ClientID, protocol.GrantView), "revoke": s.Revoke(b.ClientID), "seen": s.Seen(b.ClientID)} {
		if !errors.Is(err, clients.ErrUnknown) {
			t.Errorf("%s of a revoked entry: %v", what, err)
		}
	}
	if err := s.Rename(a.ClientID, "\x1b\u202e "); !errors.Is(err, clients.ErrLabel) {
		t.Errorf("a label of nothing to see: %v", err)
	}
	if err := s.SetGrant(a.ClientID, "root"); err == nil {
		t.Error("a grant that there is not was taken")
	}
}

func TestAnEntryThatIsAddedAgainKeepsItsAge(t *testing.T) {
	s, _, c := newStore(t)
	first := add(t, s, 1, "phone", protocol.GrantControl)
	c.at = c.at.Add(time.Hour)
	again := add(t, s, 1, "phone 2", protocol.GrantView)
	list, _ := s.List()
	if len(list) != 1 || again.AddedAt != first.AddedAt || again.Label != "phone 2" || list[0].Grant != protocol.GrantView {
		t.Errorf("%+v", list)
	}
}

func TestTheListIsBounded(t *testing.T) {
	s, name, _ := newStore(t)
	type stored struct {
		Version int             `json:"version"`
		Entries []clients.Entry `json:"entries"`
	}
	full := stored{Version: 1}
	for n := range clients.MaxEntries {
		full.Entries = append(full.Entries, clients.Entry{ClientID: protocol.ClientIDOf(key(n)), PublicKey: key(n),
			Label: strings.Repeat("<", clients.MaxLabel), Grant: protocol.GrantView, AddedAt: 1})
	}
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, string(data))
	if _, err := s.Add(key(1000), "one more", protocol.GrantView); !errors.Is(err, clients.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := s.Add(key(7), "known", protocol.GrantView); err != nil {
		t.Errorf("one that is there already: %v", err)
	}
}

func TestTheTimeOfAVisitIsWrittenOnceAnHour(t *testing.T) {
	s, name, c := newStore(t)
	e := add(t, s, 1, "phone", protocol.GrantView)
	seen := func() int64 {
		t.Helper()
		if err := s.Seen(e.ClientID); err != nil {
			t.Fatal(err)
		}
		got, _, _ := s.Get(e.ClientID)
		return got.LastSeen
	}
	first := seen()
	if first != c.at.UnixMilli() {
		t.Fatalf("first visit at %d", first)
	}
	before, _ := os.Stat(name)
	c.at = c.at.Add(59 * time.Minute)
	if got := seen(); got != first {
		t.Errorf("within the hour it became %d", got)
	}
	if after, _ := os.Stat(name); !os.SameFile(before, after) {
		t.Error("the file was written within the hour")
	}
	c.at = c.at.Add(time.Minute)
	if got := seen(); got != c.at.UnixMilli() {
		t.Errorf("after an hour it is %d", got)
	}
	c.at = c.at.Add(-48 * time.Hour) // the clock was set back
	if got := seen(); got != c.at.UnixMilli() {
		t.Errorf("after the clock was set back it is %d", got)
	}
}

func TestADamagedListLetsNobodyInAndIsNotReplaced(t *testing.T) {
	s, name, _ := newStore(t)
	e := add(t, s, 1, "phone", protocol.GrantView)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]string{
		"empty":                         "",
		"no JSON":                       "{",
		"cut":                           string(good[:len(good)/2]),
		"two lists":                     string(good) + string(good),
		"another version":               strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"another key":                   strings.Replace(string(good), `"publicKey": "AQ`, `"publicKey": "BQ`, 1),
		"no such grant":                 strings.Replace(string(good), `"view"`, `"all"`, 1),
		"an unknown field":              strings.Replace(string(good), `"label"`, `"name": "x", "label"`, 1),
		"a label that moves the cursor": strings.Replace(string(good), `"phone"`, `"a\u001b[2Jb"`, 1),
	}
	for what, text := range broken {
		if what != "empty" && text == string(good) {
			t.Fatalf("%s: nothing was changed", what)
		}
		write(t, name, text)
		_, ok, err := s.Get(e.ClientID)
		_, listErr := s.List()
		_, addErr := s.Add(key(2), "new", protocol.GrantControl)
		for call, err := range map[string]error{"get": err, "list": listErr, "add": addErr, "rename": s.Rename(e.ClientID, "x"), "revoke": s.Revoke(e.ClientID), "seen": s.Seen(e.ClientID)} {
			var damaged *clients.DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %s: %v", what, call, err)
			}
		}
		if now, err := os.ReadFile(name); ok || err != nil || string(now) != text {
			t.Errorf("%s: let in %v, the file is now %q", what, ok, now)
		}
	}
}

func TestChangesByManyAtOnceAreAllKept(t *testing.T) {
	s, name, _ := newStore(t)
	var wg sync.WaitGroup
	failed := make([]error, 40)
	for n := range failed {
		store := s
		if n%2 == 1 {
			store = clients.New(disk.OS(), name, time.Now) // as another process would
		}
		wg.Go(func() { _, failed[n] = store.Add(key(n), fmt.Sprint("entry ", n), protocol.GrantView) })
	}
	wg.Wait()
	list, err := s.List()
	if err := errors.Join(append(failed, err)...); err != nil || len(list) != len(failed) {
		t.Errorf("%d of %d entries: %v", len(list), len(failed), err)
	}
}

func TestAListThatCannotBeReadOrWrittenIsAnErrorThatNamesIt(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		name := filepath.Join(dir, "entries.json")
		s := clients.New(disk.OS(), name, time.Now)
		e := add(t, s, 1, "phone", protocol.GrantView)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if err := s.SetGrant(e.ClientID, protocol.GrantControl); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("write into a closed folder: %v", err)
		}
		if err := errors.Join(os.Chmod(dir, 0o700), os.Chmod(name, 0)); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Get(e.ClientID); ok || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("read a closed file: %v %v", ok, err)
		}
	})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEachThatComesByACodeHasALabelOfItsOwn(t *testing.T) {
	s, _, _ := newStore(t)
	long := strings.Repeat("é", clients.MaxLabel)
	for n, c := range [][2]string{
		{"Chrome on Linux", "Chrome on Linux"}, {"Chrome on Linux", "Chrome on Linux 2"}, {"Chrome on Linux", "Chrome on Linux 3"},
		{"", "browser"}, {"", "browser 2"}, {long, long}, {long, strings.Repeat("é", clients.MaxLabel-2) + " 2"},
	} {
		e, err := s.Pair(key(n), c[0], protocol.GrantControl, "")
		if err != nil || e.Label != c[1] {
			t.Errorf("%d: %q, %v; not %q", n, e.Label, err, c[1])
		}
	}
	again, err := s.Pair(key(1), "Chrome on Linux", protocol.GrantControl, "")
	if err != nil || again.Label != "Chrome on Linux 2" {
		t.Errorf("one that comes again is %q, %v", again.Label, err)
	}
}

func TestWhoAskedWhileTheClockWasAheadDoesNotWaitForYears(t *testing.T) {
	s, _, c := newStore(t)
	right := c.at
	c.at = right.AddDate(5, 0, 0)
	for n := range clients.MaxPending {
		if _, err := s.Pair(key(n), "phone", protocol.GrantAnswer, "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
	}
	c.at = right
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("%d still wait, %v", len(list), err)
	}
	if _, err := s.Pair(key(100), "phone", protocol.GrantAnswer, "192.0.2.1"); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
