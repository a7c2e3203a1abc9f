package editor

import (
	"bytes"
	"strings"
)

// Mode says what becomes of what is typed.
type Mode int

// The modes.
const (
	Message    Mode = iota // sent to the model
	Shell                  // ! a command for the shell, which the model sees
	ShellApart             // !! one that the model does not see
	Command                // / a command of Scorel
	NoteHere               // # a note to the memory of the project
	NoteUser               // ## a note to one's own
)

// Mode returns what the text is for, and the text without the mark of that. A note is
// one line with a blank after its mark, and a command has a letter after the slash;
// what is neither is a message.
func (e *Editor) Mode() (Mode, string) {
	m, n := e.mode()
	if m == Message {
		return m, e.Text()
	}
	return m, strings.TrimSpace(e.plain(e.text[n:], true))
}

// mode returns the length of the mark.
func (e *Editor) mode() (Mode, int) {
	t := e.text
	switch {
	case bytes.HasPrefix(t, []byte("!!")):
		return ShellApart, 2
	case bytes.HasPrefix(t, []byte("!")):
		return Shell, 1
	case len(t) > 0 && t[0] == '/' && (len(t) == 1 || letter(t[1])):
		name := t[1:]
		if i := bytes.IndexAny(name, " \n\t"); i >= 0 {
			name = name[:i]
		}
		if bytes.IndexByte(name, '/') < 0 { // else it is a path
			return Command, 1
		}
	case note(t, "##"):
		return NoteUser, 2
	case note(t, "#"):
		return NoteHere, 1
	}
	return Message, 0
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 && c != chipLead
}

func note(t []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(t, []byte(mark))
	return ok && (len(rest) == 0 || rest[0] == ' ') && bytes.IndexByte(rest, '\n') < 0
}
