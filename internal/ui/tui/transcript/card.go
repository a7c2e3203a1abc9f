package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// shellName is what stands for the tool in the card of a command that a person ran.
const shellName = "!"

// state says the state of a call.
type state uint8

const (
	coming  state = iota // its input comes in
	waiting              // for its turn, or for somebody
	running
	succeeded
	failed
	denied
	cancelled
	unanswered // it has no result, and gets none
)

func (c *call) state() state {
	if s := c.shell; s != nil {
		switch {
		case s.Cancelled:
			return cancelled
		case s.Failed != "" || s.Lost || s.TimedOut || s.ExitCode != nil && *s.ExitCode != 0:
			return failed
		}
		return succeeded
	}
	r := c.result
	switch {
	case r == nil && c.unanswered:
		return unanswered
	case r == nil && c.running:
		return running
	case r == nil && c.asked == 0:
		return coming
	case r == nil:
		return waiting
	}
	if r.IsError {
		for _, d := range c.decisions {
			if d.Decision == protocol.DecisionDeny {
				return denied
			}
		}
	}
	c.details()
	switch c.outcome {
	case protocol.OutcomeCancelled:
		return cancelled
	case protocol.OutcomeNotRun:
		return denied
	}
	if r.IsError {
		return failed
	}
	if code := c.details().ExitCode; code != nil && *code != 0 {
		return failed
	}
	return succeeded
}

// details returns the details of the result.
func (c *call) details() protocol.ToolDetails {
	if c.parsed != nil && c.parsedOf == c.result {
		return *c.parsed
	}
	var d protocol.ToolDetails
	c.parsed, c.parsedOf, c.outcome = &d, c.result, ""
	if c.result != nil {
		d = c.result.ToolDetails()
		c.outcome = c.result.Outcome()
	}
	return d
}

// input is what cards show of the input of a call.
type input struct {
	Command     string `json:"command"`
	Path        string `json:"path"`
	Pattern     string `json:"pattern"`
	Mode        string `json:"mode"`
	URL         string `json:"url"`
	Query       string `json:"query"`
	Agent       string `json:"agent"`
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Name        string `json:"name"`
	Content     string `json:"content"`
	Edits       []struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	} `json:"edits"`
	Todos     []protocol.Todo     `json:"todos"`
	Questions []protocol.Question `json:"questions"`
	Plan      string              `json:"plan"`
}

func (c *call) in() input {
	var in input
	if c.state() == coming {
		return begun(c.input)
	}
	if len(c.input) <= maxText {
		_ = json.Unmarshal(c.input, &in) // what fits; the whole is shown as JSON
	}
	return in
}

// beginning is how much of an input that comes in is looked at, in bytes.
const beginning = 1 << 10

// begun reads the first fields of an input that comes in.
func begun(raw []byte) input {
	var in input
	dec := json.NewDecoder(bytes.NewReader(raw[:min(len(raw), beginning)]))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return in
	}
	for {
		key, err := dec.Token()
		if err != nil {
			return in
		}
		value, err := dec.Token()
		text, ok := value.(string)
		if err != nil || !ok {
			return in
		}
		switch key {
		case "command":
			in.Command = text
		case "path":
			in.Path = text
		case "description":
			in.Description = text
		case "agent":
			in.Agent = text
		case "url", "pattern", "query", "name":
			in.Query = text
		}
	}
}

// text returns a call without styles: its name, its input, and what came of it.
func (c *call) text() string {
	parts := []string{display.Line(c.name)}
	if c.name == shellName && c.shell != nil {
		parts[0] = "! " + display.Text(c.shell.Command)
		parts = append(parts, display.Text(c.output))
	}
	in := c.in()
	switch {
	case in.Command != "":
		parts[0] += " " + display.Text(in.Command)
	case len(c.input) > 2:
		parts = append(parts, display.Text(string(c.input)))
	}
	switch {
	case c.result != nil:
		if d := c.details(); d.Diff != "" {
			parts = append(parts, display.Text(d.Diff))
		}
		parts = append(parts, display.Text(c.result.PlainText()))
	case c.tail != "":
		parts = append(parts, display.Text(c.tail))
	}
	return strings.TrimRight(strings.Join(parts, "\n"), "\n")
}

func (t *Transcript) cardMark(c *call, th *theme.Theme) string {
	mark := func(s, plain string) string {
		if cell.Width(s) != 1 {
			return plain
		}
		return s
	}
	switch c.state() {
	case succeeded:
		return th.ToolOK.On(mark(th.Box.Check, "+"))
	case failed:
		return th.ToolFailed.On(mark(th.Box.Cross, "x"))
	case denied, cancelled, unanswered:
		return th.Warning.On(mark(th.Box.Cross, "x"))
	case running:
		return th.ToolRunning.On(mark(th.Box.Dot, "*"))
	}
	return th.Dim.On(mark(th.Box.Dot, "*"))
}

// stateWord says in a word the state of a call, where its mark does not say enough.
func (c *call) stateWord(th *theme.Theme) string {
	d := c.details()
	code := d.ExitCode
	if c.shell != nil {
		code = c.shell.ExitCode
	}
	if c.asking && c.state() <= running {
		return th.Warning.On("waiting for your answer")
	}
	switch c.state() {
	case coming:
		if n := len(c.input); n > 1<<10 {
			return th.Dim.On(fmt.Sprintf("writing the input, %d KB", n>>10))
		}
		return th.Dim.On("writing the input")
	case waiting:
		return th.Dim.On("waiting")
	case running:
		return th.ToolRunning.On("running")
	case denied:
		if d.Denied != nil {
			return th.Warning.On("denied")
		}
		for _, dec := range c.decisions {
			if dec.Decision == protocol.DecisionDeny {
				return th.Warning.On("denied")
			}
		}
		return th.Warning.On("not run")
	case cancelled:
		return th.Warning.On("cancelled")
	case unanswered:
		return th.Warning.On(display.NoResult)
	case failed:
		switch {
		case d.TimedOut || c.shell != nil && c.shell.TimedOut:
			return th.ToolFailed.On("timed out")
		case c.shell != nil && c.shell.Lost:
			return th.ToolFailed.On("lost: the host stopped while it ran")
		case code != nil && *code != 0:
			return th.ToolFailed.On(fmt.Sprintf("exit %d", *code))
		}
		return th.ToolFailed.On("failed")
	case succeeded:
		if th.Plain {
			return th.Dim.On("done")
		}
	}
	return ""
}

// took returns for how long a call has run, 0 when that is not known.
func (t *Transcript) took(c *call) time.Duration {
	switch {
	case c.shell != nil:
		return time.Duration(c.shell.DurationMS) * time.Millisecond
	case c.result == nil && c.running:
		waited := c.waited
		if c.asking {
			waited += t.cfg.Now().Sub(later(c.since, c.began))
		}
		return t.cfg.Now().Sub(c.began) - waited
	case c.state() == denied:
	case c.result != nil && c.details().DurationMS > 0 && !c.asksPeople():
		return time.Duration(c.details().DurationMS) * time.Millisecond // without the waits
	case c.asksPeople(): // it does nothing but wait for them
	case c.result != nil && c.asked > 0 && c.resultAt >= max(c.asked, c.decided): // without the wait for a person
		return max(0, time.Duration(c.resultAt-max(c.asked, c.decided))*time.Millisecond-c.waited)
	}
	return 0
}

// asksPeople reports whether the call is a question to people, or a plan for them.
func (c *call) asksPeople() bool {
	view := protocol.ViewOf(c.name)
	return view == protocol.ViewQuestions || view == protocol.ViewPlan
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// shortest is the shortest time that a card shows.
const shortest = 500 * time.Millisecond

// drawCard draws a call: a head, and what is worth seeing of it.
func (t *Transcript) drawCard(it *item, th *theme.Theme, room int) []string {
	c := it.call
	in, d := c.in(), c.details()
	if s := c.shell; s != nil {
		d.ChangedProtected, d.SetAside = s.ChangedProtected, s.SetAside
	}
	name, arg := t.headOf(c, in)
	name, arg = cell.Clean(name), cell.Clean(arg)
	right := c.stateWord(th)
	if n := t.took(c); n >= shortest {
		if right != "" {
			right += " "
		}
		right += th.Dim.On(elapsed(n))
	}
	head := th.ToolName.On(name)
	if arg != "" {
		head += " " + th.ToolArg.On(arg)
	}
	if right != "" {
		head = cell.Cut(head, max(1, room-cell.Width(right)-2), "…") + "  " + right
	}
	lines := []string{cell.Cut(head, room, "…")}
	own := t.drawnBy(it, room)
	if len(own.Call) > 0 {
		lines = Foreign(own.Call, room, th)
		if right != "" {
			lines[0] = cell.Cut(lines[0], max(1, room-cell.Width(right)-2), "…") + cell.Reset + "  " + right
		}
	}
	b := &body{t: t, th: th, room: room, open: !t.folded(it)}
	b.decisions(c)
	if c.result != nil && own.Body != nil {
		b.lines = append(b.lines, Foreign(own.Body, room, th)...)
	} else {
		b.preview(c, in, d)
	}
	for _, p := range d.ChangedProtected {
		b.add(th.Warning, "changed a protected file: "+t.path(p))
	}
	for _, a := range d.SetAside {
		if a.To == "" {
			b.add(th.Warning, "led Git elsewhere, and could not be moved: "+t.path(a.Path))
			continue
		}
		b.add(th.Warning, "led Git elsewhere: "+t.path(a.Path)+", now "+t.path(a.To))
	}
	for _, s := range c.snapshots {
		if !s.Restorable {
			b.add(th.Warning, t.path(s.Path)+" was not kept for undo")
		}
	}
	return append(lines, b.lines...)
}

// headOf returns the name of a card and the one line that says most of its input.
func (t *Transcript) headOf(c *call, in input) (name, arg string) {
	name = display.Line(cut(c.name, 100))
	if c.name == shellName {
		if c.shell != nil {
			in.Command = c.shell.Command
		}
		return "!", literal(clean(in.Command))
	}
	view := protocol.ViewOf(c.name)
	arg = t.argOf(view, in)
	switch {
	case view == protocol.ViewPlan:
		return "Plan", ""
	case view == protocol.ViewAgent && in.Agent != "":
		name += " " + display.Line(in.Agent)
	}
	switch {
	case arg != "" && (view != protocol.ViewCommand || c.state() != coming):
	case c.state() == coming:
		arg = display.Line(arg + in.Query)
	case len(c.input) > 0 && len(c.input) <= maxText:
		arg = display.Summary(c.name, c.input)
	}
	return name, arg
}

// argOf returns what a call is about, by what its tool declares; "" where that is not known
// yet, or is said by its whole input.
func (t *Transcript) argOf(view protocol.ToolView, in input) string {
	switch view {
	case protocol.ViewChange, protocol.ViewFile:
		if in.Path != "" {
			return t.path(in.Path)
		}
	case protocol.ViewMatches, protocol.ViewFiles:
		arg := literal(clean(in.Pattern))
		if in.Pattern != "" && in.Path != "" {
			arg += " in " + t.path(in.Path)
		}
		return arg
	case protocol.ViewAgent:
		return display.Line(clean(in.Description))
	case protocol.ViewCommand:
		return literal(clean(in.Command))
	}
	return ""
}

// literal shows on one line what is run, opened or searched for, with all that is in it.
func literal(s string) string { return display.Line(display.Literal(s)) }

// path shows a path: below the project's folder without it.
func (t *Transcript) path(p string) string {
	p = literal(cut(p, 4096))
	if t.cfg.Dir != "" && filepath.IsAbs(p) {
		if rel, err := filepath.Rel(t.cfg.Dir, p); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return rel
		}
	}
	return p
}
