package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"scorel/internal/host/daemon"
	"scorel/protocol"
	"scorel/protocol/handshake"
)

// heard is what listenCommand prints: how long pieces of answers took from the model
// to the clients, in milliseconds, and what its own process took.
type heard struct {
	Clients int     `json:"clients"`
	Pieces  int     `json:"pieces"` // that came, at all clients together
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	CPUMS   float64 `json:"cpuMs"`
}

// listenCommand connects many clients to a host, each to one of the sessions. It
// prints "ready" when all are live, and what they heard when each session's answer
// has ended.
func listenCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench listen", flag.ContinueOnError)
	dir := f.String("dir", "", "the folder of Scorel whose host is to be listened to")
	sessions := f.String("sessions", "", "the sessions, with commas between")
	clients := f.Int("clients", 1, "how many clients")
	pieces := f.Int("pieces", 1, "how many pieces come to each client")
	if err := f.Parse(args); err != nil {
		return err
	}
	h, err := listen(ctx, *dir, strings.Split(*sessions, ","), *clients, *pieces, func() { fmt.Println("ready") })
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(h)
}

// listen connects clients and listens until each has had its pieces.
func listen(ctx context.Context, dir string, sessions []string, clients, pieces int, ready func()) (heard, error) {
	raw, err := os.ReadFile(daemon.Header(dir))
	if err != nil {
		return heard{}, err
	}
	_, token, _ := strings.Cut(strings.TrimSpace(string(raw)), "Bearer ")
	info, live, err := daemon.Find(dir)
	if err != nil || !live {
		return heard{}, fmt.Errorf("no host runs (%v)", err)
	}
	ears := make([]*ear, clients)
	err = sideBySide(clients, 32, func(i int) error {
		var err error
		ears[i], err = newEar(ctx, info.Socket, token, protocol.SessionID(sessions[i%len(sessions)]))
		return err
	})
	defer func() {
		for _, e := range ears {
			if e != nil {
				_ = e.conn.Close()
			}
		}
	}()
	if err != nil {
		return heard{}, err
	}
	stop := context.AfterFunc(ctx, func() {
		for _, e := range ears {
			_ = e.conn.Close()
		}
	})
	defer stop()
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return heard{}, err
	}
	ready()
	if err := sideBySide(clients, clients, func(i int) error { return ears[i].hear(pieces) }); err != nil {
		return heard{}, err
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		return heard{}, err
	}
	var all series
	for _, e := range ears {
		all = append(all, e.took...)
	}
	slices.Sort(all)
	at := func(q float64) float64 { return all[min(int(q*float64(len(all))), len(all)-1)] }
	return heard{Clients: clients, Pieces: len(all), P50: at(0.5), P99: at(0.99), Max: at(1),
		CPUMS: milliseconds(time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()))}, nil
}

// sideBySide calls do for 0 to n-1, at most so many at once, and returns the first
// error.
func sideBySide(n, most int, do func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, most)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	wg.Wait()
	return firstOf(errs...)
}

// ear is a client that looks at the bytes that come for the stamps in them, and at
// nothing else: with a thousand clients in one process whatever it does more would
// be what is measured.
type ear struct {
	conn net.Conn
	took series // milliseconds
}

// newEar connects over a Unix socket and opens a session.
func newEar(ctx context.Context, socket, token string, session protocol.SessionID) (*ear, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	e := &ear{}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		var err error
		e.conn, err = d.DialContext(ctx, "unix", socket)
		return e.conn, err
	}}
	ws, _, err := websocket.Dial(ctx, "ws://localhost/v1/ws", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport},
		CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(16 << 20)
	if err := handshakeWith(ctx, ws, "unix:"+socket, token); err != nil {
		return nil, err
	}
	open := protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: session, Request: &protocol.OpenSession{}}
	if err := say(ctx, ws, open); err != nil {
		return nil, err
	}
	for { // to the live state; from then on nobody reads but hear
		_, data, err := ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case bytes.HasPrefix(data, []byte(`{"type":"error"`)):
			return nil, fmt.Errorf("the host refuses: %s", data)
		case bytes.HasPrefix(data, []byte(`{"type":"live"`)):
			return e, nil
		}
	}
}

func say(ctx context.Context, ws *websocket.Conn, m any) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, data)
}

// greet goes through the handshake with a token.
func handshakeWith(ctx context.Context, ws *websocket.Conn, address, token string) error {
	nonce, err := handshake.Nonce(rand.Reader)
	if err != nil {
		return err
	}
	hello := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(nonce), ClientName: "bench", Nonce: nonce}
	if err := say(ctx, ws, struct {
		Type string `json:"type"`
		protocol.Hello
	}{"hello", hello}); err != nil {
		return err
	}
	_, data, err := ws.Read(ctx)
	if err != nil {
		return err
	}
	var challenge protocol.Challenge
	if err := json.Unmarshal(data, &challenge); err != nil {
		return err
	}
	said := &handshake.Transcript{Address: address, Hello: hello, Challenge: challenge}
	if err := say(ctx, ws, struct {
		Type string `json:"type"`
		protocol.Prove
	}{"connect", protocol.Prove{Proof: handshake.Client([]byte(token), said)}}); err != nil {
		return err
	}
	if _, data, err = ws.Read(ctx); err == nil && !bytes.HasPrefix(data, []byte(`{"type":"connected"`)) {
		err = fmt.Errorf("the host refuses: %s", data)
	}
	return err
}

// stampLen is the length of a stamp as [script] writes it: "@", 19 digits, ";".
const stampLen = 21

// hear reads until so many stamps have come, and notes how old each one is.
func (e *ear) hear(pieces int) error {
	e.took = make(series, 0, pieces)
	buf := make([]byte, 64<<10)
	kept := 0 // bytes in front of buf that may begin a stamp
	for len(e.took) < pieces {
		n, err := e.conn.Read(buf[kept:])
		now := time.Now().UnixNano()
		if err != nil {
			return fmt.Errorf("after %d of %d pieces: %w", len(e.took), pieces, err)
		}
		rest := buf[:kept+n]
		for {
			i := bytes.IndexByte(rest, '@')
			if i < 0 {
				rest = nil
				break
			}
			rest = rest[i:]
			if len(rest) < stampLen {
				break
			}
			if at, err := strconv.ParseInt(string(rest[1:stampLen-1]), 10, 64); err == nil && rest[stampLen-1] == ';' && len(e.took) < pieces {
				e.took = append(e.took, float64(now-at)/1e6)
			}
			rest = rest[1:]
		}
		kept = copy(buf, rest)
	}
	return nil
}
