package serve

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/coder/websocket"

	"scorel/internal/host/serve/metrics"
	"scorel/protocol"
)

// BenchmarkFrameToAClient is what one small frame costs the host for one client that
// reads along.
func BenchmarkFrameToAClient(b *testing.B) {
	s := New(Config{Entries: &list{}})
	lis := &listener{s: s, kind: Unix, unproven: newUnproven(Unix), streams: map[*stream]struct{}{}}
	accepted := make(chan *socket, 1)
	srv := &http.Server{ReadHeaderTimeout: time.Second, ConnContext: func(ctx context.Context, c net.Conn) context.Context { return withStream(ctx, c) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
			if err != nil {
				b.Error(err)
			}
			accepted <- &socket{s: s, ws: ws, st: streamOf(r.Context())}
		})}
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = srv.Serve(streams{l, lis}) }()
	defer func() { _ = srv.Close() }()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
	}}
	ws, _, err := websocket.Dial(b.Context(), "ws://localhost", &websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
	if err != nil {
		b.Fatal(err)
	}
	c := <-accepted
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			if _, _, err := ws.Read(context.Background()); err != nil {
				return
			}
		}
	}()
	body, err := protocol.ParseEvent(json.RawMessage(`{"type":"text_delta","seq":6,"sessionId":"ses_06gvjt8omfp0uc5mer6nh56lhp","clientId":"host","ts":1795194951938,"turnId":"trn_69esfdfpsalvdjhm","eventId":"evt_0123456789abcdef","blockIndex":0,"delta":"a few words of text"}`))
	if err != nil {
		b.Fatal(err)
	}
	frame := &protocol.EventsFrame{SessionID: "ses_06gvjt8omfp0uc5mer6nh56lhp", Events: []protocol.Event{body}}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		alive := false
		if buf, alive = c.writeFrame(buf, frame); !alive {
			b.Fatal("the connection is gone")
		}
	}
	_ = ws.CloseNow()
	_ = c.ws.CloseNow()
	<-read
}

// streams makes connections streams, as the server's own listener does.
type streams struct {
	net.Listener
	l *listener
}

func (s streams) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	st := newStream(c, time.Now)
	st.l, st.stall = s.l, time.Minute
	return st, nil
}

func BenchmarkMetricsOfARequest(b *testing.B) {
	m := metrics.New()
	b.ReportAllocs()
	for b.Loop() {
		m.Request("send_message", "ok", time.Millisecond)
	}
}
