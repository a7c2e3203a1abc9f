package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model/script"
)

// builtin answers every request with one sentence.
const builtin = `{"script":1,"chunk":20}
{"again":true,"do":[{"text":"The model server of the benchmarks has answered."}]}
`

func mockCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench mock", flag.ContinueOnError)
	addr := f.String("addr", "127.0.0.1:0", "where to listen; port 0 takes a free one")
	file := f.String("script", "", "the answers, in the script format; without it one sentence")
	if err := f.Parse(args); err != nil {
		return err
	}
	text := []byte(builtin)
	if *file != "" {
		var err error
		if text, err = os.ReadFile(*file); err != nil {
			return err
		}
	}
	m := &mock{}
	if err := m.load(text, true); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	s := &http.Server{Handler: m.handler()}
	stopped := make(chan struct{})
	go func() { // ends with ctx, which ends with this command
		defer close(stopped)
		<-ctx.Done()
		_ = s.Close()
	}()
	err = s.Serve(l)
	if ctx.Err() == nil {
		return err
	}
	<-stopped
	return nil
}

// visit is one request of a model that came. Times are in Unix nanoseconds: they
// are compared with those of another process.
type visit struct {
	Arrived  int64  `json:"arrived"`  // its header had been read
	Read     int64  `json:"read"`     // its body had been read
	Answered int64  `json:"answered"` // the last byte had been written
	Bytes    int    `json:"bytes"`
	Messages int    `json:"messages"`
	Refused  string `json:"refused,omitempty"` // by the judge
}

// mock is the wire server with a way to load scripts, hold a response and ask
// what came.
type mock struct {
	mu      sync.Mutex // guards all below
	judge   *modeltest.Server
	answers []answer
	hold    int // the request whose answer waits, from 1; 0: none
	count   int
	visits  []visit
	last    []byte        // the newest body
	held    chan struct{} // closed when that request has come
	release chan struct{} // closed when it may be answered
}

// load takes a script. With judge the wire server itself answers, which looks at
// each request as the vendor would; otherwise answers that were made ahead are
// played in order, whatever the requests are.
func (m *mock) load(text []byte, judge bool) error {
	s, err := script.Parse(bytes.NewReader(text), "script")
	if err != nil {
		return err
	}
	var answers []answer
	var server *modeltest.Server
	if judge {
		server = modeltest.Anthropic(modeltest.Config{Script: s, Keep: -1})
	} else if answers, err = render(s); err != nil {
		return err
	}
	m.mu.Lock()
	m.judge, m.answers = server, answers
	m.mu.Unlock()
	m.reset(0)
	return nil
}

// reset forgets what came and holds the response to request number hold.
func (m *mock) reset(hold int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hold, m.count, m.visits, m.last = hold, 0, nil, nil
	m.held, m.release = make(chan struct{}), make(chan struct{})
}

func (m *mock) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /bench/load", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = m.load(text, r.URL.Query().Get("judge") != "")
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("POST /bench/reset", func(w http.ResponseWriter, r *http.Request) {
		hold, err := strconv.Atoi(r.URL.Query().Get("hold"))
		if err != nil {
			http.Error(w, "hold is a number", http.StatusBadRequest)
			return
		}
		m.reset(hold)
	})
	mux.HandleFunc("GET /bench/held", func(_ http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		held := m.held
		m.mu.Unlock()
		select {
		case <-held:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /bench/release", func(http.ResponseWriter, *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.hold > 0 {
			m.hold = 0
			close(m.release)
		}
	})
	mux.HandleFunc("GET /bench/visits", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(m.report())
	})
	mux.HandleFunc("/", m.serve)
	return mux
}

// serve answers one request of a model.
func (m *mock) serve(w http.ResponseWriter, r *http.Request) {
	v := visit{Arrived: time.Now().UnixNano()}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(min(r.ContentLength, 64<<20)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(r.Body); err != nil {
		return // the client is gone
	}
	v.Read, v.Bytes = time.Now().UnixNano(), body.Len()
	m.mu.Lock()
	m.count++
	n, judge, wait := m.count, m.judge, m.count == m.hold
	held, release := m.held, m.release
	m.last = body.Bytes()
	var ready *answer
	if judge == nil && n <= len(m.answers) {
		ready = &m.answers[n-1]
	}
	m.mu.Unlock()
	if wait {
		close(held)
		select {
		case <-release:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case judge != nil:
		r.Body = io.NopCloser(&body)
		judge.ServeHTTP(w, r)
	case ready == nil:
		http.Error(w, fmt.Sprintf("there is no answer number %d", n), http.StatusNotImplemented)
	default:
		if ready.play(w) != nil {
			return
		}
	}
	v.Answered = time.Now().UnixNano()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.visits = append(m.visits, v)
}

// report returns what came; the messages of a request are counted only where its
// body is still there.
func (m *mock) report() []visit {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := append([]visit{}, m.visits...)
	if m.judge != nil {
		kept := m.judge.Requests()
		kept = kept[max(0, len(kept)-len(out)):]
		for i := range kept {
			out[i].Messages, out[i].Refused = messages(kept[i].Body), kept[i].Refused
		}
	} else if len(out) > 0 {
		out[len(out)-1].Messages = messages(m.last)
	}
	return out
}

func messages(body []byte) int {
	var r struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(body, &r) != nil {
		return -1
	}
	return len(r.Messages)
}
