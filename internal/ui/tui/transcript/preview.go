package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/highlight"
	"scorel/internal/text/markdown/terminal"
	counts "scorel/internal/ui/plain"
	"scorel/internal/ui/tui/diff"
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
	userLines   = 40 // of a text of a person
	openLines   = 2000
)

// body is what is below the head of a card.
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

// most returns how many lines are seen, n of them when the card is folded.
func (b *body) most(n int) int {
	if b.open {
		return openLines
	}
	return n
}

func (b *body) more(n int, what string) {
	if n > 0 {
		b.add(b.th.Dim, counts.More(n, what))
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
		b.add(b.th.Dim, "… "+counts.Count(left, "earlier line"))
	}
	for _, l := range lines {
		if b.open {
			b.lines = append(b.lines, styled(cell.Wrap(l, b.room), style)...)
		} else {
			b.add(style, cutCells(l, b.room))
		}
	}
	if !last && left > 0 {
		b.add(b.th.Dim, counts.More(left, "line"))
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
			if c.result != nil && (d.Scope == "once" || d.Reason != "") && strings.Contains(c.result.PlainText(), d.Reason) {
				if d.By == "" || strings.Contains(d.Reason, d.By) {
					continue // what the model was told says it
				}
				i.Text = ""
			}
			style = b.th.Warning
		}
		if i.Text != "" {
			line += ": " + display.Line(i.Text)
		}
		b.add(style, line)
	}
}

// deniedHere says that a person has denied the call, with their reason; "" when none has.
func (c *call) deniedHere() string {
	if d := c.details().Denied; d != nil && d.Rule == "" {
		return youDenied(d.Reason)
	}
	for _, d := range c.decisions {
		if d.Decision != protocol.DecisionDeny || d.Scope != "once" {
			continue
		}
		return youDenied(d.Reason)
	}
	return ""
}

func youDenied(reason string) string {
	if reason == "" {
		return "You denied this."
	}
	return "You denied this: " + reason
}

// preview adds what is worth seeing of a call, by its tool.
func (b *body) preview(c *call, in input, d protocol.ToolDetails) {
	if b.unfinished(c) {
		return
	}
	r, view := c.result, protocol.ViewOf(c.name)
	if view == protocol.ViewPlan {
		b.markdown(cut(in.Plan, maxText), diffLines)
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
	if draw := viewOf(view); draw != nil {
		draw(b, in, d, r)
	} else {
		if b.open {
			b.input(c)
		}
		b.output(b.th.ToolOutput, r.TextForPeople(), fewLines, false)
	}
	for _, blk := range r.Content {
		if blk.Type != protocol.BlockText {
			b.lines = append(b.lines, b.t.payload(blk, b.th, b.room)...)
		}
	}
}

// unfinished adds what is seen of a call that has no result to be shown by its tool; false
// for one that has.
func (b *body) unfinished(c *call) bool {
	switch st := c.state(); {
	case c.shell != nil:
		b.shell(c)
	case st == coming || st == waiting:
		if b.open {
			b.input(c)
		}
	case st == running:
		if c.color != "" {
			b.named(c.color, c.in().Agent)
		}
		b.steps(liveSteps(c.process))
		b.output(b.th.ToolOutput, c.tail, fewLines, true)
	case st == unanswered:
		b.input(c)
	case st == denied || st == cancelled && c.result.IsError:
		b.input(c)
		if text := c.deniedHere(); text != "" {
			b.output(b.th.Warning, strings.Join(wrap(text, b.room), "\n"), fewLines, false)
		} else {
			b.output(b.th.Warning, strings.Join(wrap(cut(c.result.PlainText(), maxText), b.room), "\n"), fewLines, false)
		}
	default:
		return false
	}
	return true
}

// viewOf returns what draws the result of a call, by what its tool declares; nil for what is
// shown as it is.
func viewOf(view protocol.ToolView) func(b *body, in input, d protocol.ToolDetails, r *protocol.Message) {
	switch view {
	case protocol.ViewChange:
		return (*body).change
	case protocol.ViewCommand:
		return (*body).command
	case protocol.ViewMatches:
		return (*body).matches
	case protocol.ViewFiles:
		return (*body).files
	case protocol.ViewFile:
		return (*body).read
	case protocol.ViewTodos:
		return (*body).listed
	case protocol.ViewResults:
		return (*body).found
	case protocol.ViewPage:
		return (*body).page
	case protocol.ViewAgent:
		return (*body).agent
	case protocol.ViewQuestions:
		return (*body).asked
	case protocol.ViewPlan:
		return (*body).approved
	case protocol.ViewSkill:
		return (*body).skill
	}
	return nil
}

// markdown adds the lines of a text, n of them when the card is folded.
func (b *body) markdown(text string, n int) {
	lines := terminal.Lines(b.th, b.room, clean(text))
	n = min(len(lines), b.most(n))
	b.lines = append(b.lines, lines[:n]...)
	b.more(len(lines)-n, "line")
}

// command adds the end of what a command has printed.
func (b *body) command(in input, d protocol.ToolDetails, r *protocol.Message) {
	if b.open && strings.Contains(in.Command, "\n") {
		b.code(in.Command, "bash", openLines)
	}
	n := fewLines
	if r.IsError || d.ExitCode != nil && *d.ExitCode != 0 {
		n = failedLines
	}
	b.output(b.th.ToolOutput, r.TextForPeople(), n, true)
}

// page adds the title of a page of the web; unfolded its text.
func (b *body) page(_ input, _ protocol.ToolDetails, r *protocol.Message) {
	if b.open {
		b.output(b.th.ToolOutput, r.PlainText(), openLines, false)
		return
	}
	b.add(b.th.ToolOutput, cutCells(titleOf(r.TextForPeople()), b.room))
}

// approved adds what became of a plan, in a line.
func (b *body) approved(_ input, d protocol.ToolDetails, r *protocol.Message) {
	if d.Plan == nil {
		if b.open {
			b.output(b.th.Dim, r.TextForPeople(), openLines, false)
		} else {
			b.add(b.th.Dim, cutCells(titleOf(r.TextForPeople()), b.room))
		}
		return
	}
	switch d.Plan.Decision {
	case protocol.PlanApprove, protocol.PlanAcceptEdits:
		b.add(b.th.Dim, "approved")
	case protocol.PlanRevise:
		b.add(b.th.Dim, "not approved yet")
	default:
		b.add(b.th.Dim, cutCells(titleOf(r.TextForPeople()), b.room))
	}
	if said := strings.TrimSpace(d.Plan.Feedback); said != "" {
		b.output(b.th.Text, said, fewLines, false)
	}
}

// named adds the name of a sub-agent in its color.
func (b *body) named(color, agent string) {
	b.add(b.th.Agent(color), strings.TrimSpace(b.th.Box.Dot+" "+display.Line(cut(agent, 100))))
}

// agent adds the report of a sub-agent.
func (b *body) agent(in input, d protocol.ToolDetails, r *protocol.Message) {
	if d.Agent != nil && d.Agent.Color != "" {
		b.named(d.Agent.Color, d.Agent.Agent)
	}
	if d.Agent != nil && d.Agent.Steps > 0 {
		b.add(b.th.Dim, plural(d.Agent.Steps, "step"))
	}
	if !b.open {
		b.markdown(r.TextForPeople(), fewLines)
		return
	}
	b.output(b.th.Dim, in.Prompt, openLines, false)
	b.lines = append(b.lines, terminal.Lines(b.th, b.room, clean(r.TextForPeople()))...)
}

// skill adds the text of a skill, unfolded.
func (b *body) skill(_ input, _ protocol.ToolDetails, r *protocol.Message) {
	if b.open {
		b.output(b.th.ToolOutput, r.TextForPeople(), openLines, false)
	}
}

func (b *body) shell(c *call) {
	if !c.shell.InContext {
		b.add(b.th.Dim, "not sent to the model")
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
func (b *body) change(in input, d protocol.ToolDetails, r *protocol.Message) {
	if d.Diff == "" {
		b.output(b.th.ToolOutput, r.TextForPeople(), 1, false)
		return
	}
	plus, minus := diff.Stat(d.Diff)
	b.lines = append(b.lines, cell.Cut(b.th.Added.On(fmt.Sprintf("+%d", plus))+" "+b.th.Removed.On(fmt.Sprintf("-%d", minus)), b.room, ""))
	b.lines = append(b.lines, diff.Lines(b.th, d.Diff, diff.Options{Width: b.room, Lines: b.most(diffLines), Path: in.Path})...)
}

// matches adds what a search in files has found, in the unit that was asked for.
func (b *body) matches(in input, _ protocol.ToolDetails, r *protocol.Message) {
	b.search(r, in.Mode == "" || in.Mode == "files")
}

// files adds the files that were found.
func (b *body) files(_ input, _ protocol.ToolDetails, r *protocol.Message) { b.search(r, true) }

// search adds what a search has found: how much, and the first of it; all of the text
// where that is nothing.
func (b *body) search(r *protocol.Message, files bool) {
	text := r.TextForPeople()
	var found []string
	for line := range strings.Lines(text[:min(len(text), maxText)]) {
		line = strings.TrimRight(line, "\n")
		if line != "" {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		b.output(b.th.Dim, r.PlainText(), 1, false)
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
func (b *body) read(_ input, d protocol.ToolDetails, r *protocol.Message) {
	text := r.TextForPeople()
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

// listed adds the todo list of a call, and what the result says where its details have none.
func (b *body) listed(in input, d protocol.ToolDetails, r *protocol.Message) {
	todos := d.Todos
	if todos == nil {
		todos = in.Todos
	}
	b.todos(todos)
	if d.Todos == nil && d.OldTodos == nil {
		b.output(b.th.ToolOutput, r.TextForPeople(), fewLines, false)
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
func (b *body) found(_ input, _ protocol.ToolDetails, r *protocol.Message) {
	if b.open {
		b.output(b.th.ToolOutput, r.PlainText(), openLines, false)
		return
	}
	links := r.Links()
	if len(links) == 0 {
		b.output(b.th.ToolOutput, r.TextForPeople(), fewLines, false)
		return
	}
	for _, l := range links[:min(len(links), fewLines)] {
		b.lines = append(b.lines, cell.Cut(b.th.ToolOutput.On(cell.Clean(display.Line(l.Title)))+"  "+b.th.Dim.On(cell.Clean(display.Line(l.URL))), b.room, "…"))
	}
	b.more(len(links)-fewLines, "result")
}

// asked adds questions and what was answered.
func (b *body) asked(_ input, d protocol.ToolDetails, r *protocol.Message) {
	if len(d.Asked) == 0 {
		b.output(b.th.ToolOutput, r.TextForPeople(), fewLines, false)
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

// titleOf returns the first line of a page that says something.
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
		b.add(b.th.Dim, "… "+counts.Count(n, "earlier step"))
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
