package host_test

import (
	"bytes"
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
	"scorel/internal/host/clients"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// pair puts an entry on the device's list, as pairing will.
func (w *world) pair(n byte, label string, grant protocol.Grant) clients.Entry {
	w.t.Helper()
	e, err := clients.New(disk.OS(), filepath.Join(w.home, ".scorel", "entries.json"), time.Now).Add(bytes.Repeat([]byte{n}, 32), label, grant)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// comeIn connects an entry with its key, as a server does that has had its proof.
func (w *world) comeIn(e clients.Entry, grant protocol.Grant) (*host.Conn, error) {
	return w.host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: e.ClientID, ClientName: e.Label,
		PublicKey: e.PublicKey}, grant)
}

func (w *world) entered(e clients.Entry, grant protocol.Grant) (*client.Client, *host.Conn) {
	w.t.Helper()
	conn, err := w.comeIn(e, grant)
	if err != nil {
		w.t.Fatal(err)
	}
	c := client.New(conn)
	w.t.Cleanup(func() { _ = c.Close() })
	return c, conn
}

func listed(t *testing.T, c *client.Client) map[protocol.ClientID]protocol.Entry {
	t.Helper()
	out := map[protocol.ClientID]protocol.Entry{}
	for _, e := range call[*protocol.EntryList](t, c, "", &protocol.ListEntries{}).Entries {
		out[e.ClientID] = e
	}
	return out
}

func TestEntriesAreListedWithWhoIsThere(t *testing.T) {
	w := newWorld(t, setting{})
	owner := w.connect(false)
	if got := call[*protocol.EntryList](t, owner, "", &protocol.ListEntries{}); got.Entries == nil || len(got.Entries) != 0 {
		t.Errorf("without a file: %+v", got)
	}
	phone, laptop := w.pair(1, "phone", protocol.GrantAnswer), w.pair(2, "laptop", protocol.GrantControl)
	c, _ := w.entered(phone, protocol.GrantAnswer)
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
	call[*protocol.Done](t, owner, "", &protocol.RenameEntry{ClientID: phone.ClientID, Label: " pocket\n"})
	if e := listed(t, owner)[phone.ClientID]; e.Label != "pocket" {
		t.Errorf("renamed: %+v", e)
	}
}

func TestAnEntryWithLessThanControlCannotTouchTheList(t *testing.T) {
	w := newWorld(t, setting{})
	e := w.pair(1, "phone", protocol.GrantAnswer)
	c, _ := w.entered(e, protocol.GrantAnswer)
	for _, r := range []protocol.Request{&protocol.ListEntries{}, &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantControl},
		&protocol.RenameEntry{ClientID: e.ClientID, Label: "x"}, &protocol.RevokeEntry{ClientID: e.ClientID}} {
		refused(t, c, "", r, protocol.CodeForbidden)
	}
}

func TestAGrantCountsAtOnceOnOpenConnections(t *testing.T) {
	w := newWorld(t, setting{})
	owner := w.connect(false)
	e := w.pair(1, "phone", protocol.GrantControl)
	c, _ := w.entered(e, protocol.GrantControl)
	call[*protocol.EntryList](t, c, "", &protocol.ListEntries{})
	call[*protocol.Done](t, owner, "", &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantView})
	refused(t, c, "", &protocol.ListEntries{}, protocol.CodeForbidden)
	call[*protocol.ProjectList](t, c, "", &protocol.ListProjects{})
	if _, grant, ok := w.host.Entries().Lookup(e.ClientID); !ok || grant != protocol.GrantView {
		t.Errorf("the list says %s %v", grant, ok)
	}
	call[*protocol.Done](t, owner, "", &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantControl})
	call[*protocol.EntryList](t, c, "", &protocol.ListEntries{})
	refused(t, owner, "", &protocol.SetGrant{ClientID: e.ClientID, Grant: "all"}, protocol.CodeInvalidRequest)
}

func TestARevokedEntryIsCutOffAtOnce(t *testing.T) {
	w := newWorld(t, setting{})
	owner := w.connect(false)
	e, other := w.pair(1, "phone", protocol.GrantControl), w.pair(2, "laptop", protocol.GrantControl)
	_, first := w.entered(e, protocol.GrantControl)
	_, second := w.entered(e, protocol.GrantControl)
	rest, _ := w.entered(other, protocol.GrantControl)
	call[*protocol.Done](t, owner, "", &protocol.RevokeEntry{ClientID: e.ClientID})
	for _, conn := range []*host.Conn{first, second} {
		select {
		case <-conn.Done():
		case <-time.After(patience):
			t.Fatal("the connection was not ended")
		}
		if _, err := conn.Call(context.Background(), protocol.Call{RequestID: protocol.NewRequestID(zeros{}), Request: &protocol.Ping{}}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a call afterwards: %v", err)
		}
	}
	call[*protocol.EntryList](t, rest, "", &protocol.ListEntries{})
	if key, _, ok := w.host.Entries().Lookup(e.ClientID); ok || key != nil {
		t.Error("the entry is still on the list")
	}
	if pe := refused(t, owner, "", &protocol.RevokeEntry{ClientID: e.ClientID}, protocol.CodeInvalidRequest); !strings.Contains(pe.Message, "no such entry") {
		t.Errorf("again: %v", pe)
	}
}

func TestADamagedListOfEntriesIsSaidAndKept(t *testing.T) {
	w := newWorld(t, setting{})
	e := w.pair(1, "phone", protocol.GrantControl)
	name := filepath.Join(w.home, ".scorel", "entries.json")
	w.finds("sound", "entries", "ok", "key of their own: 1", "")
	w.write(name, "{")
	owner := w.connect(false)
	for _, r := range []protocol.Request{&protocol.ListEntries{}, &protocol.RenameEntry{ClientID: e.ClientID, Label: "x"}, &protocol.RevokeEntry{ClientID: e.ClientID}} {
		if pe := refused(t, owner, "", r, protocol.CodeStorageError); !strings.Contains(pe.Message, name) {
			t.Errorf("%s: %v", r.Spec().Name, pe)
		}
	}
	if _, _, ok := w.host.Entries().Lookup(e.ClientID); ok {
		t.Error("an entry of a damaged list may come in")
	}
	w.finds("damaged", "entries", "fail", name, "no entry can come in")
	if data, err := os.ReadFile(name); err != nil || string(data) != "{" {
		t.Errorf("the file became %q", data)
	}
}

// zeros is a source of ids.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
