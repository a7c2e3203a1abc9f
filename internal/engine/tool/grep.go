package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"

	"scorel/internal/engine/permission"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

//go:embed grep.md
var grepText string

const (
	grepFiles  = 100 // default limits
	grepLines  = 250
	maxContext = 20
)

type grepTool struct{ in searched }

// With implements [Needy].
func (t grepTool) With(g Setting, _ Session) Tool {
	t.in = searchedIn(g)
	return t
}

type grepInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Mode    string `json:"mode"`
	Context int    `json:"context"`
	Fold    bool   `json:"ignore_case"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
}

// grepInfo is what the tool means to others.
var grepInfo = protocol.ToolInfo{Name: "Grep", Kind: protocol.ToolReads, View: protocol.ViewMatches, TitleField: "path", Rule: protocol.RuleFiles, RuleName: "Read", PiNames: []string{"grep"}}

// grepSchema is the JSON Schema of its input.
var grepSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"pattern":{"type":"string","minLength":1,"description":"The regular expression (RE2)."},` +
		`"path":{"type":"string","description":"The folder or file to search; the workspace without it."},` +
		`"glob":{"type":"string","minLength":1,"description":"Search only files that this glob matches, for example *.go or src/**/*.ts."},` +
		`"mode":{"type":"string","enum":["files","content","count"],"description":"What to give; files without it."},` +
		`"context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines to show before and after each match, in mode content."},` +
		`"ignore_case":{"type":"boolean","description":"Letters match in upper and lower case."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"How many lines to give at most; without it 250 in mode content, else 100."},` +
		`"offset":{"type":"integer","minimum":0,"description":"How many lines to pass over."}},` +
		`"required":["pattern"],"additionalProperties":false}`)

// Spec implements [Tool].
func (grepTool) Spec() Spec {
	return Spec{ToolInfo: grepInfo, Preset: ReadOnly, Description: grepText, Parallel: true, Schema: grepSchema}
}

// Prepare implements [Tool].
func (t grepTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[grepInput](call)
	if err != nil {
		return nil, err
	}
	if in.Limit == 0 {
		in.Limit = grepFiles
		if in.Mode == "content" {
			in.Limit = grepLines
		}
	}
	in.Context = min(max(in.Context, 0), maxContext)
	c := &grepCall{in: in, keep: func(string) bool { return true }}
	if c.pattern, err = compilePattern(in.Pattern, in.Fold); err != nil {
		return nil, err
	}
	if in.Glob != "" {
		if c.keep, c.depth, err = nameFilter(in.Glob); err != nil {
			return nil, err
		}
	}
	if c.root, err = openSearch(t.in, in.Path); err != nil {
		return nil, err
	}
	return c, nil
}

type grepCall struct {
	in      grepInput
	root    *searchRoot
	pattern pattern
	keep    func(rel string) bool
	depth   int
}

// Action implements [Prepared].
func (c *grepCall) Action() permission.Action {
	return permission.Action{Tool: grepInfo.Name, Kind: grepInfo.Kind, Paths: []permission.Path{c.root.path}}
}

// Snapshots implements [Prepared].
func (*grepCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (c *grepCall) Close() { c.root.root.Close() }

// Run implements [Prepared].
func (c *grepCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	limited, cancel := context.WithTimeout(ctx, c.root.limit)
	defer cancel()
	candidates, cut, err := c.root.list(limited, &c.pattern, c.depth, c.keep)
	if err != nil {
		return Result{}, tooLong(ctx, err)
	}
	if c.root.file != "" && c.binary() {
		return Result{}, fmt.Errorf("%s is a binary file, which cannot be searched", c.root.path.Abs)
	}
	files := c.matching(limited, candidates)
	show := limited
	if err := limited.Err(); err != nil {
		if ctx.Err() != nil || len(files) == 0 {
			return Result{}, tooLong(ctx, err)
		}
		var done func()
		show, done = context.WithTimeout(ctx, lateTime)
		defer done()
	}
	var text, note string
	switch c.in.Mode {
	case "content":
		text, note = c.content(show, files)
	case "count":
		text, note = c.names(show, files, func(f found, n int) string { return fmt.Sprintf("%s:%d", shownName(f.rel), n) })
	default:
		text, note = c.names(show, files, nil)
	}
	c.root.gaps.late = c.root.gaps.late || limited.Err() != nil
	if err := show.Err(); err != nil && (ctx.Err() != nil || text == "") {
		return Result{}, tooLong(ctx, err)
	}
	note += c.root.leftOut()
	if cut {
		note += fmt.Sprintf("\n[Only the first %d files were searched.]", maxFound)
	}
	return shownResult(protocol.ToolDetails{}, "", text, note), nil
}

func (c *grepCall) binary() bool {
	f := c.root.open(c.root.file)
	if f == nil {
		return false
	}
	defer f.Close()
	var buf []byte
	s, err := newLineScan(f, &buf)
	return err == nil && s.binary
}

// matching returns the files with a match, in their order.
func (c *grepCall) matching(ctx context.Context, candidates []found) []found {
	has := make([]bool, len(candidates))
	var next atomic.Int64
	var group fault.Group
	for range min(runtime.GOMAXPROCS(0), len(candidates)) {
		group.Go(func() { // ends when all candidates are taken, or with ctx
			var buf []byte
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(candidates) {
					return
				}
				has[i] = c.count(ctx, candidates[i].rel, 1, &buf) > 0
			}
		})
	}
	group.Wait()
	files := make([]found, 0, len(candidates))
	for i, f := range candidates {
		if has[i] {
			files = append(files, f)
		}
	}
	return files
}

// count returns the number of matching lines, and stops at most when most is not 0.
func (c *grepCall) count(ctx context.Context, rel string, most int, buf *[]byte) int {
	f := c.root.open(rel)
	if f == nil {
		return 0
	}
	defer f.Close()
	n := 0
	s, err := newLineScan(f, buf)
	if err != nil || s.binary {
		return 0
	}
	s.each(ctx, &c.pattern, 0, func(_ int, _ []byte, match bool) bool {
		if match {
			n++
		}
		return most == 0 || n < most
	})
	if s.cut {
		c.root.gaps.note(&c.root.gaps.long, rel)
	}
	return n
}

// names lists one line a file.
func (c *grepCall) names(ctx context.Context, files []found, show func(f found, n int) string) (text, note string) {
	first := min(c.in.Offset, len(files))
	last := min(first+c.in.Limit, len(files))
	var lines []string
	var buf []byte
	for _, f := range files[first:last] {
		if show == nil {
			lines = append(lines, shownName(f.rel))
			continue
		}
		n := c.count(ctx, f.rel, 0, &buf)
		if ctx.Err() != nil { // it may have more
			break
		}
		lines = append(lines, show(f, n))
	}
	return paged(lines, first, len(files) > last, "Files", fmt.Sprint(len(files)))
}

// content lists matching lines with those around them.
func (c *grepCall) content(ctx context.Context, files []found) (text, note string) {
	page := &linePage{offset: c.in.Offset, limit: c.in.Limit}
	var buf []byte
	for _, f := range files {
		if page.more || ctx.Err() != nil {
			break
		}
		c.show(ctx, f.rel, page, &buf)
	}
	return paged(page.lines, c.in.Offset, page.more, "Lines", "")
}

func (c *grepCall) show(ctx context.Context, rel string, page *linePage, buf *[]byte) {
	f := c.root.open(rel)
	if f == nil {
		return
	}
	defer f.Close()
	s, err := newLineScan(f, buf)
	if err != nil || s.binary {
		return
	}
	if page.seen > 0 && c.in.Context > 0 {
		page.add("--")
	}
	around, name := c.in.Context, shownName(rel)
	var before []string // the lines before, not shown yet
	after, shown := 0, 0
	s.each(ctx, &c.pattern, around, func(n int, line []byte, match bool) bool {
		switch {
		case match:
			if around > 0 && shown > 0 && n-len(before) > shown+1 {
				page.add("--")
			}
			for _, b := range before {
				page.add(b)
			}
			before = before[:0]
			page.add(fmt.Sprintf("%s:%d:%s", name, n, shownLine(line)))
			after, shown = around, n
		case after > 0:
			page.add(fmt.Sprintf("%s-%d-%s", name, n, shownLine(line)))
			after, shown = after-1, n
		case around > 0:
			if len(before) == around {
				before = before[:copy(before, before[1:])]
			}
			before = append(before, fmt.Sprintf("%s-%d-%s", name, n, shownLine(line)))
		}
		return !page.more
	})
	if s.cut {
		c.root.gaps.note(&c.root.gaps.long, rel)
	}
}

// linePage keeps the lines of one page.
type linePage struct {
	offset, limit int
	seen          int
	lines         []string
	more          bool
}

func (p *linePage) add(line string) {
	p.seen++
	switch {
	case p.seen <= p.offset:
	case len(p.lines) < p.limit:
		p.lines = append(p.lines, line)
	default:
		p.more = true
	}
}
