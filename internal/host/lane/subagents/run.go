package subagents

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// Kind is the kind of the custom events that tell of a session's sub-agents.
const Kind = protocol.OwnKind + "subagent"

// Run is the data of such an event: that a sub-agent begins to work, before it does, or
// how it ended.
type Run struct {
	SessionID   protocol.SessionID `json:"sessionId"`
	ParentID    protocol.SessionID `json:"parentId"` // for which it works: a clone of that session has the event, too
	ToolCallID  string             `json:"toolCallId"`
	Agent       string             `json:"agent"`
	Description string             `json:"description,omitempty"`
	Background  bool               `json:"background,omitempty"`
	State       string             `json:"state"` // started, ended or interrupted
	Terminal    protocol.Terminal  `json:"terminal,omitempty"`
	Steps       int                `json:"steps,omitempty"`
	Model       string             `json:"model,omitempty"` // of its last turn
	Usage       *protocol.Usage    `json:"usage,omitempty"`
}

// The states of a [Run].
const (
	Started     = "started"
	Ended       = "ended"
	Interrupted = "interrupted" // its host died
)

func (run Run) body() (*protocol.Custom, error) {
	data, err := json.Marshal(run)
	return &protocol.Custom{Kind: Kind, Data: data}, err
}

// maxInterrupted bounds the interrupted sub-agents that a model is told of, the newest.
const maxInterrupted = 16

// Runs are the sub-agents of one session.
type Runs struct {
	j           *journal.Journal
	interrupted []Run // by the end of an earlier host; guarded by the journal's lock
}

// New returns the sub-agents of a session, with those that a host which died has left in
// the middle.
func New(ctx context.Context, j *journal.Journal) (*Runs, error) {
	open, err := fold(ctx, j.Index())
	return &Runs{j: j, interrupted: open}, err
}

func fold(ctx context.Context, index *session.Index) ([]Run, error) {
	var open []Run
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return nil, err
		}
		b, ok := e.Body.(*protocol.Custom)
		var run Run
		if !ok || b.Kind != Kind || json.Unmarshal(b.Data, &run) != nil || run.ParentID != index.SessionID() {
			continue
		}
		kept := open[:0]
		for _, o := range open {
			if o.SessionID != run.SessionID {
				kept = append(kept, o)
			}
		}
		if open = kept; run.State == Started {
			open = append(open, run)
		}
	}
	return open[max(0, len(open)-maxInterrupted):], nil
}

// Interrupted returns the sessions of the sub-agents that the end of an earlier host
// interrupted, until the model is told of them; at most 16.
func (r *Runs) Interrupted() (ids []protocol.SessionID) {
	r.j.Lock()
	defer r.j.Unlock()
	for _, run := range r.interrupted {
		ids = append(ids, run.SessionID)
	}
	return ids
}

// Record stores how a sub-agent stands; it is durable on return. What one in the
// background has used is counted with it: that of another is in its result.
func (r *Runs) Record(ctx context.Context, run Run) error {
	run.ParentID = r.j.ID()
	body, err := run.body()
	if err != nil {
		return err
	}
	if err := r.j.Record(ctx, body, journal.ByHost()); err != nil || !run.Background || run.Usage == nil {
		return err
	}
	return r.j.Record(ctx, &protocol.SessionInfo{Asked: run.Model, Agent: run.Agent, Steps: run.Steps, Usage: run.Usage}, journal.ByHost())
}

// Append tells the model of the sub-agents that the end of an earlier host has
// interrupted. The journal is locked.
func (r *Runs) Append(ctx context.Context) error {
	for len(r.interrupted) > 0 {
		run := r.interrupted[0]
		text := "The host stopped while the sub-agent " + run.Agent + " (" + run.Description + ") worked. What it did until then may have taken effect. " +
			"Its session is " + string(run.SessionID) + "; Task with resume continues it."
		data, err := json.Marshal(protocol.TaskNotice{SessionID: run.SessionID, Agent: run.Agent})
		if err != nil {
			return err
		}
		if _, _, err := r.j.Append(ctx, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem,
			Content: text, Visibility: protocol.VisibilityCompact, Data: data}}, journal.ByHost()); err != nil {
			return err
		}
		run.State = Interrupted
		body, err := run.body()
		if err != nil {
			return err
		}
		if _, _, err := r.j.Append(ctx, body, journal.ByHost()); err != nil {
			return err
		}
		r.interrupted = r.interrupted[1:]
	}
	return nil
}
