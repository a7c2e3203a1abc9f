package admin_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func listed(t *testing.T, c *client.Client) map[protocol.ClientID]protocol.Entry {
	t.Helper()
	out := map[protocol.ClientID]protocol.Entry{}
	for _, e := range hosttest.Call[*protocol.EntryList](t, c, "", &protocol.ListEntries{}).Entries {
		out[e.ClientID] = e
	}
	return out
}

func TestEntriesAreListedWithWhoIsThere(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	owner := w.Connect(false)
	if got := hosttest.Call[*protocol.EntryList](t, owner, "", &protocol.ListEntries{}); got.Entries == nil || len(got.Entries) != 0 {
		t.Errorf("without a file: %+v", got)
	}
	phone, laptop := w.Pair(1, "phone", protocol.GrantAnswer), w.Pair(2, "laptop", protocol.GrantControl)
	c, _ := w.Entered(phone, protocol.GrantAnswer)
	got := listed(t, owner)
	if e := got[phone.ClientID]; !e.Online || e.LastSeen == 0 || e.Label != "phone" || e.Grant != protocol.GrantAnswer || e.AddedAt == 0 {
		t.Errorf("the one that is there: %+v", e)
	}
	if e := got[laptop.ClientID]; e.Online || e.LastSeen != 0 {
		t.Errorf("the one that is not: %+v", e)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if e := listed(t, owner)[phone.ClientID]; e.Online {
		t.Errorf("after it went: %+v", e)
	}
	hosttest.Call[*protocol.Done](t, owner, "", &protocol.RenameEntry{ClientID: phone.ClientID, Label: " pocket\n"})
	if e := listed(t, owner)[phone.ClientID]; e.Label != "pocket" {
		t.Errorf("renamed: %+v", e)
	}
}

func TestAnEntryWithLessThanControlCannotTouchTheList(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	e := w.Pair(1, "phone", protocol.GrantAnswer)
	c, _ := w.Entered(e, protocol.GrantAnswer)
	for _, r := range []protocol.Request{&protocol.ListEntries{}, &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantControl},
		&protocol.RenameEntry{ClientID: e.ClientID, Label: "x"}, &protocol.RevokeEntry{ClientID: e.ClientID}} {
		hosttest.Refused(t, c, "", r, protocol.CodeForbidden)
	}
}

func TestAGrantCountsAtOnceOnOpenConnections(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	owner := w.Connect(false)
	e := w.Pair(1, "phone", protocol.GrantControl)
	c, _ := w.Entered(e, protocol.GrantControl)
	hosttest.Call[*protocol.EntryList](t, c, "", &protocol.ListEntries{})
	hosttest.Call[*protocol.Done](t, owner, "", &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantView})
	hosttest.Refused(t, c, "", &protocol.ListEntries{}, protocol.CodeForbidden)
	hosttest.Call[*protocol.ProjectList](t, c, "", &protocol.ListProjects{})
	if _, grant, ok, err := w.Host.Entries().Lookup(e.ClientID); err != nil || !ok || grant != protocol.GrantView {
		t.Errorf("the list says %s %v", grant, ok)
	}
	hosttest.Call[*protocol.Done](t, owner, "", &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantControl})
	hosttest.Call[*protocol.EntryList](t, c, "", &protocol.ListEntries{})
	hosttest.Refused(t, owner, "", &protocol.SetGrant{ClientID: e.ClientID, Grant: "all"}, protocol.CodeInvalidRequest)
}

func TestARevokedEntryIsCutOffAtOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	owner := w.Connect(false)
	e, other := w.Pair(1, "phone", protocol.GrantControl), w.Pair(2, "laptop", protocol.GrantControl)
	_, first := w.Entered(e, protocol.GrantControl)
	_, second := w.Entered(e, protocol.GrantControl)
	rest, _ := w.Entered(other, protocol.GrantControl)
	hosttest.Call[*protocol.Done](t, owner, "", &protocol.RevokeEntry{ClientID: e.ClientID})
	for _, conn := range []*host.Conn{first, second} {
		select {
		case <-conn.Done():
		case <-time.After(hosttest.Patience):
			t.Fatal("the connection was not ended")
		}
		if _, err := conn.Call(context.Background(), protocol.Call{RequestID: protocol.NewRequestID(zeros{}), Request: &protocol.Ping{}}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a call afterwards: %v", err)
		}
	}
	hosttest.Call[*protocol.EntryList](t, rest, "", &protocol.ListEntries{})
	if key, _, ok, err := w.Host.Entries().Lookup(e.ClientID); err != nil || ok || key != nil {
		t.Error("the entry is still on the list")
	}
	if pe := hosttest.Refused(t, owner, "", &protocol.RevokeEntry{ClientID: e.ClientID}, protocol.CodeInvalidRequest); !strings.Contains(pe.Message, "no such entry") {
		t.Errorf("again: %v", pe)
	}
}

func TestADamagedListOfEntriesIsSaidAndKept(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	e := w.Pair(1, "phone", protocol.GrantControl)
	name := filepath.Join(w.Home, ".scorel", "entries.json")
	w.Finds("sound", "entries", "ok", "client keys: 1", "")
	w.Write(name, "{")
	owner := w.Connect(false)
	for _, r := range []protocol.Request{&protocol.ListEntries{}, &protocol.RenameEntry{ClientID: e.ClientID, Label: "x"}, &protocol.RevokeEntry{ClientID: e.ClientID}} {
		if pe := hosttest.Refused(t, owner, "", r, protocol.CodeStorageError); !strings.Contains(pe.Message, name) {
			t.Errorf("%s: %v", r.Spec().Name, pe)
		}
	}
	if _, _, ok, err := w.Host.Entries().Lookup(e.ClientID); err == nil || ok {
		t.Error("an entry of a damaged list may come in")
	}
	w.Finds("damaged", "entries", "fail", name, "no client can connect")
	if data, err := os.ReadFile(name); err != nil || string(data) != "{" {
		t.Errorf("the file became %q", data)
	}
}

// zeros is a source of ids.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
