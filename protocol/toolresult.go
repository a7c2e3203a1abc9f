package protocol

import "encoding/json"

// ToolDetails is what results of built-in tools carry for clients and for the host, with a
// field for each thing that one of them tells. The
// details of an extension's tools are its own.
type ToolDetails struct {
	// Outcome says why a call did not come to its end; "" where it did, or failed by itself.
	Outcome ToolOutcome `json:"outcome,omitempty"`
	// Denied says who denied a call that did not run for that; nil in logs of older versions.
	Denied *Denial `json:"denied,omitempty"`
	// DurationMS is for how long the call ran, where that is at least a second less than the
	// time since its message: it waited for people, also while it ran, or for other calls. 0
	// is not known.
	DurationMS int64 `json:"durationMs,omitempty"`
	// Shown says which of the result's text is for people; nil in logs of older versions,
	// and of tools whose text is for people and models alike.
	Shown *ShownText  `json:"shown,omitempty"`
	Files []FileState `json:"files,omitempty"`
	Diff  string      `json:"diff,omitempty"` // unified, of changes, ≤ 16 KiB
	// ExitCode of a command.
	ExitCode *int `json:"exitCode,omitempty"`
	// Dir is the working directory after a command.
	Dir string `json:"dir,omitempty"`
	// Todos is the todo list after the call, OldTodos the one before.
	OldTodos []Todo `json:"oldTodos,omitempty"`
	Todos    []Todo `json:"todos,omitempty"`
	// TaskID is the background command that the result is about.
	TaskID string `json:"taskId,omitempty"`
	// Agent is the sub-agent that the result is from.
	Agent *AgentState `json:"agent,omitempty"`
	// Plan is what became of a plan.
	Plan *PlanResult `json:"plan,omitempty"`
	// Asked are questions with their answers.
	Asked []AskedQuestion `json:"asked,omitempty"`
	// Links are the results of a search of the web.
	Links []Link `json:"links,omitempty"`
	// Structured is what an MCP server gave beside the text, any JSON of at most 256 KiB.
	Structured json.RawMessage `json:"structured,omitempty"`
	// FullBlob names the payload with the uncut output; the host sets it.
	FullBlob string `json:"fullBlob,omitempty"`
	// ChangedProtected are the protected files that a command made, changed or
	// removed, absolute; at most 100.
	ChangedProtected []string `json:"changedProtected,omitempty"`
	// SetAside is what a command has put into a repository and was moved away; at most 100.
	SetAside []SetAside `json:"setAside,omitempty"`
	// Cancelled and TimedOut say why a command was ended.
	Cancelled bool `json:"cancelled,omitempty"`
	TimedOut  bool `json:"timedOut,omitempty"`
}

// ToolOutcome returns why a call did not come to its end.
type ToolOutcome string

// The outcomes.
const (
	OutcomeNotRun    ToolOutcome = "not_run"   // somebody or something refused it before it began
	OutcomeCancelled ToolOutcome = "cancelled" // it was ended, before or while it ran
)

// Denial is a decision against a call: of a person, with what they said, or of a rule.
type Denial struct {
	Rule   string `json:"rule,omitempty"` // "" of a person
	Reason string `json:"reason,omitempty"`
}

// ShownText returns how many bytes (of UTF-8) at the beginning and at the end of the text of a
// result are for the model alone. The text is that of its text blocks, joined by line
// feeds; it has Whole bytes. Where it has not, a hook or a bound has changed it, and all of it
// is for people. So it is of more than 4 KiB for the model alone, and of tools that are not
// built in: none of Scorel's own says so much, so the details were not written by it.
type ShownText struct {
	Head  int `json:"head,omitempty"`
	Tail  int `json:"tail,omitempty"`
	Whole int `json:"whole"`
}

// FileState is a file as a tool saw or left it. Whole says that the model has
// seen all of it (or wrote it); else From and To are the lines that it saw in
// full, of Of lines, 0 when some were cut.
type FileState struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Whole  bool   `json:"whole,omitempty"`
	From   int    `json:"from,omitempty"`
	To     int    `json:"to,omitempty"`
	Of     int    `json:"of,omitempty"`
	Mode   uint32 `json:"mode,omitempty"` // its permission bits, where it was written
}

// AgentState is how far a sub-agent came.
type AgentState struct {
	SessionID SessionID `json:"sessionId"`
	Agent     string    `json:"agent"`
	Color     string    `json:"color,omitempty"` // see [AgentInfo]
	Steps     int       `json:"steps,omitempty"`
	Terminal  Terminal  `json:"terminal,omitempty"` // "" of one that was only started
}

// PlanResult is what became of a plan.
type PlanResult struct {
	Decision PlanDecision `json:"decision,omitempty"` // "" where it was closed without one
	Mode     string       `json:"mode,omitempty"`     // the permission mode that holds now
	Feedback string       `json:"feedback,omitempty"`
}

// AskedQuestion is a question with its answer: labels that were picked, and words of the
// person's own. Both are empty when it was left open.
type AskedQuestion struct {
	Question string   `json:"question"`
	Picked   []string `json:"picked,omitempty"`
	Words    []string `json:"words,omitempty"`
}

// Link is a result of a search of the web.
type Link struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// maxToolDetails bounds the details that are read, in bytes.
const maxToolDetails = 1 << 20

// ToolDetails reads the details of a result. Of those of another shape, which an
// extension may have, it has the members that fit.
func (m *Message) ToolDetails() ToolDetails {
	var d ToolDetails
	if len(m.Details) > 0 && len(m.Details) <= maxToolDetails {
		_ = json.Unmarshal(m.Details, &d) // of what has another shape, the members that fit
	}
	return d
}

// ToolRefused makes the error result of a call that did not come to its end.
func ToolRefused(callID, toolName, text string, why ToolOutcome) Message {
	m := ToolError(callID, toolName, text)
	m.Details, _ = json.Marshal(ToolDetails{Outcome: why})
	return m
}

// Outcome returns why the call of a result did not come to its end. Logs of older versions
// say it only in the text of the result.
func (m *Message) Outcome() ToolOutcome {
	d := m.ToolDetails()
	switch {
	case d.Outcome != "":
		return d.Outcome
	case d.Cancelled:
		return OutcomeCancelled
	case m.IsError:
		return oldOutcome(m.firstText())
	}
	return ""
}

// Links returns the results of a search of the web.
func (m *Message) Links() []Link {
	if d := m.ToolDetails(); d.Links != nil {
		return d.Links
	}
	return oldLinks(m.TextForPeople())
}

func (m *Message) firstText() string {
	for _, b := range m.Content {
		if b.Type == BlockText {
			return b.Text
		}
	}
	return ""
}

// TextForPeople returns the text of a result without what is in it for the model alone.
func (m *Message) TextForPeople() string {
	text, d := m.PlainText(), m.ToolDetails()
	switch {
	case d.Shown == nil:
		return oldTextForPeople(ViewOf(m.ToolName), text, d)
	case FindTool(m.ToolName).Name == "":
		return text
	}
	return d.Shown.Of(text)
}

// maxModelOnly bounds what of a text is for the model alone, in bytes.
const maxModelOnly = 4 << 10

// Of returns what of a text is for people; all of it for nil.
func (s *ShownText) Of(text string) string {
	if s == nil || s.Whole != len(text) || s.Head < 0 || s.Tail < 0 || s.Head > len(text) || s.Tail > len(text)-s.Head || s.Head+s.Tail > maxModelOnly {
		return text
	}
	return text[s.Head : len(text)-s.Tail]
}
