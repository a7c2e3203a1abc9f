package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
)

const (
	// maxQuestion and maxForm are how long the text and the schema of a question may be, in
	// bytes.
	maxQuestion = 8 << 10
	maxForm     = 64 << 10
)

// Call is a call of a tool.
type Call struct {
	Tool  string          // by the server's own name
	Input json.RawMessage // an object, or nothing for an empty one
	Tell  func(Progress)  // is told how it goes on; may be nil
	Time  time.Duration   // how long it may take without a word; 0: that of [Options]
	// Session is whose call it is: a server of an older version does not say for which call
	// it asks something, so people are asked only while all calls are of one session.
	Session string
	// Ask puts a question of the server to people, while the call waits and its time stands
	// still; nil where there are none.
	Ask func(ctx context.Context, q Question) Reply
	// Sample asks a model for the server, if people agree, while the time of the call stands
	// still. An error is for the server. Nil: it is refused.
	Sample func(ctx context.Context, q Sample) (Sampled, error)
}

// Question is what a server asks people. It has a form or an address to open.
type Question struct {
	Message string          // cleaned
	Schema  json.RawMessage // of the form's fields, as the server has written it
	URL     string          // "" of a form
}

// Reply is what people have answered.
type Reply struct {
	Action ReplyAction
	Values json.RawMessage // of a form that was accepted: an object
}

// ReplyAction is what becomes of a question.
type ReplyAction string

// The actions.
const (
	Accept  ReplyAction = "accept"
	Decline ReplyAction = "decline" // somebody said no or nothing, or nobody is there
)

// asking is a call in the course of which its server may ask.
type asking struct {
	Call
	ctx  context.Context
	time *allowance
	late atomic.Int64 // nanoseconds in which the server has not begun to answer; 0: it has
}

// askingKey finds the call in a context of it: servers of the newest version ask in the
// answer to a call.
type askingKey struct{}

// begin notes a call, until end is called.
func (s *Server) begin(ctx context.Context, c Call, t *allowance) (inner context.Context, end func()) {
	a := &asking{Call: c, ctx: ctx, time: t}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.asking = append(s.calls.asking, a)
	return context.WithValue(ctx, askingKey{}, a), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls.asking = slices.DeleteFunc(s.calls.asking, func(x *asking) bool { return x == a })
	}
}

// alone returns a call that a question without one can be for, nil for none. Where calls of
// several sessions are open, nobody knows for which it is.
func (s *Server) alone() *asking {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.calls.asking {
		if a.Session != s.calls.asking[0].Session {
			if s.options.Crowded != nil {
				go s.careful(s.options.Crowded)() // it may close this connection
			}
			return nil
		}
	}
	if len(s.calls.asking) == 0 {
		return nil
	}
	return s.calls.asking[0]
}

// elicit puts a question of the server to the people of the session whose call it is for.
func (s *Server) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	a, _ := ctx.Value(askingKey{}).(*asking)
	if a == nil {
		a = s.alone()
	}
	if a == nil || a.Ask == nil {
		return &mcp.ElicitResult{Action: string(Decline)}, nil
	}
	q := Question{Message: promptsafe.Clean(r.Params.Message), URL: r.Params.URL}
	if q.URL == "" {
		schema, err := s.schemas.asWritten(r.Params.RequestedSchema)
		if err != nil {
			return nil, errors.New("the schema of the form cannot be read")
		}
		q.Schema = schema
	}
	if len(q.Message) > maxQuestion || len(q.Schema) > maxForm {
		return nil, errors.New("a question has at most 8 KiB of text, and 64 KiB of a schema")
	}
	reply := a.put(ctx, q)
	result := &mcp.ElicitResult{Action: string(reply.Action)}
	if reply.Action == Accept && q.URL == "" {
		if err := json.Unmarshal(reply.Values, &result.Content); err != nil {
			return nil, errors.New("the answer cannot be read")
		}
	}
	return result, nil
}

// put puts a question to people, while the time of the call stands still.
func (a *asking) put(ctx context.Context, q Question) (reply Reply) {
	a.pausing(ctx, func(ctx context.Context) { reply = a.Ask(ctx, q) })
	return reply
}

// pausing does something for the server while the time of the call stands still.
func (a *asking) pausing(ctx context.Context, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)() // it ends with its call
	a.time.stop()
	defer a.time.start()
	do(ctx)
}

// maxOpened is how many addresses a server may want opened before it does what it is asked.
const maxOpened = 5

// asked makes a request, and once more where its server wants addresses to be opened first,
// and people have said that they did. ctx is of begin.
func asked[T any](ctx context.Context, do func() (T, error)) (T, error) {
	got, err := do()
	var answered *jsonrpc.Error
	if err == nil || !errors.As(err, &answered) || answered.Code != mcp.CodeURLElicitationRequired {
		return got, err
	}
	a, _ := ctx.Value(askingKey{}).(*asking)
	var wanted struct {
		Elicitations []struct{ Message, URL string } `json:"elicitations"`
	}
	if json.Unmarshal(answered.Data, &wanted) != nil || len(wanted.Elicitations) == 0 || len(wanted.Elicitations) > maxOpened {
		return got, fmt.Errorf("it wants addresses to be opened, which it does not name, or more than %d", maxOpened)
	}
	for _, e := range wanted.Elicitations {
		q := Question{Message: promptsafe.Clean(e.Message), URL: e.URL}
		switch {
		case e.URL == "" || len(q.Message) > maxQuestion || len(q.URL) > maxQuestion:
			return got, errors.New("it wants an address to be opened that is none, or too long")
		case a == nil || a.Ask == nil || a.put(ctx, q).Action != Accept:
			return got, errors.New("it wants an address to be opened first, and nobody has done that")
		}
	}
	return do()
}

// allowance is how long a call may take: so long without a word of it, and so long in all.
// It stands still while people are asked.
type allowance struct {
	quiet time.Duration
	over  func(error)

	mu      sync.Mutex
	idle    *time.Timer
	whole   *time.Timer
	left    time.Duration // of the whole, when it went on last
	since   time.Time     // it goes on
	stopped int           // how many questions are open
	ended   bool
}

// The reasons why a call is given up.
var (
	errQuiet = errors.New("quiet")
	errLong  = errors.New("long")
)

// allow begins the time of a call; over is told when it has ended.
func allow(quiet, whole time.Duration, over func(error)) *allowance {
	a := &allowance{quiet: quiet, over: over, left: whole, since: time.Now()}
	a.idle = time.AfterFunc(quiet, func() { over(errQuiet) })
	a.whole = time.AfterFunc(whole, func() { over(errLong) })
	return a
}

// heard begins the time without a word again.
func (a *allowance) heard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped == 0 && !a.ended {
		a.idle.Reset(a.quiet)
	}
}

func (a *allowance) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped++; a.stopped == 1 {
		a.left -= time.Since(a.since)
		a.idle.Stop()
		a.whole.Stop()
	}
}

func (a *allowance) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped--; a.stopped == 0 && !a.ended {
		a.since = time.Now()
		a.idle.Reset(a.quiet)
		a.whole.Reset(max(a.left, 0))
	}
}

// end ends it: over is told no more.
func (a *allowance) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.idle.Stop()
	a.whole.Stop()
}
