package tool

import (
	"context"
	"fmt"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/protocol"

	"github.com/aymanbagabas/go-udiff"
)

const (
	maxDiff       = 16 << 10 // bytes of Details.Diff
	maxDiffSource = 1 << 20  // above, no diff is made: it would take seconds
)

// change is a prepared Write or Edit: one file, its content now and then.
type change struct {
	env    *Env
	tool   string
	target *target
	state  protocol.FileState // what the model has seen of the file
	before []byte             // nil when there is no file
	after  []byte
	whole  bool // the model knows all of after
	said   string
	store  func(f *Files, data, old []byte) error
}

// prepareChange opens the file and checks that the model has seen it as it is.
// The caller fills in what comes after.
func prepareChange(ctx context.Context, env *Env, tool, path string) (*change, error) {
	t, err := env.Files.open(path, true)
	if err != nil {
		return nil, err
	}
	c := &change{env: env, tool: tool, target: t}
	if !t.exists() {
		return c, nil
	}
	if err := c.load(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *change) load(ctx context.Context) (err error) {
	path := c.target.path.Abs
	if c.target.info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	var known bool
	if c.state, known = c.env.Seen.Lookup(path); !known {
		return fmt.Errorf("%s exists and you have not read it. Read it first, then repeat the call", path)
	}
	if c.before, err = c.target.content(ctx); err != nil {
		return err
	}
	if sum(c.before) != c.state.SHA256 {
		return fmt.Errorf("%s has changed since you read it (the user, a formatter or a command wrote it). Read it again, then repeat the call", path)
	}
	return nil
}

// Action implements [Prepared].
func (c *change) Action() permission.Action {
	return permission.Action{Tool: c.tool, Kind: permission.Write, Paths: []permission.Path{c.target.path}}
}

// Snapshots implements [Prepared].
func (c *change) Snapshots(context.Context) ([]Snapshot, error) {
	return []Snapshot{c.target.snapshot(c.before)}, nil
}

// Run implements [Prepared]. It does not stop half way: ctx is not looked at.
func (c *change) Run(ctx context.Context, _ func(string)) (Result, error) {
	ctx = context.WithoutCancel(ctx)
	if c.target.exists() {
		if err := c.target.unchanged(ctx, c.before); err != nil {
			return Result{}, err
		}
	}
	if err := c.store(c.env.Files, c.after, c.before); err != nil {
		return Result{}, err
	}
	state := protocol.FileState{Path: c.target.path.Abs, SHA256: sum(c.after), Whole: c.whole, Mode: c.target.mode()}
	c.env.Seen.Note(state)
	r := textResult(c.said)
	r.Details = protocol.ToolDetails{Files: []protocol.FileState{state}, Diff: diff(state.Path, c.before, c.after)}
	return r, nil
}

// Close implements [Prepared].
func (c *change) Close() { c.target.close() }

// diff gives the unified diff for people, cut at a line.
func diff(path string, before, after []byte) string {
	if len(before) > maxDiffSource || len(after) > maxDiffSource {
		return ""
	}
	a, b := strings.ToValidUTF8(string(before), "\uFFFD"), strings.ToValidUTF8(string(after), "\uFFFD")
	d, err := udiff.ToUnified(path, path, a, udiff.Lines(a, b), udiff.DefaultContextLines)
	if err != nil {
		return ""
	}
	const mark = "... the diff is cut here\n"
	if len(d) > maxDiff {
		d = d[:maxDiff-len(mark)]
		d = d[:strings.LastIndexByte(d, '\n')+1] + mark
	}
	return d
}
