package serve

import (
	"context"
	"errors"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// TestAnEntryOfTheDevicesListComesInUntilItIsRevoked: list, server and the client
// library together, without a list of the test's own.
func TestAnEntryOfTheDevicesListComesInUntilItIsRevoked(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	ctx, cancel := context.WithTimeout(context.Background(), harness.Timeout)
	defer cancel()
	device, _ := w.host.Device()
	static := newKey(t)
	by := &client.WebSocket{URL: "unix:" + w.socket, Key: static, Device: device, ClientName: "phone"}
	if _, _, err := by.Dial(ctx); err == nil {
		t.Fatal("an entry came in that is not on the list")
	}
	e, err := w.host.Entries().Add(static.PublicKey().Bytes(), "phone", protocol.GrantView)
	if err != nil {
		t.Fatal(err)
	}
	phone, connected, err := by.Dial(ctx)
	if err != nil || connected.Grant != protocol.GrantView {
		t.Fatalf("%+v %v", connected, err)
	}
	defer func() { _ = phone.Close() }()
	ended := make(chan struct{})
	go func() { // ends with the connection
		defer close(ended)
		for {
			if _, err := phone.Recv(ctx); err != nil {
				return
			}
		}
	}()
	ask := func(r protocol.Request) error {
		t.Helper()
		reply, err := phone.Call(ctx, protocol.Call{RequestID: protocol.NewRequestID(w.server.cfg.Rand), Request: r})
		if err != nil {
			return err
		}
		if reply.Err != nil {
			return reply.Err
		}
		return nil
	}
	owner := w.connect(dialling{})
	list := func() protocol.Entry {
		t.Helper()
		return owner.call("", &protocol.ListEntries{}).Data.(*protocol.EntryList).Entries[0]
	}
	if got := list(); !got.Online || got.LastSeen == 0 || got.ClientID != e.ClientID {
		t.Errorf("listed as %+v", got)
	}
	var pe *protocol.Error
	if err := ask(&protocol.ListEntries{}); !errors.As(err, &pe) || pe.Code != protocol.CodeForbidden {
		t.Errorf("with view: %v", err)
	}
	if r := owner.call("", &protocol.SetGrant{ClientID: e.ClientID, Grant: protocol.GrantControl}); r.Err != nil {
		t.Fatal(r.Err)
	}
	if err := ask(&protocol.ListEntries{}); err != nil {
		t.Errorf("with control: %v", err)
	}
	if r := owner.call("", &protocol.RevokeEntry{ClientID: e.ClientID}); r.Err != nil {
		t.Fatal(r.Err)
	}
	select {
	case <-ended:
	case <-time.After(harness.Timeout):
		t.Fatal("the revoked entry is still connected")
	}
	if err := ask(&protocol.Ping{}); err == nil {
		t.Error("a revoked entry is answered")
	}
	if _, _, err := by.Dial(ctx); !errors.As(err, &pe) || pe.Code != protocol.CodeAuthFailed {
		t.Errorf("it comes back: %v", err)
	}
}
