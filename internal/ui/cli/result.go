package cli

import (
	"encoding/json"
	"time"

	"scorel/protocol"
)

// result is the object that a JSON format ends with, and what the exit code
// comes from.
type result struct {
	Type       string              `json:"type"` // "result"
	SessionID  protocol.SessionID  `json:"sessionId,omitempty"`
	Result     string              `json:"result"`
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
	BackgroundEnded []endedTask     `json:"backgroundEnded,omitempty"`
	Error           *protocol.Error `json:"error,omitempty"`

	started time.Time
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
	Rule       string          `json:"rule,omitempty"`
	Allow      string          `json:"allow,omitempty"`
}

// event takes one event in and says whether it ended the run.
func (r *result) event(e protocol.Event) bool {
	if u := e.Usage(); u != nil { // also of a sub-agent
		r.Usage.Add(*u)
	}
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		r.message(b.Message)
	case *protocol.TurnEnd:
		r.NumTurns++
	case *protocol.PermissionDecision:
		if b.Decision == protocol.DecisionDeny {
			call := r.calls[b.ToolCallID]
			r.Denials = append(r.Denials, denial{ToolName: call.Name, ToolCallID: b.ToolCallID, Input: call.Input, Reason: b.Reason, Rule: b.Rule})
		}
	case *protocol.PermissionRequest:
		if r.asked == nil {
			r.asked = map[protocol.PermissionID]*protocol.PermissionRequest{}
		}
		r.asked[b.PermissionID] = b
	case *protocol.PermissionResolved:
		r.resolved(b, e.ClientID)
	case *protocol.UIRequest:
		switch b.Data.Kind {
		case protocol.DialogPlan:
			r.plan = b.UIID
		case protocol.DialogQuestion:
			if r.questions == nil {
				r.questions = map[string]bool{}
			}
			r.questions[b.UIID] = true
		}
	case *protocol.UIResolved:
		question := r.questions[b.UIID]
		delete(r.questions, b.UIID)
		switch {
		case b.Decision != protocol.DecisionExpired || e.ClientID != protocol.HostClient:
		case r.plan == b.UIID:
			r.planned = true
		case question:
			r.unanswered++
		}
	case *protocol.RuntimeEnd:
		r.ended(b)
		return true
	}
	return false
}

// ended takes in how the turn has ended.
func (r *result) ended(b *protocol.RuntimeEnd) {
	r.Terminal, r.Error = b.Terminal, b.Error
	r.CostUSD = r.Usage.CostUSD
}

func (r *result) message(m protocol.Message) {
	if m.Role != protocol.RoleAssistant {
		return
	}
	r.NumSteps++
	r.StopReason = m.StopReason
	r.Result = m.PlainText()
	if r.calls == nil {
		r.calls = map[string]protocol.Block{}
	}
	for _, c := range m.Calls() {
		r.calls[c.ID] = c
	}
}

// resolved counts the questions that the host closed because nobody could be
// asked, or because the mode asks nobody.
func (r *result) resolved(b *protocol.PermissionResolved, by protocol.ClientID) {
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

// fail records an error that came before the end of a run, or instead of it.
func (r *result) fail(err error) {
	r.Error = protocol.AsError(err)
	if exitOf(err) == exitUsage && r.Error.Code == protocol.CodeInternalError {
		r.Error.Code = protocol.CodeInvalidRequest
	}
	r.CostUSD = r.Usage.CostUSD
}

// exitCode gives the exit code of a run that ended.
func (r *result) exitCode() int {
	switch r.Terminal {
	case protocol.TerminalCompleted, protocol.TerminalHookStopped:
		if r.unasked+r.unanswered > 0 {
			return exitUnasked
		}
		return exitOK
	case protocol.TerminalMaxSteps, protocol.TerminalMaxTokens, protocol.TerminalBudget:
		return exitLimit
	case protocol.TerminalLoop:
		return exitLoop
	case protocol.TerminalCancelled:
		return exitCancelled
	}
	return exitFailed
}

// allowHint is what would have allowed the last call that nobody could be asked
// about.
func (r *result) allowHint() string {
	for i := len(r.Denials) - 1; i >= 0; i-- {
		if rule := r.Denials[i].Allow; rule != "" {
			return "--allowed-tools " + quoteShell(rule)
		}
	}
	for i := len(r.Denials) - 1; i >= 0; i-- {
		if d := r.Denials[i]; d.Rule == "" && d.ToolName != "" {
			return "--allowed-tools " + quoteShell(d.ToolName)
		}
	}
	return ""
}
