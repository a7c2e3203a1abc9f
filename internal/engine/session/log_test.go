package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/session/owner"
	"scorel/protocol"
)

func TestCommittedEventsAreThereAfterReopen(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "hello")
	b := w.assistant(a.ID, "hi")
	if err := log.Commit(t.Context(), []protocol.Event{a, b}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log, report := w.open(t)
	if !report.Clean() {
		t.Fatal(report.Sentences())
	}
	if got := log.Index().Leaf(); got != b.ID {
		t.Fatalf("leaf %s, want %s", got, b.ID)
	}
	var texts []string
	for ev, err := range log.Index().Back(context.Background(), b.ID) {
		if err != nil {
			t.Fatal(err)
		}
		m, _ := ev.Message()
		texts = append(texts, m.PlainText())
	}
	if len(texts) != 2 || texts[0] != "hi" || texts[1] != "hello" {
		t.Fatal(texts)
	}

}

// Another machine that shares the folder takes a session over when this one has slept for long.
func TestCommitIsRefusedOnceAnotherHostHasTakenTheSessionOver(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "hello")
	if err := log.Commit(t.Context(), []protocol.Event{a}); err != nil {
		t.Fatal(err)
	}
	before := string(w.mem.Bytes(w.logName()))
	w.mem.TakeOver("/home/.scorel/sessions/"+string(w.id)+".lock", owner.Owner{PID: 77, Command: "scorel host"}.Text())
	var held *LockedError
	if err := log.Commit(t.Context(), []protocol.Event{w.assistant(a.ID, "hi")}); !errors.As(err, &held) || held.Owner.PID != 77 {
		t.Fatalf("wrote into a log that another host has: %v", err)
	}
	if got := string(w.mem.Bytes(w.logName())); got != before {
		t.Errorf("the log has changed: %q", got[len(before):])
	}
}

func TestALogThatAnotherProgramTakesAwayHasItsNameAgain(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(path string) error
		told string
		kept string // in the file that is kept
	}{
		"removed": {os.Remove, "removed the log", ""},
		"replaced": {func(p string) error {
			return errors.Join(os.WriteFile(p+"~", []byte("other"), 0o600), os.Rename(p+"~", p))
		}, "another file in the place", "other"},
		"moved":           {func(p string) error { return os.Rename(p, p+".elsewhere") }, "removed the log", ""},
		"with its folder": {func(p string) error { return os.RemoveAll(filepath.Dir(p)) }, "removed the log", ""},
		"untouched":       {func(string) error { return nil }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var err error
			if w.store, err = OpenStore(Config{Dir: t.TempDir(), Now: w.now, Rand: w.rand}); err != nil {
				t.Fatal(err)
			}
			log := w.create(t)
			var told []string
			log.OnPlaced(func(s string) { told = append(told, s) })
			first := w.user("", "one")
			if err := log.Commit(t.Context(), []protocol.Event{first}); err != nil {
				t.Fatal(err)
			}
			if err := c.do(w.store.path(w.id)); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"two", "three"} {
				if err := log.Commit(t.Context(), []protocol.Event{w.user(first.ID, text)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			log, _ = w.open(t) // nothing is written before the end
			if c.do(w.store.path(w.id)) != nil || log.Close() != nil {
				t.Fatal("not closed")
			}
			if n := min(len(c.told), 1); len(told) != n || n > 0 && !strings.Contains(told[0], c.told) {
				t.Errorf("told: %q", told)
			}
			data, err := os.ReadFile(w.store.path(w.id))
			for _, text := range []string{"one", "two", "three"} {
				if err != nil || strings.Count(string(data), `"`+text+`"`) != 1 {
					t.Errorf("%q is not stored once: %s, %v", text, data, err)
				}
			}
			if n := strings.Count(string(data), DamageKind); n != min(len(c.told), 1) { // nobody was told of the second
				t.Errorf("%d notes are kept: %s", n, data)
			}
			aside, err := filepath.Glob(w.store.path(w.id) + ".damaged-*")
			if err != nil || len(aside) != 2*min(len(c.kept), 1) {
				t.Fatalf("kept are %v, %v", aside, err)
			}
			for _, name := range aside {
				if data, err := os.ReadFile(name); err != nil || string(data) != c.kept {
					t.Errorf("kept is %q, %v", data, err)
				}
			}
		})
	}
}

func TestAFolderOfLogsThatIsElsewhereIsNotMadeAgain(t *testing.T) {
	for name, do := range map[string]func(dir string) error{
		"a link to nothing": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Symlink(filepath.Join(filepath.Dir(dir), "not mounted"), dir))
		},
		"the folder around it is gone": func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var err error
			if w.store, err = OpenStore(Config{Dir: filepath.Join(t.TempDir(), "home"), Now: w.now, Rand: w.rand}); err != nil {
				t.Fatal(err)
			}
			log := w.create(t)
			dir := filepath.Dir(w.store.path(w.id))
			if err := do(dir); err != nil {
				t.Fatal(err)
			}
			if err := log.Commit(t.Context(), []protocol.Event{w.user("", "one")}); err == nil {
				t.Error("it is stored somewhere")
			}
			if err := log.Close(); err == nil {
				t.Error("what is lost is not told")
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder is there again")
			}
		})
	}
}

func TestALogThatAnotherProgramCutTakesNothing(t *testing.T) {
	w := newWorld(t)
	var err error
	if w.store, err = OpenStore(Config{Dir: t.TempDir(), Now: w.now, Rand: w.rand}); err != nil {
		t.Fatal(err)
	}
	log := w.create(t)
	first := w.user("", "one")
	if err := log.Commit(t.Context(), []protocol.Event{first}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(w.store.path(w.id), 10); err != nil {
		t.Fatal(err)
	}
	err = log.Commit(t.Context(), []protocol.Event{w.user(first.ID, "two")})
	if !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "another program has cut the log") {
		t.Errorf("it gives %v", err)
	}
	if err := log.Close(); err == nil {
		t.Error("what is lost is not told")
	}
}

func TestALogThatAnotherProgramWritesIntoTakesNothingAndLosesNothing(t *testing.T) {
	for name, do := range map[string]func(path string, raw []byte) []byte{
		"more at the end": func(_ string, raw []byte) []byte { return append(raw, "{}\n"...) },
		"another log":     func(_ string, raw []byte) []byte { return bytes.Repeat([]byte("x"), len(raw)) },
		"touched":         func(_ string, raw []byte) []byte { return raw },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var err error
			if w.store, err = OpenStore(Config{Dir: t.TempDir(), Now: w.now, Rand: w.rand}); err != nil {
				t.Fatal(err)
			}
			log := w.create(t)
			first := w.user("", "one")
			if err := log.Commit(t.Context(), []protocol.Event{first}); err != nil {
				t.Fatal(err)
			}
			path := w.store.path(w.id)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			theirs := do(path, bytes.Clone(raw))
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(theirs, 0); err != nil || f.Close() != nil {
				t.Fatal(err)
			}
			later := w.now().Add(time.Hour)
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
			err = log.Commit(t.Context(), []protocol.Event{w.user(first.ID, "two")})
			if same := name == "touched"; same != (err == nil) || !same && (!errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "another program has written")) {
				t.Errorf("it gives %v", err)
			}
			_ = log.Close()
			if now, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(now, theirs) {
				t.Errorf("what the other wrote is gone: %s, %v", now, err)
			}
		})
	}
}
