package lane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// refresh completes the environment of the tools with what the active path says.
// It is called between calls, by the goroutine of the run.
func (l *Lane) refresh(t *turn) error {
	state, err := t.builder.State(t.ctx, l.cfg.Log.Index().Leaf())
	if err != nil {
		return err
	}
	t.work = state
	var seen []protocol.FileState
	for _, f := range state.Files {
		seen = append(seen, protocol.FileState(f))
	}
	dir := state.Dir
	if dir == "" {
		dir = t.setup.WorkDir
	}
	env := t.env
	env.Seen, env.Dir = tool.NewSeen(seen), tool.NewDir(dir)
	env.PutBlob = func(ctx context.Context, r io.Reader) (string, error) {
		sha, _, err := l.cfg.Blobs.Put(ctx, r)
		return sha, err
	}
	env.Todos = func() []protocol.Todo {
		// Todos is asked by a call of the run, and changed by the bridge, which
		// runs between calls.
		out := make([]protocol.Todo, len(state.Todos))
		for i, t := range state.Todos {
			out[i] = protocol.Todo(t)
		}
		return out
	}
	env.StoredResult = l.storedResult
	h := &turnHost{l, t}
	env.Tasks, env.Ask, env.Plan, env.Agent = l.tasks, h.askUser, h.askPlan, h.order
	env.Protected = h.tellProtected
	return nil
}

// storedResult gives the whole result of a call on the active path.
func (l *Lane) storedResult(ctx context.Context, callID string) (io.ReadCloser, error) {
	index := l.cfg.Log.Index()
	m, err := history.FindResult(ctx, index, index.Leaf(), callID)
	if errors.Is(err, history.ErrNoResult) {
		return nil, fmt.Errorf("the result of %s: %w", callID, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	var d protocol.ToolDetails
	if len(m.Details) > 0 && json.Unmarshal(m.Details, &d) == nil && d.FullBlob != "" {
		data, err := l.readPayload(ctx, d.FullBlob, session.MaxBlob)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	if m.IsCut() {
		if m, err = m.Whole(func(sha string) ([]byte, error) { return l.readBlob(ctx, sha) }); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(strings.NewReader(m.PlainText())), nil
}
