package line

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/ui/tui/keymap"
)

// maxSequence bounds an escape sequence, in bytes: no key sends a longer one.
const maxSequence = 32

// The marks around pasted text.
const (
	pasteBegins = "200~"
	pasteEnds   = "201~"
)

// controls are the names of keys that send one control character, where that is no letter
// with Ctrl.
var controls = [...]struct {
	code byte
	name string
}{{'\r', "enter"}, {'\t', "tab"}, {0x7f, "backspace"}, {0x1c, `ctrl+\`}, {0x1d, "ctrl+]"}, {0x1e, "ctrl+^"}, {0x1f, "ctrl+_"}}

// sequences are the names of keys that send a sequence of ECMA-48 (CSI or SS3), without
// what it begins with.
var sequences = [...]struct{ ends, name string }{
	{"A", "up"}, {"B", "down"}, {"C", "right"}, {"D", "left"},
	{"H", "home"}, {"1~", "home"}, {"7~", "home"}, {"F", "end"}, {"4~", "end"}, {"8~", "end"},
	{"3~", "delete"}, {"5~", "pgup"}, {"6~", "pgdown"}, {"P", "f1"}, {"11~", "f1"}, {"Z", "shift+tab"},
	{"1;5A", "ctrl+up"}, {"1;5B", "ctrl+down"}, {"1;5C", "ctrl+right"}, {"1;5D", "ctrl+left"}, {"1;5H", "ctrl+home"}, {"1;5F", "ctrl+end"}, {"3;5~", "ctrl+delete"},
	{"1;3A", "alt+up"}, {"1;3B", "alt+down"}, {"1;3C", "alt+right"}, {"1;3D", "alt+left"}, {"3;3~", "alt+delete"},
}

// controlName returns the name of the key of a control character.
func controlName(b byte) string {
	for _, c := range controls {
		if c.code == b {
			return c.name
		}
	}
	if b >= 1 && b <= 26 {
		return "ctrl+" + string('a'+rune(b-1))
	}
	return ""
}

// sequence reads an escape sequence: the name of its key, "" for one that no key sends,
// and how many bytes it has, 0 when more are needed. paste is 1 where it begins pasted
// text and -1 where it ends it.
func sequence(b []byte) (name string, n, paste int) {
	if len(b) < 2 {
		return "", 0, 0
	}
	if b[1] != '[' && b[1] != 'O' {
		return altName(b[1:])
	}
	n = 2
	for n < len(b) && (b[n] < 0x40 || b[n] > 0x7e) {
		if n++; n > maxSequence {
			return "", n, 0
		}
	}
	if n == len(b) {
		return "", 0, 0
	}
	text := string(b[2 : n+1])
	switch text {
	case pasteBegins:
		return "", n + 1, 1
	case pasteEnds:
		return "", n + 1, -1
	}
	for _, s := range sequences {
		if s.ends == text {
			return s.name, n + 1, 0
		}
	}
	return "", n + 1, 0
}

// altName reads a key with Alt, whose bytes follow an escape.
func altName(b []byte) (name string, n, paste int) {
	if b[0] == 0x08 {
		return "alt+backspace", 2, 0
	}
	if b[0] < 0x20 || b[0] == 0x7f {
		if name = controlName(b[0]); name != "" {
			name = "alt+" + name
		}
		return name, 2, 0
	}
	if !utf8.FullRune(b) {
		return "", 0, 0
	}
	r, size := utf8.DecodeRune(b)
	return "alt+" + string(r), 1 + size, 0
}

// act does what a key means, as the key map has it.
func (e *editor) act(name string) (key, string) {
	e.reader.Map = e.keymap()
	action, more := e.reader.Key(name, keymap.Editor, keymap.Global)
	if more || action == "" {
		return keyNone, ""
	}
	if edit := edits()[action]; edit != nil {
		edit(e)
		return keyNone, ""
	}
	switch action {
	case keymap.Submit:
		return keyEnter, e.enter()
	case keymap.Interrupt:
		return keyInterrupt, ""
	case keymap.Quit:
		if len(e.line) == 0 {
			return keyEnd, ""
		}
		e.remove(e.at, e.at+1)
		return keyNone, ""
	case keymap.Complete:
		if e.at == len(e.line) && e.at > 0 && e.line[0] == '/' {
			return keyTab, ""
		}
		e.insert(' ')
		return keyNone, ""
	case keymap.Cancel, keymap.Redraw: // nothing is open, and nothing is drawn again
		return keyNone, ""
	}
	return keyRefused, refusedKey(name, action)
}

// edits are the actions of the key map that change the line or move in it.
func edits() map[keymap.Action]func(e *editor) {
	start, end := func(e *editor) { e.at = 0 }, func(e *editor) { e.at = len(e.line) }
	return map[keymap.Action]func(e *editor){
		keymap.Left:           func(e *editor) { e.at = max(0, e.at-1) },
		keymap.Right:          func(e *editor) { e.at = min(len(e.line), e.at+1) },
		keymap.WordLeft:       func(e *editor) { e.at = e.wordBefore() },
		keymap.WordRight:      func(e *editor) { e.at = e.wordAfter() },
		keymap.LineStart:      start,
		keymap.TextStart:      start,
		keymap.LineEnd:        end,
		keymap.TextEnd:        end,
		keymap.DeleteBack:     func(e *editor) { e.remove(e.at-1, e.at) },
		keymap.DeleteForward:  func(e *editor) { e.remove(e.at, e.at+1) },
		keymap.DeleteWordBack: func(e *editor) { e.remove(e.wordBefore(), e.at) },
		keymap.DeleteWord:     func(e *editor) { e.remove(e.at, e.wordAfter()) },
		keymap.KillLine:       func(e *editor) { e.remove(e.at, len(e.line)) },
		keymap.KillLineBack:   func(e *editor) { e.remove(0, e.at) },
		keymap.ClearInput:     func(e *editor) { e.set("") },
		keymap.NewLine:        func(e *editor) { e.insert('\n') },
		keymap.Up:             (*editor).older,
		keymap.HistoryOlder:   (*editor).older,
		keymap.Down:           (*editor).newer,
		keymap.HistoryNewer:   (*editor).newer,
	}
}

// refusedKey says that line mode has no such action.
func refusedKey(name string, action keymap.Action) string {
	doc := string(action)
	if i := slices.IndexFunc(keymap.Infos(), func(i keymap.Info) bool { return i.Action == action }); i >= 0 {
		doc = keymap.Infos()[i].Doc
	}
	return fmt.Sprintf("line mode does not have %s (%s)", strings.ToUpper(name[:1])+name[1:], doc)
}
