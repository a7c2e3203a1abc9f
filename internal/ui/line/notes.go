package line

import (
	"context"
	"errors"
	"strings"

	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// noteLine reports whether a line is a note and for whom: "# text" is for the project and
// "## text" for all of the user's. A text of several lines is a message that begins
// with a heading; so is what has no blank after the #.
func noteLine(text string) (scope, note string, ok bool) {
	for _, mark := range [...]struct{ begin, scope string }{{"# ", "project"}, {"## ", "user"}} {
		if rest, found := strings.CutPrefix(text, mark.begin); found && !strings.ContainsAny(text, "\r\n") {
			return mark.scope, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// unescaped returns a line as it is sent: a second slash, or a backslash before #, says
// that it is neither a command nor a note.
func unescaped(text string) string {
	if strings.HasPrefix(text, "//") || strings.HasPrefix(text, `\#`) {
		return text[1:]
	}
	return text
}

// note adds a note.
func (v *Session) note(typed, scope, note string) {
	if note == "" {
		v.fail(errors.New(`add the text to remember: "# TEXT" for this project, "## TEXT" for all of yours`))
		return
	}
	whose := "this project's"
	if scope == "user" {
		whose = "your"
	}
	v.enqueueText(typed, func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Done](ctx, v.cfg.Client, v.id, &protocol.AddMemory{Scope: scope, Text: note})
		return func() {
			if v.confirm(err, typed); err == nil {
				v.notify("added to " + whose + " notes; /memory shows them")
			}
		}
	})
}

// memory shows the files with notes and how much of them is told, or adds a note to
// those of the project.
func (v *Session) memory(note string) {
	if note != "" {
		v.note("/memory "+note, "project", note)
		return
	}
	v.enqueue(func(ctx context.Context) func() {
		m, err := client.Call[*protocol.MemoryView](ctx, v.cfg.Client, v.id, &protocol.GetMemory{})
		return func() {
			if err != nil {
				v.fail(err)
				return
			}
			v.screen.endStream()
			for _, cells := range plain.Memory(m) {
				v.screen.line(plainStyle, "  "+display.Line(strings.Join(cells, "  ")))
			}
			if m.Problem != "" {
				v.fail(errors.New(m.Problem))
			}
		}
	})
}
