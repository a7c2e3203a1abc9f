package tool

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

const (
	maxDiff       = 16 << 10 // bytes of Details.Diff
	maxPreview    = 64 << 10 // bytes of ChangePreview.Diff
	maxDiffSource = 1 << 20  // above, no diff is made: it would take seconds
)

// change is a prepared Write or Edit: one file, its content now and then.
type change struct {
	files  *files.Files
	seen   *files.Seen
	tool   string
	target *files.Target
	state  protocol.FileState // what the model has seen of the file
	before []byte             // nil when there is no file
	after  []byte
	whole  bool // the model knows all of after
	// replaces says that the model named the whole content, and not what to change.
	replaces bool
	said     string
	store    func(f *files.Files, data, old []byte) error
}

// prepareChange opens the file and checks that the model has seen it as it is.
// The caller fills in what comes after.
func prepareChange(ctx context.Context, files *files.Files, seen *files.Seen, tool, path string) (*change, error) {
	t, err := files.Open(path, true)
	if err != nil {
		return nil, err
	}
	c := &change{files: files, seen: seen, tool: tool, target: t}
	if !t.Exists() {
		if err := files.Present(t.Path.Abs); err != nil {
			c.Close()
			return nil, err
		}
		return c, nil
	}
	if err := c.load(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *change) load(ctx context.Context) (err error) {
	path := c.target.Path.Abs
	if c.target.Info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	var known bool
	if c.state, known = c.seen.Lookup(path); !known {
		return fmt.Errorf("%s exists and you have not read it. Read it first, then repeat the call", path)
	}
	if c.before, err = c.target.Content(ctx); err != nil {
		return err
	}
	if files.Sum(c.before) != c.state.SHA256 {
		return fmt.Errorf("%s has changed since you read it (the user, a formatter or a command wrote it). Read it again, then repeat the call", path)
	}
	return nil
}

// Action implements [Prepared].
func (c *change) Action() permission.Action {
	return permission.Action{Tool: c.tool, Kind: permission.Write, Paths: []permission.Path{c.target.Path}, Effect: c.effect}
}

// effect says what becomes of the file.
func (c *change) effect() (verb, size string) {
	lines := func(n int) string {
		if n == 1 {
			return "1 line"
		}
		return fmt.Sprintf("%d lines", n)
	}
	switch before, after := countLines(c.before), countLines(c.after); {
	case !c.target.Exists():
		return "creates", " (" + lines(after) + ")"
	case c.replaces:
		return "replaces", fmt.Sprintf(" (%d → %s)", before, lines(after))
	default:
		return "changes", fmt.Sprintf(" (%d → %s)", before, lines(after))
	}
}

// Snapshots implements [Prepared].
func (c *change) Snapshots(context.Context) ([]Snapshot, error) {
	return []Snapshot{c.target.Snapshot(c.before)}, nil
}

// Run implements [Prepared]. It does not stop half way: ctx is not looked at.
func (c *change) Run(ctx context.Context, _ func(string)) (Result, error) {
	ctx = context.WithoutCancel(ctx)
	if c.target.Exists() {
		if err := c.target.Unchanged(ctx, c.before); err != nil {
			return Result{}, err
		}
	}
	if err := c.store(c.files, c.after, c.before); err != nil {
		return Result{}, err
	}
	state := protocol.FileState{Path: c.target.Path.Abs, SHA256: files.Sum(c.after), Whole: c.whole, Mode: c.target.Mode()}
	c.seen.Note(state)
	r := textResult(c.said)
	r.Details = protocol.ToolDetails{Files: []protocol.FileState{state}, Diff: diff(state.Path, c.before, c.after)}
	return r, nil
}

// Preview implements [Previewer]. A difference that is too long is left out whole: who
// approves a part of it would approve what they have not seen.
func (c *change) Preview() *protocol.ChangePreview {
	p := &protocol.ChangePreview{Path: c.target.Path.Abs, Exists: c.target.Exists(), LinesBefore: countLines(c.before), LinesAfter: countLines(c.after)}
	if p.Diff = Unified(p.Path, c.before, c.after); p.Diff == "" || len(p.Diff) > maxPreview {
		p.Diff, p.Omitted = "", !bytes.Equal(c.before, c.after)
	}
	return p
}

// Close implements [Prepared].
func (c *change) Close() { c.target.Close() }

// countLines returns how many lines a file has; the last one may have no line ending.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// Unified returns the unified diff of two contents of a file, "" where one has more than 1 MiB.
// What is not UTF-8 is replaced.
func Unified(path string, before, after []byte) string {
	if len(before) > maxDiffSource || len(after) > maxDiffSource {
		return ""
	}
	a, b := strings.ToValidUTF8(string(before), "\uFFFD"), strings.ToValidUTF8(string(after), "\uFFFD")
	d, err := udiff.ToUnified(path, path, a, udiff.Lines(a, b), udiff.DefaultContextLines)
	if err != nil {
		return ""
	}
	return d
}

// diff returns the unified diff for people, cut at a line.
func diff(path string, before, after []byte) string {
	d := Unified(path, before, after)
	const mark = "... the diff is cut here\n"
	if len(d) > maxDiff {
		d = d[:maxDiff-len(mark)]
		d = d[:strings.LastIndexByte(d, '\n')+1] + mark
	}
	return d
}
