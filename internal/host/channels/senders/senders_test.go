package senders

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	crand "crypto/rand"

	"scorel/internal/platform/disk"
)

func store(t *testing.T) (Store, *time.Time) {
	now := time.Unix(1_700_000_000, 0)
	return Store{FS: disk.OS(), File: File(t.TempDir()), Now: func() time.Time { return now }, Rand: crand.Reader}, &now
}

// ask asks for the code of a sender.
func ask(t *testing.T, s Store, channel, id string) (code string, tell bool) {
	t.Helper()
	code, tell, err := s.Asked(Sender{Channel: channel, Server: "hash", ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return code, tell
}

func knows(t *testing.T, s Store, who Sender) bool {
	t.Helper()
	known, err := s.Knows(who)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestASenderIsKnownFromItsCodeToItsRevocation(t *testing.T) {
	s, _ := store(t)
	eve := Sender{Channel: "chat", Server: "hash", ID: "7"}
	if knows(t, s, eve) {
		t.Error("somebody is known before anybody is paired")
	}
	code, tell := ask(t, s, "chat", "7")
	if len(code) != 6 || strings.Trim(code, "0123456789") != "" || !tell {
		t.Errorf("the code is %q, told %v", code, tell)
	}
	if knows(t, s, eve) {
		t.Error("who has a code is known already")
	}
	if info, err := os.Stat(s.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if who, err := s.Pair(code); err != nil || !who.same(eve) {
		t.Fatalf("%+v %v", who, err)
	}
	if _, err := s.Pair(code); !errors.Is(err, ErrNoCode) {
		t.Errorf("a code counts twice: %v", err)
	}
	for _, other := range []Sender{{Channel: "mail", Server: "hash", ID: "7"}, {Channel: "chat", Server: "another", ID: "7"}, {Channel: "chat", Server: "hash", ID: "8"}} {
		if knows(t, s, other) {
			t.Errorf("%+v is known", other)
		}
	}
	if !knows(t, s, eve) {
		t.Error("who was paired is not known")
	}
	if gone, err := s.Revoke("chat", "7"); err != nil || len(gone) != 1 || knows(t, s, eve) {
		t.Errorf("%v %v", gone, err)
	}
	if _, err := s.Revoke("chat", "7"); !errors.Is(err, ErrNobody) {
		t.Errorf("%v", err)
	}
}

func TestCodesExpireAreFewAndAreToldTwice(t *testing.T) {
	s, now := store(t)
	code, _ := ask(t, s, "chat", "7")
	if again, tell := ask(t, s, "chat", "7"); again != code || !tell {
		t.Errorf("the second time it is %q, told %v", again, tell)
	}
	if _, tell := ask(t, s, "chat", "7"); tell {
		t.Error("it is told a third time")
	}
	for i := range MaxOpen - 1 {
		ask(t, s, "chat", fmt.Sprint("other", i))
	}
	if more, tell := ask(t, s, "chat", "one more"); more != "" || tell {
		t.Errorf("one more has %q", more)
	}
	if other, _ := ask(t, s, "mail", "7"); other == "" {
		t.Error("another channel has no code")
	}
	*now = now.Add(CodeTime)
	if _, err := s.Pair(code); !errors.Is(err, ErrNoCode) {
		t.Errorf("a code counts after an hour: %v", err)
	}
	if _, open, err := s.List(); err != nil || len(open) != 0 {
		t.Errorf("%+v %v", open, err)
	}
	if more, tell := ask(t, s, "chat", "one more"); more == "" || !tell {
		t.Error("an hour later one more has no code")
	}
}

func TestADamagedFileListensToNobodyAndStays(t *testing.T) {
	s, _ := store(t)
	for _, text := range []string{"", "{", `{"version":2}`, `{"version":1,"admin":true}`, `{"version":1}{}`} {
		if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if known, err := s.Knows(Sender{Channel: "chat", ID: "7"}); known || err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%q: %v %v", text, known, err)
		}
		if _, _, err := s.Asked(Sender{Channel: "chat", ID: "7"}); err == nil {
			t.Errorf("%q is written over", text)
		}
		if data, _ := os.ReadFile(s.File); string(data) != text {
			t.Errorf("%q has become %q", text, data)
		}
	}
}

func TestSendersThatAskAtOnceAreAllKept(t *testing.T) {
	s, _ := store(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { ask(t, s, fmt.Sprint("channel", i), "7") })
	}
	wg.Wait()
	if _, open, err := s.List(); err != nil || len(open) != 8 {
		t.Errorf("%d %v", len(open), err)
	}
	if left, _ := filepath.Glob(s.File + "*tmp*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestACodeOfAClockThatWasAheadCountsNoLonger(t *testing.T) {
	s, now := store(t)
	right := *now
	*now = right.AddDate(5, 0, 0)
	var old string
	for i := range MaxOpen {
		old, _ = ask(t, s, "chat", fmt.Sprint("ahead", i))
	}
	*now = right
	if _, open, err := s.List(); err != nil || len(open) != 0 {
		t.Errorf("open for years: %+v, %v", open, err)
	}
	if code, tell := ask(t, s, "chat", "new"); code == "" || !tell {
		t.Error("a new sender gets no code")
	}
	if _, err := s.Pair(old); !errors.Is(err, ErrNoCode) {
		t.Errorf("a code of years ahead pairs: %v", err)
	}
}
