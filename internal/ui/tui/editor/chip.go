package editor

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"scorel/protocol/display"
)

// Bounds of what an editor holds. What is over them is refused with a sentence.
const (
	MaxText       = 4 << 20  // bytes of the text with its pastes
	MaxAttachment = 32 << 20 // bytes of an image or a file
	MaxAttached   = 64 << 20 // bytes of all of them
	maxChips      = 64       // pastes, images and files
)

// What is pasted becomes a chip when it is longer.
const (
	chipLines = 10
	chipRunes = 1000
)

// maxName bounds what a chip shows of a name, in characters.
const maxName = 40

// Kind says what a part is.
type Kind int

// The kinds of parts.
const (
	Text Kind = iota
	Image
	File
)

// Part is a piece of what was typed. Data is not to be changed.
type Part struct {
	Kind      Kind
	Text      string // of Text
	Name      string // of Image and File, as it was given
	MediaType string
	Data      []byte
}

// chip is what is in the text as one character.
type chip struct {
	label string
	part  Part
}

func (c *chip) pasted() bool { return c.part.Kind == Text }

var (
	errTooMany = errors.New("there are too many pastes and images in the input; send some of them first")
	errTooLong = fmt.Errorf("that would be more than the %d MB that an input may have; save it to a file and name that with @", MaxText>>20)
)

// AddImage puts an image at the cursor. The error is a sentence.
func (e *Editor) AddImage(name, mediaType string, data []byte) error {
	return e.attach(Part{Kind: Image, Name: name, MediaType: mediaType, Data: data}, "image")
}

// AddFile puts a file at the cursor, that is sent with the text. The error is a
// sentence.
func (e *Editor) AddFile(name, mediaType string, data []byte) error {
	return e.attach(Part{Kind: File, Name: name, MediaType: mediaType, Data: data}, "file")
}

func (e *Editor) attach(p Part, what string) error {
	if len(p.Data) > MaxAttachment {
		return fmt.Errorf("the %s has more than %d MB, which is all that can be sent", what, MaxAttachment>>20)
	}
	e.sweep(false)
	attached := len(p.Data)
	for _, c := range e.chips {
		attached += len(c.part.Data)
	}
	if attached > MaxAttached {
		e.sweep(true)
		attached = len(p.Data)
		for _, c := range e.chips {
			attached += len(c.part.Data)
		}
		if attached > MaxAttached {
			return fmt.Errorf("with this %s there are more than %d MB of them; send some first", what, MaxAttached>>20)
		}
	}
	label := what
	if name := shorten(display.Line(p.Name)); name != "" {
		label += ": " + name
	}
	return e.addChip(&chip{label, p})
}

func shorten(name string) string {
	if r := []rune(name); len(r) > maxName {
		return "…" + string(r[len(r)-maxName+1:])
	}
	return name
}

// addChip puts a chip at the cursor, under a label that no other one has.
func (e *Editor) addChip(c *chip) error {
	e.sweep(len(e.chips) >= maxChips)
	if len(e.chips) >= maxChips {
		return errTooMany
	}
	taken := map[string]bool{}
	for _, other := range e.chips {
		taken[other.label] = true
	}
	label := "[" + c.label + "]"
	for i := 2; taken[label]; i++ {
		label = "[" + c.label + " #" + strconv.Itoa(i) + "]"
	}
	c.label = label
	e.lastChip = (e.lastChip + 1) % (1 << 24)
	e.chips[e.lastChip] = c
	if err := e.insert(chipMark(e.lastChip), kindOther); err != nil {
		delete(e.chips, e.lastChip)
		return err
	}
	return nil
}

// sweep forgets chips that nothing names any more: not the text, not what can be
// undone, yanked or recalled. With hard set only the text and the draft count, and
// the rest is forgotten with them.
func (e *Editor) sweep(hard bool) {
	if len(e.chips) == 0 {
		return
	}
	if hard {
		e.undo = undo{}
		e.kills = kills{}
		e.sent = nil
	}
	used := map[int]bool{}
	note := func(raw string) {
		for i := strings.IndexByte(raw, chipLead); i >= 0; {
			if id, ok := chipAt([]byte(raw[i:min(i+chipLen, len(raw))])); ok {
				used[id] = true
			}
			j := strings.IndexByte(raw[i+1:], chipLead)
			if j < 0 {
				break
			}
			i += 1 + j
		}
	}
	note(string(e.text))
	e.undo.each(note)
	e.kills.each(note)
	e.history.each(note)
	for _, s := range e.sent {
		note(s.raw)
	}
	for id := range e.chips {
		if !used[id] {
			delete(e.chips, id)
		}
	}
}

// chip returns the chip that a text begins with; nil when there is none.
func (e *Editor) chip(b []byte) *chip {
	id, ok := chipAt(b)
	if !ok {
		return nil
	}
	return e.chips[id]
}

func (e *Editor) label(b []byte) string {
	if c := e.chip(b); c != nil {
		return c.label
	}
	return "[?]"
}

// pasteLabel describes a paste.
func pasteLabel(text string) string {
	if lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; lines > 1 {
		return fmt.Sprintf("pasted %d lines", lines)
	}
	return fmt.Sprintf("pasted %d characters", utf8.RuneCountInString(text))
}

// Expand puts the text of the paste before the cursor, or after it, in the place of
// its chip. It is false when there is none.
func (e *Editor) Expand() bool {
	e.settle()
	for _, at := range [...]int{e.prev(e.pos), e.pos} {
		if at >= len(e.text) {
			continue
		}
		if c := e.chip(e.text[at:]); c != nil && c.pasted() {
			e.replace(at, at+chipLen, c.part.Text, kindOther)
			e.pos = at + len(c.part.Text)
			return true
		}
	}
	return false
}

// pieces calls text and chip for the pieces of a raw text in order.
func (e *Editor) pieces(raw []byte, text func([]byte), chip func(*chip)) {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, chipLead)
		if i < 0 {
			text(raw)
			return
		}
		if i > 0 {
			text(raw[:i])
		}
		if c := e.chip(raw[i:]); c != nil {
			chip(c)
		}
		raw = raw[min(i+chipLen, len(raw)):]
	}
}

// Text returns what was typed, with pastes in full; images and files are named.
func (e *Editor) Text() string { return e.plain(e.text, true) }

// Marked returns what was typed with every chip as its mark only, as it may be in a
// history.
func (e *Editor) Marked() string { return e.plain(e.text, false) }

func (e *Editor) plain(raw []byte, full bool) string {
	var b strings.Builder
	b.Grow(len(raw))
	e.pieces(raw, func(t []byte) { b.Write(t) }, func(c *chip) {
		if full && c.pasted() {
			b.WriteString(c.part.Text)
		} else {
			b.WriteString(c.label)
		}
	})
	return b.String()
}

// Parts returns what is to be sent as a message: text with pastes in full, and images
// and files in their places. What only says that this is a message is left out: a
// backslash before a ! or a note's #, and the first of two slashes.
func (e *Editor) Parts() []Part {
	var parts []Part
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, Part{Kind: Text, Text: b.String()})
			b.Reset()
		}
	}
	raw := e.text
	if n := len(raw); n > 1 && (raw[0] == '/' && raw[1] == '/' || raw[0] == '\\' && (raw[1] == '!' || note(raw[1:], "#") || note(raw[1:], "##"))) {
		raw = raw[1:]
	}
	e.pieces(raw, func(t []byte) { b.Write(t) }, func(c *chip) {
		if c.pasted() {
			b.WriteString(c.part.Text)
			return
		}
		flush()
		parts = append(parts, c.part)
	})
	flush()
	return parts
}

// sizeOf returns how many bytes a raw text has with its pastes.
func (e *Editor) sizeOf(raw string) int {
	n := len(raw)
	if strings.IndexByte(raw, chipLead) < 0 {
		return n
	}
	e.pieces([]byte(raw), func([]byte) {}, func(c *chip) { n += len(c.part.Text) - chipLen })
	return n
}

// Position returns how many code points of [Editor.Marked] are before the cursor.
func (e *Editor) Position() int { return utf8.RuneCountInString(e.plain(e.text[:e.pos], false)) }
