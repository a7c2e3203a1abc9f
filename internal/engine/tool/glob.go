package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed glob.md
var globText string

const globLimit = 100

type globTool struct{ in searched }

// With implements [Needy].
func (t globTool) With(g Setting, _ Session) Tool {
	t.in = searchedIn(g)
	return t
}

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
}

// globInfo is what the tool means to others.
var globInfo = protocol.ToolInfo{Name: "Glob", Kind: protocol.ToolReads, View: protocol.ViewFiles, TitleField: "path", Rule: protocol.RuleFiles, RuleName: "Read", PiNames: []string{"find", "ls"}}

// globSchema is the JSON Schema of its input.
var globSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"pattern":{"type":"string","minLength":1,"description":"The glob, relative to path."},` +
		`"path":{"type":"string","description":"The folder to search; the workspace without it."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many files to list at most; 100 without it."},` +
		`"offset":{"type":"integer","minimum":0,"description":"How many files to pass over."}},` +
		`"required":["pattern"],"additionalProperties":false}`)

// Spec implements [Tool].
func (globTool) Spec() Spec {
	return Spec{ToolInfo: globInfo, Preset: ReadOnly, Description: globText, Parallel: true, Schema: globSchema}
}

// Prepare implements [Tool].
func (t globTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[globInput](call)
	if err != nil {
		return nil, err
	}
	if in.Limit == 0 {
		in.Limit = globLimit
	}
	c := &globCall{in: in}
	glob := in.Pattern
	folder := in.Path
	if strings.HasPrefix(glob, "~/") {
		if glob, err = t.in.files.Absolute(glob); err != nil {
			return nil, err
		}
	}
	// The fixed beginning of the glob is where to search, so that hidden and
	// ignored folders that it names are searched. Results keep it.
	if base, rest := doublestar.SplitPattern(glob); base != "." && rest != "" {
		switch {
		case path.IsAbs(base) || folder == "":
			folder = base
		default:
			folder = path.Join(folder, base)
		}
		glob, c.prefix = "./"+rest, base
		if rest == "**" {
			glob = "./**/*"
		}
	}
	if c.keep, c.depth, err = nameFilter(glob); err != nil {
		return nil, err
	}
	if c.root, err = openSearch(t.in, folder); err != nil {
		return nil, err
	}
	if c.root.file != "" {
		defer c.Close()
		return nil, fmt.Errorf("%s is a file, not a folder", c.root.path.Abs)
	}
	return c, nil
}

type globCall struct {
	in     globInput
	root   *searchRoot
	prefix string // the fixed beginning of the glob, "" without one
	keep   func(rel string) bool
	depth  int
}

// Action implements [Prepared].
func (c *globCall) Action() permission.Action {
	return permission.Action{Tool: globInfo.Name, Kind: globInfo.Kind, Paths: []permission.Path{c.root.path}}
}

// Snapshots implements [Prepared].
func (*globCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (c *globCall) Close() { c.root.root.Close() }

// Run implements [Prepared].
func (c *globCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	limited, cancel := context.WithTimeout(ctx, c.root.limit)
	defer cancel()
	files, more, err := c.root.list(limited, nil, c.depth, c.keep)
	if err != nil {
		return Result{}, tooLong(ctx, err)
	}
	lines := make([]string, 0, min(c.in.Limit, len(files)))
	first := min(c.in.Offset, len(files))
	last := min(first+c.in.Limit, len(files))
	for _, f := range files[first:last] {
		lines = append(lines, shownName(path.Join(c.prefix, f.rel)))
	}
	total := fmt.Sprint(len(files))
	if more {
		total = "more than " + total
	}
	text, note := paged(lines, first, len(files) > last, "Files", total)
	return shownResult(protocol.ToolDetails{}, "", text, note+c.root.leftOut()), nil
}

// paged joins the lines of an answer, at most maxOutput characters of them, and
// says in note how to go on. more says that there are lines after these.
func paged(lines []string, first int, more bool, what, total string) (text, note string) {
	if len(lines) == 0 {
		if first > 0 {
			return "", fmt.Sprintf("[%s: there is nothing behind offset %d.]", what, first)
		}
		return "", "[Nothing was found.]"
	}
	shown, size := 0, 0
	for _, l := range lines {
		if size += len(l) + 1; size > maxOutput && shown > 0 {
			more = true
			break
		}
		shown++
	}
	text = strings.Join(lines[:shown], "\n")
	if first == 0 && !more {
		return text, ""
	}
	note = fmt.Sprintf("\n[%s %d to %d", what, first+1, first+shown)
	if total != "" {
		note += " of " + total
	}
	if more {
		note += fmt.Sprintf(". Go on with offset %d", first+shown)
	}
	return text, note + ".]"
}
