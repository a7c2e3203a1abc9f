package lane

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// refresh tells the tools what the active path says. It is called between calls, by the
// goroutine of the run.
func (l *Lane) refresh(t *turn) error {
	state, err := t.view.builder.State(t.ctx, l.j.Index().Leaf())
	if err != nil {
		return err
	}
	t.view.work = state
	var seen []protocol.FileState
	for _, f := range state.Files {
		seen = append(seen, protocol.FileState(f))
	}
	t.view.seen.Reset(seen)
	t.view.dir.Set(cmp.Or(state.Dir, t.config.WorkDir))
	return nil
}

// session is what the tools of the turn know and change of the session.
func (h *turnHost) session() tool.Session {
	own := toolHost{h}
	s := tool.Session{Seen: h.t.view.seen, Dir: h.t.view.dir, Tasks: h.l.tasks.Set(),
		Results: own, Blobs: own, Todos: own, People: own, Protected: own, Schedules: h.schedulesOf()}
	if h.l.proactive(h.t) {
		s.Sleeper = sleeper{h.l}
	}
	if slices.ContainsFunc(h.t.config.Tools, func(t tool.Tool) bool { return t.Spec().Name == tool.TaskName }) {
		s.Agents = own // a skill starts agents only where the model can
	}
	return s
}

// toolHost is the turn as its tools see it.
type toolHost struct{ h *turnHost }

// Ask implements [tool.People].
func (o toolHost) Ask(ctx context.Context, callID string, questions []protocol.Question) (protocol.Answers, error) {
	return o.h.askUser(ctx, callID, questions)
}

// Plan implements [tool.People].
func (o toolHost) Plan(ctx context.Context, callID, plan string) (tool.PlanVerdict, error) {
	return o.h.askPlan(ctx, callID, plan)
}

// EnterPlan implements [tool.People].
func (o toolHost) EnterPlan(ctx context.Context, callID, reason string) (tool.PlanProposal, error) {
	return o.h.proposePlan(ctx, callID, reason)
}

// RunAgent implements [tool.Agents].
func (o toolHost) RunAgent(ctx context.Context, call tool.AgentCall) (tool.Result, error) {
	return o.h.order(ctx, call)
}

// NotifyProtected implements [tool.Protected].
func (o toolHost) NotifyProtected(n protocol.ProtectedNotice, text string) {
	o.h.notifyProtected(n, text)
}

// PutBlob implements [tool.Blobs].
func (o toolHost) PutBlob(ctx context.Context, r io.Reader) (string, error) {
	sha, _, err := o.h.l.cfg.Blobs.Put(ctx, r)
	return sha, err
}

// Todos implements [tool.Todos]. It is asked by a call of the run; the list is changed by
// the bridge, which runs between calls.
func (o toolHost) Todos() []protocol.Todo {
	todos := o.h.t.view.work.Todos
	out := make([]protocol.Todo, len(todos))
	for i, t := range todos {
		out[i] = protocol.Todo(t)
	}
	return out
}

// StoredResult implements [tool.Results].
func (o toolHost) StoredResult(ctx context.Context, callID string) (io.ReadCloser, error) {
	return o.h.l.storedResult(ctx, callID)
}

// storedResult returns the whole result of a call on the active path.
func (l *Lane) storedResult(ctx context.Context, callID string) (io.ReadCloser, error) {
	index := l.j.Index()
	m, err := history.FindResult(ctx, index, index.Leaf(), callID)
	if errors.Is(err, history.ErrNoResult) {
		return nil, fmt.Errorf("the result of %s: %w", callID, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	var d protocol.ToolDetails
	if len(m.Details) > 0 && json.Unmarshal(m.Details, &d) == nil && d.FullBlob != "" {
		data, err := l.payloads.read(ctx, d.FullBlob, session.MaxBlob)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	if m.IsCut() {
		if m, err = m.Whole(func(sha string) ([]byte, error) { return l.payloads.blob(ctx, sha) }); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(strings.NewReader(m.PlainText())), nil
}
