package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// HeaderVersion is the version of the log format that this package writes.
const HeaderVersion = 1

// Header is line 0 of a log. CreatedAt is in Unix milliseconds.
type Header struct {
	Version    int         `json:"version"`
	SessionID  SessionID   `json:"sessionId"`
	DeviceID   DeviceID    `json:"deviceId"`
	CreatedAt  int64       `json:"createdAt"`
	ClonedFrom *ClonedFrom `json:"clonedFrom,omitempty"`
	Cause      *Cause      `json:"cause,omitempty"`
	// ImportedThrough is the seq up to which the events came from a file, which somebody
	// else may have written. What they allow, keep for undo, tell a model as the harness
	// or as the system prompt, and know of files does not count on this device; what
	// people and models said does.
	ImportedThrough Seq `json:"importedThrough,omitempty"`
	// CopiedThrough is the highest seq of the lines that were copied from another log
	// when this one was made. What follows on what is not known of them: a copy leaves
	// lines out. Versions that do not know it leave it out in a copy of their own.
	CopiedThrough Seq `json:"copiedThrough,omitempty"`
	// Parent is set in the session of a sub-agent.
	Parent *Parent `json:"parent,omitempty"`
	Meta   Meta    `json:"meta"`
}

// Parent says for whom a sub-agent works: the session whose model started it with
// the call ToolCallID of Task. Agent is the name of its definition, and Depth how many
// sessions are above it, from 1. A clone and an import have none.
type Parent struct {
	SessionID  SessionID `json:"sessionId"`
	ToolCallID string    `json:"toolCallId"`
	Agent      string    `json:"agent"`
	Depth      int       `json:"depth"`
}

// Subagent names a sub-agent that asks people through the session that it works for:
// its own session, its description there, and its call that waits.
type Subagent struct {
	SessionID   SessionID `json:"sessionId"`
	Agent       string    `json:"agent"`
	Color       string    `json:"color,omitempty"` // see [AgentInfo]
	Description string    `json:"description,omitempty"`
	ToolCallID  string    `json:"toolCallId"`
}

// ClonedFrom returns where a session's first events come from.
type ClonedFrom struct {
	SessionID SessionID `json:"sessionId"`
	DeviceID  DeviceID  `json:"deviceId"`
	EventID   EventID   `json:"eventId"`
}

// Meta describes a session: the header's, folded with all session_info events
// in the order of seq.
type Meta struct {
	ProjectID     ProjectID `json:"projectId,omitempty" check:"max=MaxWord"`
	WorkDir       string    `json:"workDir,omitempty" check:"max=MaxPath"`
	Name          string    `json:"name,omitempty" check:"max=MaxName,line"`
	Model         string    `json:"model,omitempty" check:"max=MaxModelRef"`
	ThinkingLevel string    `json:"thinkingLevel,omitempty" check:"max=MaxWord"`
	// Job is set in a session that create_job made. Clones, imports and the sessions of
	// sub-agents have none.
	Job *JobMeta `json:"job,omitempty"`
}

// MetaChanges are the fields of [Meta] that a session_info event sets; nil
// leaves a field as it is.
type MetaChanges struct {
	WorkDir       *string `json:"workDir,omitempty"`
	Name          *string `json:"name,omitempty"`
	Model         *string `json:"model,omitempty"`
	ThinkingLevel *string `json:"thinkingLevel,omitempty"`
	// JobState is set by the host alone; a session that is no job ignores it.
	JobState *JobState `json:"jobState,omitempty"`
	// ProjectID is set by the host alone, with the folder of a session that had none or
	// whose header was lost.
	ProjectID *ProjectID `json:"projectId,omitempty"`
}

// Apply sets in m what c changes.
func (c MetaChanges) Apply(m *Meta) {
	set := func(dst *string, src *string) {
		if src != nil {
			*dst = *src
		}
	}
	set(&m.WorkDir, c.WorkDir)
	set(&m.Name, c.Name)
	set(&m.Model, c.Model)
	set(&m.ThinkingLevel, c.ThinkingLevel)
	if c.ProjectID != nil {
		m.ProjectID = *c.ProjectID
	}
	if c.JobState != nil && m.Job != nil {
		m.Job = &JobMeta{m.Job.Template, *c.JobState} // others may have the old one
	}
}

// ParseHeader reads line 0 of a log. Unknown fields are ignored; a version above
// [HeaderVersion] is read as far as it is understood.
func ParseHeader(line []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), &h); err != nil {
		return Header{}, fmt.Errorf("the header is not valid JSON: %w", err)
	}
	if h.Version < 1 {
		return Header{}, errors.New("the header has no version")
	}
	return h, h.SessionID.Check()
}

// AppendLine appends the header as compact JSON with its checksum ([HeaderSum]),
// without a newline.
func (h Header) AppendLine(dst []byte) ([]byte, error) {
	if err := h.SessionID.Check(); err != nil {
		return dst, err
	}
	line, err := marshal(h)
	if err != nil {
		return dst, err
	}
	return append(dst, sealHeader(escapeSeparators(line, 0))...), nil
}
