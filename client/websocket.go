package client

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"scorel/protocol"
)

// Bounds of a WebSocket connection.
const (
	// maxIncoming bounds a message of the host, in bytes: a frame holds an event of
	// protocol.MaxLine at most besides 64 KiB of others, a live state both queues and
	// what is running.
	maxIncoming = 4 * protocol.MaxLine
	// maxGreeting bounds a message of the handshake, in bytes: the host is not known
	// yet.
	maxGreeting = 16 << 10
	// dialTime is how long a connection may take, with its handshake.
	dialTime = 15 * time.Second
	// pingEvery and silence are the keep-alive of docs/protocol.md: a host that has sent
	// nothing for so long, not even the answer to a ping, is gone.
	pingEvery = 20 * time.Second
	silence   = 60 * time.Second
	// closeTime is how long the host may take to say goodbye.
	closeTime = time.Second
)

// ErrNotSent is in the error of a [Transport.Call] of which nothing has left: the
// host cannot have acted on it.
var ErrNotSent = errors.New("the request was not sent")

// PermanentError is a failure to connect that does not get better by repetition:
// the host refuses this client, or is not the one that was meant.
type PermanentError struct{ Err error }

// Error returns the sentence of what is wrong.
func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *PermanentError) Unwrap() error { return e.Err }

// WebSocket is where a host listens and how this client proves itself to it. The
// token (or the key) never leaves the process: both sides send proofs, the host
// first. A value may be used by any number of goroutines and is not changed.
type WebSocket struct {
	// URL is unix:/path/of/host.sock, ws://HOST:PORT on this machine alone, or
	// wss://HOST:PORT; http and https mean ws and wss.
	URL string
	// Token is the text of the host's token. Either it or Key is set.
	Token string
	// Key is this entry's own key; then Device must name the host.
	Key *ecdh.PrivateKey
	// Code, when set, is one of create_pairing, which lets Key in that the host does not
	// know yet: a host that proves the code is the one that was meant, and
	// [protocol.Connected] has its device. It is not sent, and is worth one connection.
	Code string
	// Device is the host that is meant, "" for any that knows the token.
	Device protocol.DeviceID
	// Fingerprint, when set, is the SHA-256 of the host's certificate (its DER) in
	// hex, with or without colons: exactly that certificate passes, and nothing else
	// of it is checked. Otherwise the system's roots decide.
	Fingerprint string
	// ClientID is who this is; with Key it may be empty and must belong to it.
	ClientID    protocol.ClientID
	ClientName  string
	Interactive bool // it can put a question to a person
	// Rand draws nonces and keys; nil is crypto/rand.
	Rand io.Reader

	// DialContext, when set, makes the connection below, instead of the system: for a
	// tunnel, or a test. It may be called concurrently.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial connects and proves. It takes at most 15 s. The error is a
// [PermanentError] when another try would fail as well. The transport must be
// received from (see [Transport.Recv]), or its replies wait too.
func (w *WebSocket) Dial(ctx context.Context) (Transport, protocol.Connected, error) {
	var none protocol.Connected
	t, err := w.target()
	if err != nil {
		return nil, none, &PermanentError{err}
	}
	random := w.Rand
	if random == nil {
		random = rand.Reader
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	s := &socket{frames: make(chan protocol.Frame), out: make(chan []byte), done: make(chan struct{}), pending: map[protocol.RequestID]pending{}}
	if s.conn, err = t.connect(ctx, w, &s.heard); err != nil {
		return nil, none, err
	}
	s.conn.SetReadLimit(maxGreeting)
	connected, err := w.handshake(ctx, s.conn, t, random)
	if err != nil {
		_ = s.conn.CloseNow() // nothing was agreed
		return nil, none, err
	}
	s.conn.SetReadLimit(maxIncoming)
	s.start()
	return s, connected, nil
}

// socket is a connection that has been proved.
type socket struct {
	conn   *websocket.Conn
	heard  atomic.Int64 // when a byte of the host came last, in nanoseconds of Unix time
	frames chan protocol.Frame
	out    chan []byte    // messages, taken by the writer
	done   chan struct{}  // closed when the connection is gone; err is set then
	stop   func()         // ends the connection
	wg     sync.WaitGroup // reader, writer, keeper

	mu      sync.Mutex // guards what follows
	err     error
	pending map[protocol.RequestID]pending // nil when the connection is gone
}

// pending is a call that waits for its reply.
type pending struct {
	name  string
	reply chan protocol.Reply // takes one
}

// start starts reader, writer and keeper; they end with the connection.
func (s *socket) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.heard.Store(time.Now().UnixNano())
	s.wg.Go(func() { s.read(ctx) })
	s.wg.Go(func() { s.write(ctx) })
	s.wg.Go(func() { s.keep(ctx) })
}

// Call sends a call and waits for its reply. The end of ctx leaves the connection
// as it is; a reply that comes later is dropped.
func (s *socket) Call(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	data, err := json.Marshal(call)
	if err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: protocol.Errorf(protocol.CodeInvalidRequest, "The request cannot be written: %v.", err)}, nil
	}
	if len(data) > protocol.MaxMessage {
		return protocol.Reply{RequestID: call.RequestID, Err: protocol.Errorf(protocol.CodePayloadTooLarge,
			"The %s request has %d bytes; a request may have %d. Attach long content as a file.", call.Request.Spec().Name, len(data), protocol.MaxMessage)}, nil
	}
	p := pending{name: call.Request.Spec().Name, reply: make(chan protocol.Reply, 1)}
	s.mu.Lock()
	if s.pending == nil {
		s.mu.Unlock()
		return protocol.Reply{}, s.gone(ErrNotSent)
	}
	s.pending[call.RequestID] = p
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.pending, call.RequestID)
	}()
	select {
	case s.out <- data:
	case <-s.done:
		return protocol.Reply{}, s.gone(ErrNotSent)
	case <-ctx.Done():
		return protocol.Reply{}, ctx.Err()
	}
	select {
	case r := <-p.reply:
		return r, nil
	case <-ctx.Done():
		return protocol.Reply{}, ctx.Err()
	case <-s.done:
	}
	select { // the reply was the last that came
	case r := <-p.reply:
		return r, nil
	default:
		return protocol.Reply{}, s.gone(nil)
	}
}

// gone returns the error of a call that the connection did not survive.
func (s *socket) gone(also error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if also != nil {
		return fmt.Errorf("%w: %w", s.err, also)
	}
	return s.err
}

// Recv waits for the next frame.
func (s *socket) Recv(ctx context.Context) (protocol.Frame, error) {
	select {
	case f := <-s.frames:
		return f, nil
	case <-s.done:
		return nil, s.gone(nil)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the connection, with a word to the host when it listens.
func (s *socket) Close() error {
	timer := time.AfterFunc(closeTime, func() { _ = s.conn.CloseNow() })
	defer timer.Stop()
	s.fail(ErrClosed)
	_ = s.conn.Close(websocket.StatusNormalClosure, "") // it is over, whatever the host says
	s.stop()
	s.wg.Wait()
	return nil
}

// fail marks the connection as gone; the first error counts.
func (s *socket) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		return
	}
	s.err, s.pending = err, nil
	close(s.done)
}

// read takes what the host sends: replies go to their calls, frames to Recv.
func (s *socket) read(ctx context.Context) {
	err := s.readAll(ctx)
	s.fail(err)
	s.stop()
	_ = s.conn.CloseNow() // it does no longer speak our language, or is gone
}

func (s *socket) readAll(ctx context.Context) error {
	for {
		kind, data, err := s.conn.Read(ctx)
		var closed websocket.CloseError
		switch {
		case websocket.CloseStatus(err) == websocket.StatusNormalClosure, websocket.CloseStatus(err) == websocket.StatusGoingAway:
			return io.EOF
		case errors.Is(err, websocket.ErrMessageTooBig):
			return fmt.Errorf("the host sent a message of more than %d MiB", maxIncoming>>20)
		case errors.As(err, &closed) && closed.Reason != "":
			return fmt.Errorf("the host has closed it: %s", strings.TrimSuffix(closed.Reason, "."))
		case err != nil:
			return fmt.Errorf("the connection to the host broke: %w", err)
		case kind != websocket.MessageText:
			return errors.New("the host sent a message that is not text")
		}
		m, err := classify(data)
		switch {
		case err != nil:
			return fmt.Errorf("the host sent what is not a message: %w", err)
		case m.reply():
			if err := s.deliver(m.RequestID, data); err != nil {
				return err
			}
			continue
		}
		f, err := protocol.ParseFrame(data)
		switch {
		case errors.Is(err, protocol.ErrUnknownFrame):
			continue // of a newer host
		case err != nil:
			return err
		}
		select {
		case s.frames <- f:
		case <-s.done:
			return s.gone(nil)
		}
	}
}

// deliver hands a reply to its call, if somebody still waits for it. It fails for
// one that is cut off: the library takes the end of the connection within a message
// for the message's.
func (s *socket) deliver(id protocol.RequestID, data []byte) error {
	s.mu.Lock()
	p, ok := s.pending[id]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	r, err := protocol.ParseReply(data, p.name)
	switch {
	case err != nil && !json.Valid(data):
		return errors.New("the connection to the host broke in the middle of an answer")
	case err != nil:
		r = protocol.Reply{RequestID: id, Err: protocol.Errorf(protocol.CodeInternalError, "The host's answer to %s cannot be read: %v.", p.name, err)}
	}
	s.mu.Lock()
	_, ok = s.pending[id] // a second answer is dropped
	delete(s.pending, id)
	s.mu.Unlock()
	if ok {
		p.reply <- r
	}
	return nil
}

// write sends messages, one after the other. A cancelled context of one call must
// not end the connection, which it does inside a write; so the calls only wait
// for it.
func (s *socket) write(ctx context.Context) {
	for {
		select {
		case data := <-s.out:
			ctx, cancel := context.WithTimeout(ctx, silence)
			err := s.conn.Write(ctx, websocket.MessageText, data)
			cancel()
			if err != nil {
				s.fail(fmt.Errorf("the connection to the host broke: %w", err))
				s.stop()
				return
			}
		case <-s.done:
			return
		}
	}
}

// keep pings the host and ends a connection on which nothing comes.
func (s *socket) keep(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	answered := make(chan struct{}, 1)
	answered <- struct{}{}
	for {
		select {
		case <-tick.C:
		case <-s.done:
			return
		}
		heard := s.heard.Load()
		quiet := time.Since(time.Unix(0, heard)) // by the clock of the machine, which goes on while that sleeps
		if quiet < 0 {                           // it was set back
			s.heard.CompareAndSwap(heard, time.Now().UnixNano())
		}
		if quiet >= silence {
			s.fail(fmt.Errorf("the host has been silent for %d s", int(quiet.Seconds())))
			s.stop()
			_ = s.conn.CloseNow() // it does not listen
			return
		}
		select {
		case <-answered:
			s.wg.Go(func() { // ends with the answer or the connection
				_ = s.conn.Ping(ctx) // what it tells is whether bytes come
				answered <- struct{}{}
			})
		default: // the last one is still on its way
		}
	}
}

// message is what all messages of the host have.
type message struct {
	Type      string             `json:"type"`
	RequestID protocol.RequestID `json:"requestId"`
}

func (m message) reply() bool { return m.Type == "response" || m.Type == "error" }

// classify returns what a message is. Events and answers, which are most of all bytes,
// are told by their beginning, so that they are parsed once.
func classify(data []byte) (m message, err error) {
	if bytes.HasPrefix(data, []byte(`{"type":"events",`)) {
		return message{Type: "events"}, nil
	}
	if rest, ok := bytes.CutPrefix(data, []byte(`{"type":"response","requestId":"`)); ok {
		if id, _, ok := bytes.Cut(rest[:min(len(rest), maxGreeting)], []byte{'"'}); ok {
			return message{Type: "response", RequestID: protocol.RequestID(id)}, nil
		}
	}
	err = json.Unmarshal(data, &m)
	return m, err
}
