package partial

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

const turnSession = protocol.SessionID("ses_06h2338dbioc0ujhervp8l78ok")

func TestATurnSaysWhichCallsHadBegunOnTheSameStartOfTheMachine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pending")
	report := func(s string) { t.Error(s) }
	keeper := NewTurn(disk.OS(), dir, turnSession, "boot-1", NewReports(report))
	if _, found, err := keeper.Load(); found || err != nil {
		t.Fatal(found, err)
	}
	keeper.Begin(Running{SessionID: turnSession, Model: "m"})
	keeper.Call("c1")
	load := func(boot string) Running {
		t.Helper()
		r, found, err := NewTurn(disk.OS(), dir, turnSession, boot, NewReports(report)).Load()
		if !found || err != nil || r.Model != "m" {
			t.Fatalf("%+v %v %v", r, found, err)
		}
		return r
	}
	if r := load("boot-1"); !r.HasBegun("c1") || r.HasBegun("c2") {
		t.Errorf("%+v", r)
	}
	for _, boot := range []string{"boot-2", ""} {
		if r := load(boot); !r.HasBegun("c1") || !r.HasBegun("c2") {
			t.Errorf("after another start of the machine nobody knows which calls had begun: %+v", r)
		}
	}
	name := filepath.Join(dir, string(turnSession)+".turn")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, whole[:len(whole)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := load("boot-1"); !r.HasBegun("c1") {
		t.Error("a call whose line is damaged counts as not begun")
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, found, err := keeper.Load(); !found || !errors.Is(err, ErrDamaged) || !r.HasBegun("c1") {
		t.Errorf("an empty file: %+v %v %v", r, found, err)
	}
	keeper.End()
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a turn that has ended: %v", err)
	}
}
