package tree

import (
	"cmp"
	"slices"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/framed"
)

// Bounds. A session with more events than MaxNodes is shown up to there, and says so.
const (
	MaxNodes = 500_000
	maxCalls = 8       // of one message that are named
	maxText  = 160     // bytes of the line of an event
	maxLook  = 1 << 10 // bytes of a text in which that line is looked for
	maxInput = 512     // bytes of the input of a call that is kept to be summed up
)

// kind is what an event is for somebody who navigates.
type kind uint8

const (
	user  kind = iota
	said       // by the assistant
	calls      // of the assistant, who says nothing besides
	result
	compaction
	summary
	custom
	shell
	note
	shown // as package display has it
	other
)

// node is a conversation event.
type node struct {
	id     protocol.EventID
	parent int32 // -1 for the first of a path
	kind   kind
	calls  bool // it has calls, whose results must follow
	ts     int64
	text   string
	inputs []input // of calls, until somebody sees the line: see Tree.line
}

// input is a call that is summed up when it is seen: to decode all of them would take
// longer than all else.
type input struct {
	name string
	json []byte // nil when it is long
}

// nodeOf sums up an event.
func nodeOf(e *protocol.Event) node {
	n := node{id: e.ID, kind: other, ts: e.TS}
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		m := &b.Message
		switch m.Role {
		case protocol.RoleUser:
			n.kind, n.text = user, firstLine(framed.Unframed(contentText(m.Content)))
			if n.text == "" {
				n.text = contentLine(m.Content)
			}
		case protocol.RoleToolResult:
			n.kind, n.text = result, firstLine(m.ToolName)+": "+contentLine(m.Content)
			if m.IsError {
				n.text = firstLine(m.ToolName) + " failed: " + contentLine(m.Content)
			}
		case protocol.RoleAssistant:
			n.kind, n.text = said, contentLine(m.Content)
			for i := range m.Content {
				if m.Content[i].Type == protocol.BlockToolUse {
					n.calls = true
				}
			}
			if n.text == "" && n.calls {
				n.kind, n.inputs = calls, inputs(m.Content)
			} else if n.text == "" {
				n.text = firstLine(cmp.Or(m.ErrorMessage, string(m.StopReason)))
			}
		default:
			n.kind, n.text = note, contentLine(m.Content)
		}
	case *protocol.Compact:
		n.kind, n.text = compaction, firstLine(b.Summary)
	case *protocol.BranchSummary:
		n.kind, n.text = summary, firstLine(b.Summary)
	case *protocol.CustomMessage:
		n.kind, n.text = custom, firstLine(b.Kind)+": "+contentLine(b.Message.Content)
		if b.Kind == protocol.ShellKind {
			if r, _, ok := protocol.ShellOf(b); ok {
				n.kind, n.text = shell, firstLine(r.Command)
			}
		}
	case *protocol.HarnessItem:
		n.kind, n.text = note, firstLine(b.Item.Content)
	default:
		if it := display.Of(*e); it.Kind != display.Hidden {
			n.kind, n.text = shown, firstLine(cmp.Or(it.Title, it.Text))
		} else {
			n.text = firstLine(string(e.Type))
		}
	}
	return n
}

// contentText returns the first text of a content, "" where something else comes first.
func contentText(blocks []protocol.Block) string {
	if len(blocks) > 0 && blocks[0].Type == protocol.BlockText {
		return blocks[0].Text
	}
	return ""
}

// contentLine returns the first line of a content.
func contentLine(blocks []protocol.Block) string {
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case protocol.BlockText:
			if l := firstLine(b.Text); l != "" {
				return l
			}
		case protocol.BlockImage:
			return "[image]"
		case protocol.BlockFile:
			return "[" + firstLine(b.Name) + "]"
		}
	}
	return ""
}

// inputs keeps what calls are summed up from.
func inputs(blocks []protocol.Block) []input {
	list := make([]input, 0, 1)
	for i := range blocks {
		if blocks[i].Type != protocol.BlockToolUse || len(list) == maxCalls {
			continue
		}
		b := blocks[i].WithTarget()
		in := input{name: firstLine(b.Name)}
		if len(b.Input) <= maxInput {
			in.json = slices.Clone(b.Input)
		}
		list = append(list, in)
	}
	return list
}

// line returns the line of an event.
func (n *node) line() string {
	if n.inputs == nil {
		return n.text
	}
	parts := make([]string, len(n.inputs))
	for i, in := range n.inputs {
		parts[i] = strings.TrimSpace(in.name + " " + display.Summary(in.name, in.json))
	}
	n.text, n.inputs = firstLine(strings.Join(parts, ", ")), nil
	return n.text
}

// firstLine returns the first line of a text that is not blank.
func firstLine(s string) string {
	if len(s) > maxLook {
		s = s[:maxLook]
	}
	s = strings.TrimLeft(s, " \t\r\n")
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if len(s) <= maxText {
		return display.Line(strings.Clone(s)) // not the whole message
	}
	return display.Line(strings.ToValidUTF8(s[:maxText], "")) + "…"
}
