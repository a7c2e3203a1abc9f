package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// Host is what a run needs from its session. All calls come from the goroutine
// of the run, one at a time.
type Host interface {
	// Context returns what the next model call sends, built from the log after all
	// that the run has yielded is durable.
	Context(ctx context.Context) (Prompt, error)
	// Compact summarises the older part of the context and records that. It asks
	// the model through summarise. Where nothing more can be done about a request
	// that was refused as too long, it fails with a *model.Error of that class.
	Compact(ctx context.Context, why Why, summarise Summarise) error
	// Steer appends the steering messages that wait and says how many.
	Steer(ctx context.Context) (int, error)
	// FollowUp appends the next follow-up message and reports whether there was one.
	// When it says no, the turn is over: a message sent later begins a new run.
	FollowUp(ctx context.Context) (bool, error)
	// Permit decides whether a prepared call may run, asking people if need be.
	Permit(ctx context.Context, call Question) (Permit, error)
	// Waited returns for how long people were waited for while a call ran that has ended.
	Waited(callID string) time.Duration
	// Notice tells the model something before its next call, as a harness item.
	Notice(ctx context.Context, text string) error
	// Repeats asks people whether a turn goes on whose model repeats itself. Asked is
	// false where nobody could be asked, or nobody answered in time.
	Repeats(ctx context.Context, what Repetition) (asked, resume bool, err error)
}

// Why returns what a compaction is for.
type Why string

// The reasons for a compaction.
const (
	NotDue    Why = ""
	Due       Why = "due"        // the context is above the threshold
	DueHarder Why = "due_harder" // the last compaction freed too little
	Refused   Why = "refused"    // the provider refused the request as too long
	Asked     Why = "asked"      // somebody asked for it
)

// Summarise sends a request for a summary with the run's recovery rules and
// gives the text of the answer.
type Summarise func(ctx context.Context, req model.Request) (string, protocol.Usage, error)

// Prompt is the context of one model call.
type Prompt struct {
	System   string
	Messages []protocol.Message
	Thinking model.ThinkingLevel // over that of the run, "" for it
	// News says that something was added since the last call that is not of the run:
	// what a background command tells, or an extension.
	News bool
	// Compact reports whether a compaction is due first: NotDue, Due or DueHarder.
	Compact Why
}

// Question is a prepared call that wants to run.
type Question struct {
	CallID string
	Tool   tool.Spec
	Input  json.RawMessage // exactly what will run
	Action permission.Action
	// Hook is what hooks say of the call, of which only allow and ask come here.
	Hook HookVerdict
	// Caution is what is to be said besides the reason, "" for nothing.
	Caution string
	// Preview returns what the call would do to a file; nil for other calls.
	Preview func() *protocol.ChangePreview
}

// HookVerdict is what hooks say of a call that may run: Decision is allow, ask, or
// empty. By names the hook; Reason is for the person who is asked.
type HookVerdict struct {
	Decision protocol.Decision
	By       string
	Reason   string
}

// Permit is the answer to a [Question]. What a rule or a person decided stands
// in the log, durably, when it is given.
type Permit struct {
	Allowed bool
	// Git says that a rule about Git allowed it (see [permission.Verdict.Git]).
	Git bool
	// Reason is what the model is told when the call may not run.
	Reason string
	// Denied is who denied it; nil where neither a rule nor a person did.
	Denied *protocol.Denial
}

// Hooks are asked around each call and at the end of a turn. A nil Hooks asks
// nobody.
type Hooks interface {
	// BeforeTool may change the input, answer the call or block it. An error blocks it.
	BeforeTool(ctx context.Context, call tool.Call, spec tool.Spec) (BeforeTool, error)
	// AfterTool may change the result; an error leaves it as it is. It is called side
	// by side for calls that run side by side. The call has the input that ran.
	AfterTool(ctx context.Context, call tool.Call, spec tool.Spec, result protocol.Message) (protocol.Message, error)
	// Stop is asked when a turn would end. A text that it gives is told to the
	// model and the turn goes on.
	Stop(ctx context.Context, end Ending) (string, error)
}

// Ending is the end of a turn of which hooks are asked. Blocked counts how often in a
// row they have let it go on; at [MaxStopBlocks] in a row it ends nevertheless.
type Ending struct {
	Blocked int
	Text    string // of the last answer
}

// BeforeTool is what a hook says about a call: go on with Input (nil: as it
// was), do not run it and tell the model Blocked, or do not run it and give Result,
// of which content, details and isError count.
type BeforeTool struct {
	Input   json.RawMessage
	Blocked string
	Result  *protocol.Message
	Verdict HookVerdict
}

// Limits bound a turn; 0 means none, except MaxSteps.
type Limits struct {
	MaxSteps int   // model calls of one turn; 0: [DefaultMaxSteps]
	Spend    Spend // of one turn, with the sub-agents that work for it
}

// Run is everything that a run needs.
type Run struct {
	Host     Host
	Model    model.Model
	Fallback model.Model // used for the rest of a turn when Model stays overloaded; may be nil
	Thinking model.ThinkingLevel
	Tools    []tool.Tool // sorted by name, frozen, with all that they need
	Blobs    tool.Blobs  // keeps what is cut and what files were; nil: there is no place for it
	Hooks    Hooks
	Limits   Limits
	Budget   *Budget // of the turns; nil: one of the run's own
	Session  protocol.SessionID
	Blob     func(ctx context.Context, sha256 string) ([]byte, error)
	Rand     io.Reader // for ids
	Now      func() time.Time
	// Sleep waits for d or until ctx ends, whose error it then returns.
	Sleep func(ctx context.Context, d time.Duration) error
	// Silence is how long a stream may say nothing; 0 is 120 s.
	Silence time.Duration
	// Jitter returns a number in [0, 1); nil is random.
	Jitter func() float64
	// Processes follows what calls report of their work; nil: nobody does.
	Processes *progress.Recorder
	// Report is told of a panic in a tool, with its stack; may be nil.
	Report func(what string, detail []byte)
	// Unpriced is told of a model whose price is not known, in a turn whose cost is limited,
	// with a sentence for people, at each step; may be nil.
	Unpriced func(ref, sentence string)
	// Summary makes the summaries of compactions; nil, and where it fails, Model does. Priced
	// says that dollars are limited: a model whose price is not known is to refuse.
	Summary func(ctx context.Context, req model.Request, priced bool) (protocol.Message, error)
}

// ErrHostStops, as the cause of the end of a run's context, says that nobody
// cancelled it: its host ends. What is stored of the run says so.
var ErrHostStops = errors.New("the host stops")

// RawEvent is something that happened in a run. ID is set for messages, whose
// id was announced; the host draws the others.
type RawEvent struct {
	ID   protocol.EventID
	Body protocol.Body
}

// Numbers of the recovery table.
const (
	DefaultMaxSteps  = 200
	maxTries         = 8
	firstDelay       = 500 * time.Millisecond
	maxDelay         = 30 * time.Second
	maxRetryAfter    = 60 * time.Second
	defaultSilence   = 120 * time.Second
	maxContinuations = 3 // "continue where you stopped" after the output limit
	overloadsToFall  = 3 // overloaded answers in a row before the fallback model
	MaxStopBlocks    = 5 // stop hooks that say "go on" in a row
	maxParallel      = 8 // read-only calls side by side
	defaultOutput    = 16_384
)

func (r *Run) defaults() {
	if r.Limits.MaxSteps == 0 {
		r.Limits.MaxSteps = DefaultMaxSteps
	}
	if r.Budget == nil {
		r.Budget = NewBudget(nil)
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Silence == 0 {
		r.Silence = defaultSilence
	}
	if r.Sleep == nil {
		r.Sleep = Sleep
	}
	if r.Jitter == nil {
		r.Jitter = rand.Float64
	}
	if r.Report == nil {
		r.Report = func(string, []byte) {}
	}
	if r.Unpriced == nil {
		r.Unpriced = func(string, string) {}
	}
}

// Sleep waits for d or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
