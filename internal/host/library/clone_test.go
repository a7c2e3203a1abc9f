package library_test

import (
	"sync/atomic"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// renaming is a disk that calls after when a file has got its name, once.
type renaming struct {
	disk.FS
	after atomic.Pointer[func(name string)]
}

func (r *renaming) Rename(from, to string) error {
	err := r.FS.Rename(from, to)
	if after := r.after.Swap(nil); after != nil && err == nil {
		(*after)(to)
	}
	return err
}

// TestACopyIsInItsModeAlsoWhenTheHostIsKilledMeanwhile kills the host as soon as the copy is
// there, and repeats the request at the next one.
func TestACopyIsInItsModeAlsoWhenTheHostIsKilledMeanwhile(t *testing.T) {
	r := &renaming{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	w.Config.FS = r
	w.Restart()
	e := w.Begin(false)
	e.Say("one")
	e.Mode("plan")
	c := w.Caller()
	call := hosttest.NewCall(hosttest.NewID(), &protocol.CloneSession{FromSessionID: e.ID})
	var killed *hosttest.World
	after := func(string) { killed = w.Killed() }
	r.after.Store(&after)
	if reply := c.Call(call); reply.Err != nil {
		t.Fatal(reply.Err)
	}
	if killed == nil {
		t.Fatal("no file was made")
	}
	again := &hosttest.Caller{W: killed, Key: c.Key}
	again.Connect()
	call.Repeat = true
	if reply := again.Call(call); reply.Err != nil {
		t.Fatalf("the repeat: %v", reply.Err)
	}
	if mode := killed.Open(killed.Connect(false), call.SessionID).S.Live.Mode; mode != "plan" {
		t.Errorf("the copy of a session in plan mode is in mode %q", mode)
	}
}
