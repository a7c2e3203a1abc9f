package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scorel/internal/ui/exit"
	"scorel/protocol"
)

// Result is the object that a JSON format ends with, and what the exit code
// comes from.
type Result struct {
	Type      string             `json:"type"` // "result"
	SessionID protocol.SessionID `json:"sessionId,omitempty"`
	Result    string             `json:"result"`
	// Structured is the answer as the JSON value that was asked for with a schema, nil where
	// none was or no answer fits.
	Structured json.RawMessage     `json:"structuredOutput,omitempty"`
	StopReason protocol.StopReason `json:"stopReason,omitempty"`
	Terminal   protocol.Terminal   `json:"terminal,omitempty"`
	Usage      protocol.Usage      `json:"usage"`
	CostUSD    float64             `json:"costUSD"`
	DurationMS int64               `json:"durationMs"`
	NumTurns   int                 `json:"numTurns"`
	NumSteps   int                 `json:"numSteps"`
	Denials    []denial            `json:"permissionDenials"`
	// BackgroundEnded are the background commands of the run that still ran at its
	// end, and were ended.
	BackgroundEnded []endedTask `json:"backgroundEnded,omitempty"`
	// Limit is the limit that the newest turn has reached, also with an answer that is complete.
	Limit *protocol.LimitUse `json:"limit,omitempty"`
	Error *protocol.Error    `json:"error,omitempty"`

	started time.Time
	answer  protocol.ModelAnswer
	tally
}

// tally is what a result is made of beside what it prints.
type tally struct {
	calls   map[string]protocol.Block // by id, of the assistant messages
	asked   map[protocol.PermissionID]*protocol.PermissionRequest
	unasked int // calls that somebody would have had to be asked about
	// unanswered counts the model's questions that nobody could be asked, or that
	// nobody answered in time. A plan that nobody could approve is none: the answer is
	// the plan.
	unanswered int
	questions  map[string]bool // those that are open
	plan       string          // the dialog about the newest plan
	planned    bool            // there is a plan that nobody could approve
}

// endedTask is a background command that was ended.
type endedTask struct {
	TaskID  string `json:"taskId"`
	Command string `json:"command"`
	Agent   string `json:"agent,omitempty"` // of a sub-agent
}

// denial is a call that was not allowed. Allow is the rule that would allow it.
type denial struct {
	ToolName   string          `json:"toolName"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	By         string          `json:"by,omitempty"` // the hook that denied it
	Rule       string          `json:"rule,omitempty"`
	Allow      string          `json:"allow,omitempty"`
}

// NewResult makes the result of a run that begins now.
func NewResult(session protocol.SessionID) *Result {
	return &Result{Type: "result", SessionID: session, started: time.Now(), Denials: []denial{}}
}

// Elapsed returns how long the run has taken until now.
func (r *Result) Elapsed() time.Duration { return time.Since(r.started) }

// Stop notes how long the run has taken, and err where it came instead of an end.
func (r *Result) Stop(err error) {
	r.DurationMS = time.Since(r.started).Milliseconds()
	if err != nil {
		r.Fail(err)
	}
}

// event takes one event in.
func (r *Result) event(e protocol.Event) {
	if u := e.Usage(); u != nil { // also of a sub-agent
		r.Usage.Add(*u)
	}
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		r.message(b.Message)
	case *protocol.TurnEnd:
		r.NumTurns++
		r.answer.End()
	case *protocol.PermissionDecision:
		if b.Decision == protocol.DecisionDeny {
			call := r.calls[b.ToolCallID]
			r.Denials = append(r.Denials, denial{ToolName: call.Name, ToolCallID: b.ToolCallID, Input: call.Input, Reason: b.Reason, By: b.By, Rule: b.Rule})
		}
	case *protocol.PermissionRequest:
		if r.asked == nil {
			r.asked = map[protocol.PermissionID]*protocol.PermissionRequest{}
		}
		r.asked[b.PermissionID] = b
	case *protocol.PermissionResolved:
		r.resolved(b, e.ClientID)
	case *protocol.UIRequest:
		r.opened(b)
	case *protocol.UIResolved:
		r.closed(b, e.ClientID)
	case *protocol.RuntimeEnd:
		r.ended(b)
	}
}

// opened remembers a dialog that opens.
func (r *Result) opened(b *protocol.UIRequest) {
	switch b.Data.Kind {
	case protocol.DialogPlan:
		r.plan = b.UIID
	case protocol.DialogQuestion:
		if r.questions == nil {
			r.questions = map[string]bool{}
		}
		r.questions[b.UIID] = true
	}
}

// closed counts the questions that the host closed because nobody answered them.
func (r *Result) closed(b *protocol.UIResolved, by protocol.ClientID) {
	question := r.questions[b.UIID]
	delete(r.questions, b.UIID)
	switch {
	case b.Decision != protocol.DecisionExpired || by != protocol.HostClient:
	case r.plan == b.UIID:
		r.planned = true
	case question:
		r.unanswered++
	}
}

// ended takes in how the turn has ended.
func (r *Result) ended(b *protocol.RuntimeEnd) {
	r.Terminal, r.Error, r.Limit = b.Terminal, b.Error, b.Limit
	r.CostUSD = r.Usage.CostUSD
}

func (r *Result) message(m protocol.Message) {
	r.answer.Add(m)
	if m.Role != protocol.RoleAssistant || m.IsFailure() {
		return
	}
	r.NumSteps++
	r.StopReason = m.StopReason
	r.Result = r.answer.Text
	if r.calls == nil {
		r.calls = map[string]protocol.Block{}
	}
	for _, c := range m.Calls() {
		r.calls[c.ID] = c.WithTarget()
	}
}

// resolved counts the questions that the host closed because nobody could be
// asked, or because the mode asks nobody.
func (r *Result) resolved(b *protocol.PermissionResolved, by protocol.ClientID) {
	req := r.asked[b.PermissionID]
	delete(r.asked, b.PermissionID)
	if req == nil || by != protocol.HostClient || b.Decision == protocol.DecisionCancelled {
		return
	}
	d := denial{ToolName: req.ToolName, ToolCallID: req.ToolCallID, Input: req.Args, Reason: req.Reason}
	if b.Decision == protocol.DecisionExpired {
		r.unasked++
		for _, s := range req.Suggestions {
			if s.Rule != "" {
				d.Allow = s.Rule
			}
		}
	}
	r.Denials = append(r.Denials, d)
}

// Fail records an error that came before the end of a run, or instead of it.
func (r *Result) Fail(err error) {
	r.CostUSD = r.Usage.CostUSD
	var waits stoppedWaiting
	switch {
	case errors.As(err, &waits): // the turn goes on: it has no end yet
		r.Error = protocol.Errorf(protocol.CodeRuntimeBusy, "%v", err)
		return
	case errors.Is(err, context.Canceled):
		r.Terminal, r.Error = protocol.TerminalCancelled, nil
		return
	}
	r.Error = byFlag(protocol.AsError(err))
	if exit.Code(err) == exit.Usage && r.Error.Code == protocol.CodeInternalError {
		r.Error.Code = protocol.CodeInvalidRequest
	}
}

// flags are the flags that the fields of requests are made of.
var flags = map[string]string{"meta.model": "--model", "options.model": "--model", "options.thinking": "--thinking", "meta.thinkingLevel": "--thinking",
	"options.mode": "--permission-mode", "meta.workDir": "--cwd", "options.tools": "--tools", "options.sandbox": "--sandbox"}

// byFlag names the flag that is wrong, in place of the field that was made of it.
func byFlag(err *protocol.Error) *protocol.Error {
	about := protocol.AboutOf(err)
	flag, ok := flags[about.Field]
	if !ok {
		return err
	}
	return protocol.About(flag, about.Reason, err.Code, "%s", err.Message)
}

// interrupted reports whether the run has ended as cancelled, by err or without one.
func (r *Result) interrupted(err error) bool {
	return r.Terminal == protocol.TerminalCancelled && (err == nil || errors.Is(err, context.Canceled))
}

// ExitCode returns the exit code of a run that ended.
func (r *Result) ExitCode() int {
	switch r.Terminal {
	case protocol.TerminalCompleted, protocol.TerminalHookStopped:
		if r.unasked+r.unanswered > 0 {
			return exit.Unasked
		}
		return exit.OK
	case protocol.TerminalMaxSteps, protocol.TerminalMaxTokens, protocol.TerminalBudget:
		return exit.Limit
	case protocol.TerminalLoop:
		return exit.Loop
	case protocol.TerminalSchemaMismatch:
		return exit.Misfit
	case protocol.TerminalCancelled:
		return exit.Cancelled
	}
	return exit.Failed
}

// refusedLine tells people that something was refused because nobody could be asked, and
// what would have allowed it; "" where nothing was.
func (r *Result) refusedLine() string {
	if r.unasked == 0 {
		return ""
	}
	line, they := "scorel: something was refused", "; it is allowed by "
	if r.unasked > 1 {
		line, they = fmt.Sprintf("scorel: %d calls were refused", r.unasked), "; they are allowed by "
	}
	line += " because nobody could be asked"
	if hint := r.allowHint(); hint != "" {
		line += they + hint
	}
	return line
}

// limitLine tells people that an answer that is complete has reached a limit; "" where none did.
func (r *Result) limitLine() string {
	if r.Limit == nil || r.Terminal != protocol.TerminalCompleted {
		return ""
	}
	return "scorel: the answer is complete; with it a limit of the run is reached: " + r.Limit.String()
}

// maxHints is how many rules are named that would have allowed what was refused.
const maxHints = 5

// allowHint is what would have allowed the calls that nobody could be asked about.
func (r *Result) allowHint() string {
	var rules []string
	add := func(rule string) {
		if rule != "" && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	for _, d := range r.Denials {
		add(d.Allow)
	}
	if len(rules) == 0 {
		for _, d := range r.Denials {
			if d.Rule == "" {
				add(d.ToolName)
			}
		}
	}
	var flags []string
	for _, rule := range rules[:min(len(rules), maxHints)] {
		flags = append(flags, "--allowed-tools "+QuoteShell(rule))
	}
	line := strings.Join(flags, " ")
	switch n := len(rules) - maxHints; {
	case n == 1:
		line += ", and one more rule"
	case n > 1:
		line += fmt.Sprintf(", and %d more rules", n)
	}
	return line
}
