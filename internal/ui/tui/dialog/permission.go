package dialog

import (
	"bytes"
	"encoding/json"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/questions"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/jsonscan"
)

// Permission asks whether a call may run.
type Permission struct {
	frame
	choices
	req     protocol.PermissionRequest
	offered []questions.Choice
	draw    Lines
	why     field.Field
	typing  bool // the reason of a refusal
}

// NewPermission makes the dialog of a permission question. Draw shows what the call
// would do, such as a diff; nil shows its command or its whole input.
func NewPermission(req protocol.PermissionRequest, draw Lines) *Permission {
	p := &Permission{frame: frame{id: string(req.PermissionID)}, req: req, draw: draw}
	if draw == nil {
		p.draw = p.input
	}
	p.offered = questions.Choices(&req)
	for _, o := range p.offered {
		c := choice{label: o.Label}
		if o.Rule != "" {
			c.detail = "rule: " + o.Rule
		}
		p.all = append(p.all, c)
	}
	p.all = append(p.all, choice{label: "No"}, choice{label: "No, with a reason"})
	p.why.Placeholder = "what to do instead"
	return p
}

// From has a small window begin with that line of what is asked about, counted from 0.
func (p *Permission) From(line int) *Permission {
	p.first = line
	return p
}

// Places are those of the editor while a reason is typed.
func (p *Permission) Places() []keymap.Place { return places(p.typing) }

// Do does an action.
func (p *Permission) Do(a keymap.Action) Outcome {
	if p.typing {
		switch a {
		case keymap.DialogPick, keymap.Submit, keymap.ListPick:
			return p.deny(strings.TrimSpace(p.why.Text()))
		case keymap.DialogClose, keymap.Cancel, keymap.ListClose, keymap.DialogBack, keymap.Up:
			p.typing = false
		default:
			if !p.frame.do(a) {
				p.why.Do(a)
			}
		}
		return Outcome{}
	}
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		return p.deny("")
	case keymap.DialogReason:
		p.reason()
		return Outcome{}
	}
	if p.frame.do(a) {
		return Outcome{}
	}
	if i, ok := p.choices.do(a); ok {
		return p.pick(i)
	}
	return Outcome{}
}

// Insert takes what was typed: the number of an answer, y for the first one that allows
// once, n for no.
func (p *Permission) Insert(text string) Outcome {
	if p.typing {
		p.why.Insert(text)
		return Outcome{}
	}
	if i, ok := p.number(text); ok {
		return p.pick(i)
	}
	switch strings.ToLower(text) {
	case "y":
		for i, c := range p.offered {
			if c.Once {
				return p.pick(i)
			}
		}
	case "n":
		return p.deny("")
	}
	return Outcome{Draft: true}
}

// Paste goes into a reason; it answers nothing.
func (p *Permission) Paste(text string) {
	if p.typing {
		p.why.Insert(text)
	}
}

func (p *Permission) reason() { p.typing, p.on = true, len(p.all)-1 }

// pick answers with one of the choices.
func (p *Permission) pick(i int) Outcome {
	switch n := len(p.offered); {
	case i < n:
		return Outcome{Done: true, Request: p.offered[i].Request}
	case i == n:
		return p.deny("")
	}
	p.reason()
	return Outcome{}
}

func (p *Permission) deny(reason string) Outcome {
	return Outcome{Done: true, Request: questions.Deny(&p.req, reason)}
}

// Render draws the dialog.
func (p *Permission) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	var below []string
	if p.req.Subagent != nil {
		below = append(below, subagent(th, width, p.req.Subagent))
	}
	body := p.lines(th, width, p.draw)
	answers, at := p.answers(th, width, height)
	var why []string
	if p.req.Reason != "" {
		why = reason(p.req.Reason, th, width)
	}
	p.brief = p.left
	if room := max(1, height-outside-len(below)-len(answers)); len(why) > room && !p.typing {
		why = append(why[:room-1:room-1], cell.Cut(why[room-1], max(0, width-cell.Width(th.Box.Ellipsis)), "")+th.Box.Ellipsis)
		p.brief = true
	}
	if p.open && p.brief {
		body = append(body[:len(body):len(body)], p.whole(th, width)...)
	}
	below = append(below, why...)
	var cursor *field.Cursor
	on := len(below) + at
	doing := []row.Doing{{Action: keymap.DialogPick, Text: "answer"}, {Action: keymap.DialogReason, Text: "deny with a reason"}, {Action: keymap.DialogClose, Text: "no"}}
	if p.typing {
		label := "No, because: "
		text, x := p.why.Render(th, max(1, width-cell.Width(label)))
		cursor = &field.Cursor{X: x + cell.Width(label), Y: len(below)}
		doing = []row.Doing{{Action: keymap.DialogPick, Text: "send"}, {Action: keymap.DialogClose, Text: "back"}}
		below = append(below, cell.Cut(th.Accent.On(label), width, "")+text)
	} else {
		below = append(below, answers...)
	}
	return p.compose(th, width, height, questions.Title(&p.req), body, below, on, cursor, doing...)
}

// outside is how many lines of a permission question are at least neither its reason nor its
// answers: the title, two of what is asked about, and the keys.
const outside = 1 + minBody + 1

// answers draws the answers, each with so few lines that all are seen.
func (p *Permission) answers(th *theme.Theme, width, height int) (lines []string, at int) {
	for p.most = 2; ; p.most-- {
		if lines, at = p.choices.render(th, width, p.armed); p.most == 1 || len(lines) < height-outside {
			return lines, at
		}
	}
}

// whole returns the reason and what is offered without anything left out, to be read below what
// is asked about.
func (p *Permission) whole(th *theme.Theme, width int) []string {
	lines := []string{""}
	if p.req.Reason != "" {
		lines = append(lines, reason(p.req.Reason, th, width)...)
	}
	all := p.choices
	all.all, all.most = all.all[:len(p.offered)], 0
	offers, _ := all.render(th, width, false)
	return append(lines, offers...)
}

// input shows the command of a call exactly, else every field of its input.
func (p *Permission) input(th *theme.Theme, width int) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(p.req.Args, &fields) != nil {
		return exact(string(p.req.Args), width, th.Code)
	}
	var lines []string
	if raw, ok := fields["command"]; ok {
		var command string
		if json.Unmarshal(raw, &command) == nil {
			lines = append(lines, exact(display.Literal(command), width, th.Code)...)
			delete(fields, "command")
		}
	}
	for _, name := range keysOf(p.req.Args) {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		} else {
			var b bytes.Buffer
			if json.Indent(&b, raw, "", "  ") == nil {
				text = b.String()
			}
		}
		name, text = display.Line(display.Exact(name))+": ", display.Input(p.req.ToolName, name, text)
		if !strings.Contains(text, "\n") && cell.Width(name)+len(text) <= width {
			lines = append(lines, th.Dim.On(name)+th.Text.On(cell.Clean(text)))
			continue
		}
		lines = append(lines, cell.Cut(th.Dim.On(name), width, ""))
		for _, l := range exact(text, max(1, width-2), th.Text) {
			lines = append(lines, "  "+l)
		}
	}
	return lines
}

// keysOf returns the names of the members of a JSON object in their order.
func keysOf(object json.RawMessage) (names []string) {
	for m := jsonscan.NewMembers(object); m.Next(); {
		if name, err := m.Name(); err == nil {
			names = append(names, string(name))
		}
	}
	return names
}
