package line

import (
	"cmp"
	"fmt"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
	"strings"
)

// message shows a message that is stored, or what of it is not shown yet.
func (v *view) message(e protocol.Event, m protocol.Message) {
	have, running := v.shown[e.ID]
	delete(v.shown, e.ID)
	it := display.Of(e)
	switch m.Role {
	case protocol.RoleUser:
		v.screen.endStream()
		word := "user: "
		switch {
		case v.screen.live():
			word = "> "
		case it.Kind == display.Note:
			word = "user, into the turn: "
		}
		v.screen.line(boldStyle, word+plain.IndentRest(it.Text))
	case protocol.RoleAssistant:
		v.assistant(it, m, have, running)
	case protocol.RoleToolResult:
		v.result(e, it, m)
	default:
		v.notice(&e)
	}
}

func (v *view) assistant(it display.Item, m protocol.Message, have int, running bool) {
	v.answer(m, have, running)
	for _, p := range it.Parts {
		if p.Kind == display.Notice {
			v.screen.line(alertStyle, "  "+plain.IndentRest(p.Text))
		}
	}
	for _, c := range m.Calls() {
		if len(v.calls) >= maxCards {
			clear(v.calls)
		}
		v.calls[c.ID] = c.WithTarget()
	}
	if !m.IsFailure() {
		v.stats.steps++
	}
}

// answer shows the text of a stored message, or what of it was not streamed yet.
func (v *view) answer(m protocol.Message, have int, running bool) {
	text := ""
	for _, b := range m.Content {
		if b.Type == protocol.BlockText {
			text += b.Text
		}
	}
	if v.screen.live() && running && have > 0 && have <= len(text) {
		v.screen.stream(plainStyle, text[have:])
		if !m.Continued() {
			v.screen.endStream()
		}
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	v.screen.endStream()
	if !v.screen.live() {
		text = "assistant: " + plain.IndentRest(text)
	}
	v.screen.line(plainStyle, text)
}

// card shows that a call runs, once.
func (v *view) card(id, name string, args []byte) bool {
	if v.started[id] {
		return false
	}
	if len(v.started) >= maxCards {
		clear(v.started)
	}
	v.started[id] = true
	v.screen.endStream()
	v.screen.line(plainStyle, strings.TrimRight("• "+display.Line(name)+" "+display.Summary(name, args), " "))
	return true
}

func (v *view) result(e protocol.Event, it display.Item, m protocol.Message) {
	call := v.calls[m.ToolCallID]
	delete(v.calls, m.ToolCallID)
	name := cmp.Or(call.Name, m.ToolName)
	v.card(m.ToolCallID, name, call.Input)
	delete(v.started, m.ToolCallID)
	v.summary(e)
	v.agentName(m)
	st := dimStyle
	if it.Status != display.OK {
		st = alertStyle
		v.screen.line(st, "  "+display.Line(name)+" failed:")
	}
	v.tail(st, it.Text)
}

// tail shows the end of a text.
func (v *view) tail(st style, text string) {
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if n := len(lines) - maxTail; n > 0 {
		lines = append([]string{fmt.Sprintf("… %d earlier lines", n)}, lines[n:]...)
	}
	for i, l := range lines {
		lines[i] = "  " + plain.FirstLine(strings.TrimRight(l, " "), maxTailWidth)
	}
	v.screen.line(st, strings.Join(lines, "\n"))
}
