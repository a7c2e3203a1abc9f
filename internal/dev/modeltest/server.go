package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// Config returns how a server behaves.
type Config struct {
	Script *script.Script
	// Key is the only key that is taken; empty takes any, also none.
	Key string
	// NoJudge answers requests that the vendor would refuse.
	NoJudge bool
	// Keep is how many requests are kept for Requests; 0 keeps none, below 0 all.
	Keep int
	// Kind tells what a request is for; nil: see the package's comment.
	Kind func(body []byte) model.Kind
	// Sleep waits or ends with the error of ctx; nil waits by the real clock.
	Sleep func(ctx context.Context, d time.Duration) error

	// NoSummaries: the Responses API refuses summaries of reasoning, as OpenAI does
	// to organisations that are not verified.
	NoSummaries bool

	// The rest holds for Chat Completions only.

	// ReasoningContent: assistant messages must carry reasoning_content, as
	// DeepSeek wants it; else the field is refused.
	ReasoningContent bool
	// Alternate: user and assistant must take turns, as the chat templates of
	// several open models want it.
	Alternate bool
	// NoEffortWithTools: tools are refused unless reasoning_effort is none, as
	// OpenAI does from GPT-5.4 on.
	NoEffortWithTools bool
}

// Request is one that a server got.
type Request struct {
	Path    string
	Header  http.Header
	Body    []byte
	Refused string // what the judge said; empty: accepted
}

// Server is the handler of one API.
type Server struct {
	config Config
	player *script.Player
	api    wireAPI

	mu       sync.Mutex
	requests []Request
	count    int
	cache    promptCache
}

// wireAPI is what differs between the vendors.
type wireAPI interface {
	// path is where requests go; a base URL may be in front of it.
	path() string
	key(http.Header) string
	// read parses and judges a request. The text is the vendor's refusal.
	read(body []byte, c Config) (incoming, string)
	// refuse writes an error document.
	refuse(f script.Failure) []byte
	stream(w io.Writer, in incoming, id string) emitter
}

// located is had by APIs whose requests say a part in their address.
type located interface{ at(u *url.URL) wireAPI }

// translator is had by APIs that do not have each failure of a script as it stands.
type translator interface {
	// translate returns the vendor's failure and the seconds of the Retry-After header.
	translate(f script.Failure) (out script.Failure, retryHeader float64)
}

// incoming is what a server needs of a request.
type incoming struct {
	model  string
	view   script.View
	blocks [][]byte // what the prompt consists of, without marks
	marks  []int    // indices of marked blocks
	usage  bool     // counts are wanted in the stream
}

// emitter writes the events of one answer.
type emitter interface {
	begin(u protocol.Usage)
	start(b model.BlockStart)
	chunk(text string)
	end(step script.Step)
	done(stop protocol.StopReason, u protocol.Usage)
	fail(f script.Failure)
	garbage()
}

// Anthropic serves the Messages API. The base URL of the adapter is the server's
// address.
func Anthropic(c Config) *Server { return newServer(c, anthropicAPI{}) }

// OpenAI serves Chat Completions. The base URL of the adapter is the server's
// address, with or without /v1.
func OpenAI(c Config) *Server { return newServer(c, openaiAPI{}) }

// Google serves the Gemini API. The base URL of the adapter is the server's address,
// with or without /v1beta. It plays Gemini 3 and later, or an older one where the
// model's name has "gemini-1." or "gemini-2." in it.
func Google(c Config) *Server { return newServer(c, googleAPI{}) }

// Responses serves the Responses API. The base URL of the adapter is the server's
// address, with or without /v1.
func Responses(c Config) *Server { return newServer(c, responsesAPI{}) }

func newServer(c Config, api wireAPI) *Server {
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Script == nil {
		c.Script = &script.Script{Name: "script", Window: 200_000}
	}
	return &Server{config: c, api: api, player: script.NewPlayer(c.Script), cache: promptCache{known: map[[32]byte]int{}}}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Requests returns the requests that were kept, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count is how many requests came.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

const maxRequest = 64 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !bytes.HasSuffix([]byte(r.URL.Path), []byte(s.api.path())) {
		s.refuse(w, script.Failure{Status: http.StatusNotFound, Message: "Not found: " + r.URL.Path})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		s.refuse(w, script.Failure{Status: http.StatusRequestEntityTooLarge, Message: "Request exceeds the maximum size"})
		return
	}
	api := s.api
	if l, ok := api.(located); ok {
		api = l.at(r.URL)
	}
	in, refused := api.read(body, s.config)
	if bad := judgeBytes(body); bad != "" {
		refused = bad
	}
	if s.config.NoJudge {
		refused = ""
	}
	id := s.record(Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Refused: refused})
	switch {
	case s.config.Key != "" && s.api.key(r.Header) != s.config.Key:
		s.refuse(w, script.Failure{Status: http.StatusUnauthorized})
	case refused != "":
		s.refuse(w, script.Failure{Status: http.StatusBadRequest, Message: refused})
	default:
		s.answer(w, r, in, id, body)
	}
}

func (s *Server) record(r Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if s.config.Keep < 0 || len(s.requests) < s.config.Keep {
		s.requests = append(s.requests, r)
	}
	return fmt.Sprintf("%06d", s.count)
}

func (s *Server) refuse(w http.ResponseWriter, f script.Failure) {
	if f.TooLong && f.Status == 0 {
		f.Status = http.StatusBadRequest
	}
	wait := f.RetryAfter
	if t, ok := s.api.(translator); ok {
		f, wait = t.translate(f)
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case wait > 0 && wait == float64(int(wait)):
		w.Header().Set("Retry-After", strconv.Itoa(int(wait)))
	case wait > 0:
		w.Header().Set("Retry-After-Ms", strconv.Itoa(int(wait*1000)))
	}
	w.WriteHeader(f.Status)
	w.Write(s.api.refuse(f))
}

// pick takes the line for a request.
func (s *Server) pick(in incoming, body []byte) (*script.Line, error) {
	if s.config.Kind != nil {
		in.view.Kind = s.config.Kind(body)
		return s.player.Next(in.view)
	}
	in.view.Kind = model.KindStep
	line, err := s.player.Next(in.view)
	if err == nil {
		return line, nil
	}
	in.view.Kind = model.KindCompact
	if line, second := s.player.Next(in.view); second == nil {
		return line, nil
	}
	return nil, err
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, in incoming, id string, body []byte) {
	line, err := s.pick(in, body)
	if err != nil {
		s.refuse(w, script.Failure{Status: http.StatusNotImplemented, Message: err.Error()})
		return
	}
	usage := s.usage(in)
	if line.Usage != nil {
		usage = *line.Usage
	}
	a := &answer{s: s, w: w, r: r, usage: usage, pace: script.Pace{Every: s.config.Script.Delay}}
	a.emit = s.api.stream(w, in, id)
	in.view.Whole = func() string { return string(body) }
	s.config.Script.Play(line, in.view, a.piece)
	if a.over {
		return
	}
	a.open()
	if line.Usage == nil {
		a.usage.OutputTokens = (a.output + 3) / 4
	}
	a.emit.done(line.Stop, a.usage)
	a.flush()
}

// answer is one answer on its way.
type answer struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	emit   emitter
	pace   script.Pace
	usage  protocol.Usage
	output int // characters
	begun  bool
	over   bool
}

func (a *answer) open() {
	if a.begun {
		return
	}
	a.begun = true
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	a.w.Header().Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.emit.begin(a.usage)
}

func (a *answer) flush() {
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (a *answer) piece(p script.Piece) bool {
	if a.r.Context().Err() != nil {
		a.over = true
		return false
	}
	switch {
	case p.Op != "":
		return a.event(p)
	case p.Start != nil:
		a.open()
		a.emit.start(*p.Start)
		return true // goes out with the first chunk
	case p.End != nil:
		a.emit.end(*p.End)
	default:
		if a.pace.Every > 0 && !a.wait(a.pace.Next(time.Now())) {
			return false
		}
		a.output += len(p.Chunk)
		a.emit.chunk(p.Chunk)
	}
	a.flush()
	return true
}

func (a *answer) wait(d time.Duration) bool {
	if a.begun {
		a.flush()
	}
	if a.s.config.Sleep(a.r.Context(), d) != nil {
		a.over = true
	}
	return !a.over
}

func (a *answer) event(p script.Piece) bool {
	if p.Op == script.OpWait {
		a.pace.Restart()
		return a.wait(p.Step.Wait)
	}
	a.over = true
	switch p.Op {
	case script.OpError:
		if !a.begun && p.Step.Error.Status > 0 || !a.begun && p.Step.Error.TooLong {
			a.s.refuse(a.w, p.Step.Error)
			return false
		}
		a.open()
		if p.Step.Error.Status == 0 {
			a.flush()
			panic(http.ErrAbortHandler) // breaks the connection
		}
		a.emit.fail(p.Step.Error)
	case script.OpHang:
		a.open()
		a.flush()
		<-a.r.Context().Done()
	case script.OpGarbage:
		a.open()
		a.emit.garbage()
	case script.OpHTML:
		if !a.begun {
			a.w.Header().Set("Content-Type", "text/event-stream")
		}
		io.WriteString(a.w, "<!DOCTYPE html>\n<html><body>Sign in to the hotel network</body></html>\n")
	case script.OpCut:
		a.open()
		a.flush()
		if !p.Step.Clean {
			panic(http.ErrAbortHandler)
		}
	}
	a.flush()
	return false
}

// compact writes v as JSON without HTML escaping.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
