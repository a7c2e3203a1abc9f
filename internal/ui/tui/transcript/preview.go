package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/diff"
	"scorel/internal/ui/tui/highlight"
	"scorel/internal/ui/tui/markdown"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// How many lines of what a call is about are seen: folded, of one that failed, of a
// diff, of steps, and unfolded.
const (
	fewLines    = 5
	failedLines = 15
	diffLines   = 20
	stepLines   = 5
	todoLines   = 30
	openLines   = 2000
)

// body is what stands below the head of a card.
type body struct {
	t     *Transcript
	th    *theme.Theme
	room  int
	open  bool
	lines []string
}

// add adds a line of safe text.
func (b *body) add(style theme.Style, text string) {
	b.lines = append(b.lines, cell.Cut(style.On(cell.Clean(text)), b.room, "…"))
}

// most gives how many lines are seen, n of them when the card is folded.
func (b *body) most(n int) int {
	if b.open {
		return openLines
	}
	return n
}

func (b *body) more(n int, what string) {
	if n > 0 {
		b.add(b.th.Dim, "… "+plural(n, what)+" more")
	}
}

// output adds the lines of outside text: the first ones, or the last ones. Of those that
// are left out it says how many there are.
func (b *body) output(style theme.Style, text string, n int, last bool) {
	left := 0
	if len(text) > maxText {
		rest := text[maxText:]
		if last {
			text, rest = text[len(text)-maxText:], text[:len(text)-maxText]
		} else {
			text = text[:maxText]
		}
		left = strings.Count(rest, "\n") + 1
	}
	text = strings.Trim(cell.Clean(strings.ToValidUTF8(text, "\uFFFD")), "\n")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	n = b.most(n)
	cutLines := len(lines) - n
	if cutLines == 1 { // the line that says so would take its place
		cutLines, n = 0, n+1
	}
	if cutLines > 0 {
		left += cutLines
		if last {
			lines = lines[cutLines:]
		} else {
			lines = lines[:n]
		}
	}
	if last && left > 0 {
		b.add(b.th.Dim, "… "+plural(left, "line")+" before")
	}
	for _, l := range lines {
		if b.open {
			b.lines = append(b.lines, styled(cell.Wrap(l, b.room), style)...)
		} else {
			b.add(style, cutCells(l, b.room))
		}
	}
	if !last && left > 0 {
		b.add(b.th.Dim, "… "+plural(left, "line")+" more")
	}
}

// cutCells cuts a line by its bytes before it is measured: a cell is at most some bytes.
func cutCells(l string, room int) string {
	if most := (room + 1) * 48; len(l) > most {
		return cut(l, most) + "…"
	}
	return l
}

// decisions says who allowed or denied the call, where that was not a rule.
func (b *body) decisions(c *call) {
	for _, d := range c.decisions {
		if d.Decision != protocol.DecisionDeny && !b.open {
			continue
		}
		i := display.Of(protocol.Event{Body: d})
		style, line := b.th.Dim, i.Title
		if d.Decision == protocol.DecisionDeny {
			if d.Scope == "once" && c.result != nil && strings.Contains(c.result.PlainText(), d.Reason) {
				continue // what the model was told says it
			}
			style = b.th.Warning
		}
		if i.Text != "" {
			line += ": " + display.Line(i.Text)
		}
		b.add(style, line)
	}
}

// preview adds what is worth seeing of a call, by its tool.
func (b *body) preview(c *call, in input, d protocol.ToolDetails) {
	switch st := c.state(); {
	case c.shell != nil:
		b.shell(c)
		return
	case st == coming || st == waiting:
		if b.open {
			b.input(c)
		}
		return
	case st == running:
		b.steps(liveSteps(c.process))
		b.output(b.th.ToolOutput, c.tail, fewLines, true)
		return
	case st == denied || st == cancelled && c.result.IsError:
		b.input(c)
		b.output(b.th.Warning, c.result.PlainText(), fewLines, false)
		return
	}
	r, view := c.result, protocol.ViewOf(c.name)
	if view == protocol.ViewPlan {
		lines := markdown.Lines(b.th, b.room, clean(cut(in.Plan, maxText)))
		n := min(len(lines), b.most(diffLines))
		b.lines = append(b.lines, lines[:n]...)
		b.more(len(lines)-n, "line")
	}
	if view != protocol.ViewAgent || b.open { // what a sub-agent has done says its report
		b.steps(display.Of(protocol.Event{Body: &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, Process: r.Process}}}).Steps)
	}
	if r.IsError && view != protocol.ViewCommand {
		if b.open {
			b.input(c)
		}
		b.output(b.th.Error, r.PlainText(), failedLines, false)
		return
	}
	text := r.TextForPeople()
	switch view {
	case protocol.ViewChange:
		b.change(in, d, text)
	case protocol.ViewCommand:
		if b.open && strings.Contains(in.Command, "\n") {
			b.code(in.Command, "bash", openLines)
		}
		n := fewLines
		if r.IsError || d.ExitCode != nil && *d.ExitCode != 0 {
			n = failedLines
		}
		b.output(b.th.ToolOutput, text, n, true)
	case protocol.ViewMatches, protocol.ViewFiles:
		b.matches(text, r.PlainText(), view == protocol.ViewFiles || in.Mode == "" || in.Mode == "files")
	case protocol.ViewFile:
		b.read(in, d, text)
	case protocol.ViewTodos:
		todos := d.Todos
		if todos == nil {
			todos = in.Todos
		}
		b.todos(todos)
	case protocol.ViewResults:
		b.found(r, text)
	case protocol.ViewPage:
		if b.open {
			b.output(b.th.ToolOutput, r.PlainText(), openLines, false)
		} else {
			b.add(b.th.ToolOutput, cutCells(titleOf(text), b.room))
		}
	case protocol.ViewAgent:
		if d.Agent != nil && d.Agent.Steps > 0 {
			b.add(b.th.Dim, plural(d.Agent.Steps, "step"))
		}
		if b.open {
			b.output(b.th.Dim, in.Prompt, openLines, false)
			b.lines = append(b.lines, markdown.Lines(b.th, b.room, clean(text))...)
		} else {
			lines := markdown.Lines(b.th, b.room, clean(text))
			n := min(len(lines), fewLines)
			b.lines = append(b.lines, lines[:n]...)
			b.more(len(lines)-n, "line")
		}
	case protocol.ViewQuestions:
		b.asked(d, text)
	case protocol.ViewPlan:
		b.add(b.th.Dim, cutCells(titleOf(text), b.room))
	case protocol.ViewSkill:
		if b.open {
			b.output(b.th.ToolOutput, text, openLines, false)
		}
	default:
		if b.open {
			b.input(c)
		}
		b.output(b.th.ToolOutput, text, fewLines, false)
	}
	for _, blk := range r.Content {
		if blk.Type != protocol.BlockText {
			b.lines = append(b.lines, b.t.payload(blk, b.th, b.room)...)
		}
	}
}

func (b *body) shell(c *call) {
	if !c.shell.InContext {
		b.add(b.th.Dim, "the model is not told of it")
	}
	if c.shell.Failed != "" {
		b.output(b.th.Error, c.shell.Failed, failedLines, false)
	}
	b.output(b.th.ToolOutput, c.shell.OutputForPeople(c.output), failedLines, true)
}

// input adds the input of a call: a command, else its JSON.
func (b *body) input(c *call) {
	if in := c.in(); in.Command != "" {
		if b.open || strings.Contains(in.Command, "\n") {
			b.code(in.Command, "bash", failedLines)
		}
		return
	}
	if !b.open || len(c.input) <= 2 {
		return
	}
	var pretty bytes.Buffer
	text := string(c.input)
	if len(c.input) <= maxText && json.Indent(&pretty, c.input, "", "  ") == nil {
		text = pretty.String()
	}
	b.code(text, "json", openLines)
}

// code adds source code, at most so many lines of it.
func (b *body) code(text, lang string, n int) {
	text = strings.Trim(clean(text), "\n")
	if text == "" {
		return
	}
	l, st := highlight.Find(lang), highlight.State(0)
	lines := strings.Split(text, "\n")
	n = b.most(n)
	for i, line := range lines {
		if i == n && len(lines) > n+1 {
			b.more(len(lines)-n, "line")
			return
		}
		line, st = l.Line(b.th, b.th.CodeBlock, cutCells(line, 4*b.room), st)
		if b.open {
			b.lines = append(b.lines, cell.Wrap(line, b.room)...)
		} else {
			b.lines = append(b.lines, cell.Cut(line, b.room, "…"))
		}
	}
}

// change adds what a call has changed.
func (b *body) change(in input, d protocol.ToolDetails, text string) {
	if d.Diff == "" {
		b.output(b.th.ToolOutput, text, 1, false)
		return
	}
	plus, minus := diff.Stat(d.Diff)
	b.lines = append(b.lines, cell.Cut(b.th.Added.On(fmt.Sprintf("+%d", plus))+" "+b.th.Removed.On(fmt.Sprintf("-%d", minus)), b.room, ""))
	b.lines = append(b.lines, diff.Lines(b.th, d.Diff, diff.Options{Width: b.room, Lines: b.most(diffLines), Path: in.Path})...)
}

// matches adds what a search has found: how much, and the first of it; all of the text
// where that is nothing.
func (b *body) matches(text, all string, files bool) {
	var found []string
	for line := range strings.Lines(text[:min(len(text), maxText)]) {
		line = strings.TrimRight(line, "\n")
		if line != "" {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		b.output(b.th.Dim, all, 1, false)
		return
	}
	what := "line"
	if files {
		what = "file"
	}
	b.add(b.th.Dim, plural(len(found), what))
	b.output(b.th.ToolOutput, strings.Join(found, "\n"), fewLines, false)
}

// read adds which lines of a file were read.
func (b *body) read(in input, d protocol.ToolDetails, text string) {
	if len(d.Files) > 0 {
		f := d.Files[0]
		switch {
		case f.From > 0 && f.Of > 0 && !f.Whole:
			b.add(b.th.Dim, fmt.Sprintf("lines %d to %d of %d", f.From, f.To, f.Of))
		case f.Of > 0:
			b.add(b.th.Dim, plural(f.Of, "line"))
		default:
			b.add(b.th.Dim, plural(countLines(text), "line"))
		}
	} else if text != "" {
		b.add(b.th.Dim, plural(countLines(text), "line"))
	}
	if b.open {
		b.output(b.th.ToolOutput, text, openLines, false)
	}
}

// todos adds a todo list with its boxes.
func (b *body) todos(todos []protocol.Todo) {
	for i, todo := range todos {
		if i == todoLines && !b.open {
			b.more(len(todos)-i, "step")
			return
		}
		box, style := "☐ ", b.th.Text
		switch todo.Status {
		case "completed":
			box, style = "☑ ", b.th.Dim.With(b.th.Struck)
		case "in_progress":
			box, style = "▸ ", b.th.Strong
		}
		if b.th.Plain {
			switch todo.Status {
			case "completed":
				box = "[x] "
			case "in_progress":
				box = "[>] "
			default:
				box = "[ ] "
			}
		}
		width := max(1, b.room-cell.Width(box))
		for k, l := range wrap(display.Line(cut(todo.Content, maxText)), width) {
			if k > 0 {
				box = strings.Repeat(" ", cell.Width(box))
			}
			b.lines = append(b.lines, b.th.ListMark.On(box)+style.On(l))
		}
	}
}

// found adds the results of a search of the web: titles with their addresses.
func (b *body) found(r *protocol.Message, text string) {
	if b.open {
		b.output(b.th.ToolOutput, r.PlainText(), openLines, false)
		return
	}
	links := r.Links()
	if len(links) == 0 {
		b.output(b.th.ToolOutput, text, fewLines, false)
		return
	}
	for _, l := range links[:min(len(links), fewLines)] {
		b.lines = append(b.lines, cell.Cut(b.th.ToolOutput.On(cell.Clean(display.Line(l.Title)))+"  "+b.th.Dim.On(cell.Clean(display.Line(l.URL))), b.room, "…"))
	}
	b.more(len(links)-fewLines, "result")
}

// asked adds questions and what was answered.
func (b *body) asked(d protocol.ToolDetails, text string) {
	if len(d.Asked) == 0 {
		b.output(b.th.ToolOutput, text, fewLines, false)
	}
	for _, q := range d.Asked {
		b.lines = append(b.lines, styled(wrap(display.Line(cut(q.Question, maxText)), b.room), b.th.Strong)...)
		answer := strings.Join(append(append([]string(nil), q.Picked...), q.Words...), ", ")
		if answer == "" {
			b.add(b.th.Dim, "no answer")
			continue
		}
		arrow := b.th.Box.Arrow
		if arrow == "" {
			arrow = ">"
		}
		for i, l := range wrap(display.Line(cut(answer, maxText)), max(1, b.room-2)) {
			if i > 0 {
				arrow = " "
			}
			b.lines = append(b.lines, b.th.Accent.On(arrow)+" "+l)
		}
	}
}

// titleOf gives the first line of a page that says something.
func titleOf(text string) string {
	for line := range strings.Lines(cut(text, maxText)) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return display.Line(line)
		}
	}
	return ""
}

func liveSteps(process []protocol.ToolProcess) []display.Step {
	var steps []display.Step
	for i := range process {
		steps = append(steps, display.StepOf(&process[i].Event))
	}
	return steps
}

// steps adds the timeline of a call: its newest steps, with a bar where one says how
// far it is.
func (b *body) steps(steps []display.Step) {
	if n := len(steps) - b.most(stepLines); n > 0 {
		b.add(b.th.Dim, "… "+plural(n, "step")+" before")
		steps = steps[n:]
	}
	for _, s := range steps {
		mark, style := b.stepMark(s)
		line := mark + " "
		if s.Percent != nil && s.Status == display.Running && !b.th.Plain {
			line += b.bar(*s.Percent) + " "
		}
		line += style.On(cell.Clean(cutCells(s.Line(), b.room)))
		b.lines = append(b.lines, cell.Cut(line, b.room, "…"))
		if b.open && s.Detail != "" {
			for _, l := range wrap(s.Detail, max(1, b.room-2)) {
				b.lines = append(b.lines, "  "+b.th.Dim.On(l))
			}
		}
	}
}

func (b *body) stepMark(s display.Step) (string, theme.Style) {
	style := b.th.ToolOutput
	if s.Warning {
		style = b.th.Warning
	}
	mark := func(m, plain string, st theme.Style) string {
		if m == "" {
			m = plain
		}
		return st.On(m)
	}
	switch s.Status {
	case display.OK:
		return mark(b.th.Box.Check, "+", b.th.ToolOK), style
	case display.Failed:
		return mark(b.th.Box.Cross, "x", b.th.ToolFailed), b.th.ToolFailed
	case display.Cancelled:
		return mark(b.th.Box.Cross, "x", b.th.Warning), style
	}
	return mark(b.th.Box.Dot, "*", b.th.ToolRunning), style
}

// barCells is how long the bar of a step is.
const barCells = 12

func (b *body) bar(percent float64) string {
	full, empty := b.th.Box.BarFull, b.th.Box.BarEmpty
	if full == "" {
		full, empty = "#", "."
	}
	n := min(barCells, int(percent/100*barCells+0.5))
	return b.th.Accent.On(strings.Repeat(full, n)) + b.th.Dim.On(strings.Repeat(empty, barCells-n))
}
