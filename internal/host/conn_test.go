package host_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestNobodyIsLeftWaitingWhenTheHostCloses(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"x"},{"hang":true}]}`)
	e := w.Begin(false)
	turn := e.Send("look")
	e.Until(hosttest.OfType(protocol.TypeTextDelta))
	ended := make(chan error, 1)
	go func() { // ends with the connection
		for {
			if _, err := e.S.Next(context.Background()); err != nil {
				ended <- err
				return
			}
		}
	}()
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, client.ErrClosed) {
		t.Errorf("next: %v", err)
	}
	if _, err := client.Call[*protocol.Cancelled](context.Background(), e.C, e.ID, &protocol.Cancel{TurnID: turn}); err == nil {
		t.Error("a closed host answers")
	}
	if _, err := w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: "cli_00000000000000000000000000"}, protocol.GrantControl); err == nil {
		t.Error("a closed host lets a client in")
	}
	// What was shown is stored, and the queue is not paused: it was a clean stop.
	last := w.Log(e.ID)
	m, _ := last[len(last)-1].Message()
	if m.PlainText() != "x" || !m.Partial || m.StopReason != protocol.StopCancelled {
		t.Errorf("stored: %+v", m)
	}
	if err := w.Host.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

func TestFramesAreBounded(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Window: 10_000_000}, `{"again":true,"do":[{"text":"many words, ","times":3000}]}`)
	e := w.Begin(false)
	for range 12 {
		e.Say("go")
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	conn, err := w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(key)}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := func(r protocol.Request) *protocol.Error {
		reply, err := conn.Call(context.Background(), protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: e.ID, Request: r})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Err
	}
	if err := request(&protocol.OpenSession{Tail: 1000}); err != nil {
		t.Fatal(err)
	}
	if err := request(&protocol.OpenSession{}); err == nil || err.Code != protocol.CodeInvalidRequest {
		t.Errorf("a second open: %v", err)
	}
	frames, events := 0, 0
	for live := false; !live; {
		f, err := conn.Recv(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		data, err := protocol.MarshalFrame(f)
		if err != nil {
			t.Fatal(err)
		}
		switch f := f.(type) {
		case *protocol.EventsFrame:
			frames++
			events += len(f.Events)
			if len(f.Events) > 1 && len(data) > 64<<10+40_000 {
				t.Errorf("a frame of %d events has %d bytes", len(f.Events), len(data))
			}
		case *protocol.LiveFrame:
			live = true
		}
	}
	if frames < 5 || events != 24 {
		t.Errorf("%d events came in %d frames", events, frames)
	}
	if err := request(&protocol.CloseSession{}); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := request(&protocol.CloseSession{}); err == nil {
		t.Error("what is not open could be closed")
	}
}

func TestAClientIntroducesItself(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	for name, h := range map[string]struct {
		hello protocol.Hello
		code  protocol.Code
	}{
		"another version": {protocol.Hello{ProtocolVersion: 99, ClientID: "cli_00000000000000000000000000"}, protocol.CodeUnsupportedProtocol},
		"as the host":     {protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.HostClient}, protocol.CodeInvalidRequest},
		"without an id":   {protocol.Hello{ProtocolVersion: protocol.Version}, protocol.CodeInvalidRequest},
	} {
		if _, err := w.Host.Connect(context.Background(), h.hello, protocol.GrantControl); err == nil || protocol.AsError(err).Code != h.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPayloadsGoUpAndDownInParts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	c := w.Connect(false)
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	var ref *protocol.BlobRef
	for off := 0; off < len(data); off += 30_000 {
		end := min(off+30_000, len(data))
		ref = hosttest.Call[*protocol.BlobRef](t, c, "", &protocol.PutBlob{UploadID: "up", Offset: int64(off), Data: data[off:end], Last: end == len(data)})
	}
	if ref.Size != int64(len(data)) || len(ref.SHA256) != 64 {
		t.Fatalf("stored: %+v", ref)
	}
	var got []byte
	for len(got) < len(data) {
		part := hosttest.Call[*protocol.BlobPart](t, c, "", &protocol.GetBlob{SHA256: ref.SHA256, Offset: int64(len(got)), Length: 48 << 10})
		got = append(got, part.Data...)
	}
	if !bytes.Equal(got, data) {
		t.Error("it came back otherwise")
	}
	hosttest.Refused(t, c, "", &protocol.GetBlob{SHA256: ref.SHA256, Length: 48<<10 + 1}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, c, "", &protocol.PutBlob{UploadID: "new", Offset: 5, Data: []byte("x")}, protocol.CodeInvalidRequest)
	for i := range 5 {
		up := &protocol.PutBlob{UploadID: strings.Repeat("u", i+1), Data: []byte("x")}
		if i < 4 {
			hosttest.Call[*protocol.BlobRef](t, c, "", up)
		} else {
			hosttest.Refused(t, c, "", up, protocol.CodeRateLimited)
		}
	}
}
