package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/claude"
	"scorel/internal/engine/hook"
	"scorel/protocol"
)

// Hooks that were written for Claude Code are told of an event, and answer, as there
// (https://docs.claude.com/en/docs/claude-code/hooks): tools and the members of their
// inputs have the names that they have there, a status that is neither 0 nor 2 stops
// nothing, and what is printed may be the object of hookSpecificOutput.

// theirs makes an event what a hook of Claude Code knows.
func (r *runner) theirs(e event) any {
	out := theirEvent{event: e, ToolUse: e.ToolCall}
	out.ToolCall, out.event.Response = "", nil
	if e.ToolName != "" {
		out.ToolName, out.ToolInput = claude.Call(e.ToolName, e.ToolInput, r.Root)
	}
	if e.Response != nil {
		out.Response = &theirResponse{response: *e.Response, Success: !e.Response.IsError}
		if protocol.ViewOf(e.ToolName) == protocol.ViewCommand {
			out.Response.Stdout = e.Response.Content
		}
		var input struct {
			Path string `json:"file_path"`
		}
		if json.Unmarshal(out.ToolInput, &input) == nil {
			out.Response.Path = input.Path
		}
	}
	switch e.Name {
	case "PreCompact":
		if out.Trigger != "manual" {
			out.Trigger = "auto"
		}
	case "Notification":
		out.Type = notificationType(e.About)
	}
	return out
}

// theirEvent is what a hook of Claude Code is told.
type theirEvent struct {
	event
	ToolUse  string         `json:"tool_use_id,omitempty"`
	Response *theirResponse `json:"tool_response,omitempty"`
	Type     string         `json:"notification_type,omitempty"`
}

// theirResponse is the result of a call. Which members there are depends on the tool
// there; these are what most hooks look at.
type theirResponse struct {
	response
	Success bool   `json:"success"`
	Stdout  string `json:"stdout,omitempty"`
	Path    string `json:"filePath,omitempty"`
}

func notificationType(about string) string {
	switch about {
	case "permission":
		return "permission_prompt"
	case "question", "dialog":
		return "elicitation_dialog"
	}
	return about
}

// concerns reports whether the hook is about an event.
func (r *runner) concerns(e event) bool {
	if !r.hook.Claude {
		return e.ToolName == "" || r.hook.Matches(e.ToolName)
	}
	switch r.hook.Event {
	case "PreToolUse", "PostToolUse":
		// There a hook is told of a result only when it is none of a failure.
		return claude.Matches(r.hook.Matcher, claude.NamesOf(e.ToolName)...) && (e.Response == nil || !e.Response.IsError)
	case "SessionStart":
		return claude.Matches(r.hook.Matcher, e.Source)
	case "SessionEnd":
		return claude.Matches(r.hook.Matcher, e.Reason)
	case "PreCompact":
		if e.Trigger == "manual" {
			return claude.Matches(r.hook.Matcher, "manual")
		}
		return claude.Matches(r.hook.Matcher, "auto")
	case "Notification":
		return claude.Matches(r.hook.Matcher, notificationType(e.About))
	}
	return true // the others have no matcher
}

// theirAnswer is what a hook of Claude Code prints. Members that are not here have no
// meaning here.
type theirAnswer struct {
	Continue   *bool           `json:"continue"`
	StopReason string          `json:"stopReason"`
	Message    string          `json:"systemMessage"`
	Decision   json.RawMessage `json:"decision"` // an object at events that there are not here
	Reason     string          `json:"reason"`
	Specific   struct {
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Context  string          `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// readTheirs makes an answer of how a hook of Claude Code ended; message is for people.
func readTheirs(event, tool string, code int, stdout, stderr *output) (a answer, message string, err error) {
	out, cut := stdout.take()
	complaint, _ := stderr.take()
	switch {
	case code == exitDeny: // whatever it has printed
		return answer{Decision: "deny", Reason: strings.TrimSpace(strings.ToValidUTF8(string(complaint), "\uFFFD"))}, "", nil
	case code != 0:
		return answer{}, "", fmt.Errorf("it ended with status %d%s", code, firstLine(complaint))
	case cut:
		return answer{}, "", fmt.Errorf("it printed more than %d bytes", maxOutput)
	case !utf8.Valid(out):
		return answer{}, "", fmt.Errorf("what it printed is not UTF-8")
	}
	text := bytes.TrimSpace(out)
	var t theirAnswer
	if bytes.HasPrefix(text, []byte("{")) && !json.Valid(text) {
		message = "what it printed begins as JSON and is none, so it does not count as an answer"
	}
	if !bytes.HasPrefix(text, []byte("{")) || !json.Valid(text) {
		if event == "UserPromptSubmit" || event == "SessionStart" {
			return answer{Context: string(text)}, message, nil
		}
		return answer{}, message, nil // words for people
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return answer{}, "", fmt.Errorf("its answer cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	a = answer{Reason: t.Reason, Context: t.Specific.Context}
	var decision string
	_ = json.Unmarshal(t.Decision, &decision) // what is not text decides nothing here
	if event == "PreToolUse" && t.Specific.Decision != "" {
		decision, a.Reason = t.Specific.Decision, t.Specific.Reason
	}
	stops := t.Continue != nil && !*t.Continue
	switch {
	case stops && event == "PreToolUse", stops && event == "UserPromptSubmit", stops && event == "PreCompact":
		a.Decision, a.Reason = "deny", join(t.StopReason, a.Reason)
	case stops: // the turn ends, or has ended
		a.Context = join(a.Context, t.StopReason)
		if event == "Stop" || event == "SubagentStop" {
			return answer{}, t.Message, nil
		}
	case event == "PreToolUse":
		a.Decision = preDecision(&a, decision)
	case decision == "block" && (event == "PostToolUse" || event == "UserPromptSubmit" || event == "Stop" || event == "SubagentStop" || event == "PreCompact"):
		a.Decision = "deny"
	}
	if event == "PreToolUse" && t.Specific.Input != nil && string(t.Specific.Input) != "null" {
		a.Input = claude.Input(tool, t.Specific.Input)
	}
	return a, t.Message, nil
}

// preDecision is what a decision about a call means. One that is not known is asked
// about: it may have been meant as a refusal.
func preDecision(a *answer, decision string) string {
	switch decision {
	case "", "allow", "ask", "deny":
		return decision
	case "approve":
		return "allow"
	case "block":
		return "deny"
	}
	a.Reason = join(a.Reason, fmt.Sprintf("A hook says %.40q, which Scorel does not know.", decision))
	return "ask"
}

// untrusted is why a hook was not run: its files are not those that a person has looked
// at.
type untrusted struct{ error }

// refusing makes a refusal of a failure that means that nobody has looked at the hook as
// it is now; a hook of Claude Code that fails otherwise stops nothing.
func (r *runner) refusing(err error) (hook.ToolDecision, error) {
	if u, ok := err.(untrusted); ok && r.hook.Claude {
		return hook.ToolDecision{Verdict: hook.Deny, Reason: fmt.Sprintf("%s: %s.", r.name(), strings.TrimRight(u.Error(), "."))}, nil
	}
	return hook.ToolDecision{}, err
}

// eventOf is the event of a result.
func eventOf(call hook.ToolCall, result hook.ToolResult) event {
	return event{ToolName: call.Name, ToolInput: call.Input, ToolCall: call.ID,
		Response: &response{Content: protocol.Message{Content: result.Content}.PlainText(), IsError: result.IsError, Details: result.Details}}
}
