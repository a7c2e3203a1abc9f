package editor

import (
	"strings"

	"scorel/internal/ui/tui/keymap"
)

// Bounds of the keys of vi.
const (
	maxCount    = 1 << 20
	maxRecorded = 1000 // keys of a change that . repeats; a longer one is not repeated
)

// vim is the state of the keys of vi: the motions h j k l w b e 0 ^ $ gg G f F t T ; ,
// the operators d c y with them, x X s S D C Y dd cc yy, i a I A o O, p P u . and
// counts.
type vim struct {
	on       bool
	command  bool     // normal mode
	keys     []string // of a command that has begun
	find     [2]string
	lines    string // what was last taken as whole lines; it is put back as lines
	last     []input
	record   []input // of the change that is being made; nil for none
	replayed bool    // keys come from last
}

// input is something that was typed: text, or an action.
type input struct {
	text   string
	action keymap.Action
}

func (v *vim) normal() bool { return v.on && v.command }

func (v *vim) reset() { v.command, v.keys, v.record = false, nil, nil }

// SetVim switches the keys of vi on or off.
func (e *Editor) SetVim(on bool) { e.vim = vim{on: on} }

// VimMode says which mode of the keys of vi is on: INSERT or NORMAL, "" without these keys.
func (e *Editor) VimMode() string {
	switch {
	case !e.vim.on:
		return ""
	case e.vim.command:
		return "NORMAL"
	}
	return "INSERT"
}

// note adds to the change that is being made.
func (v *vim) note(in input) {
	if v.record == nil || v.replayed {
		return
	}
	if v.record = append(v.record, in); len(v.record) > maxRecorded {
		v.record, v.last = nil, nil
	}
}

func (v *vim) typed(text string) { v.note(input{text: text}) }

func (v *vim) did(a keymap.Action) {
	if !v.command {
		v.note(input{action: a})
	}
}

// clamp keeps the cursor of the normal mode on a character.
func (e *Editor) clamp() {
	if e.vim.normal() && e.pos == e.lineEnd(e.pos) && e.pos > e.lineStart(e.pos) {
		e.pos = e.prev(e.pos)
	}
}

// doVim does what actions mean in the modes of vi; done says that it was all.
func (e *Editor) doVim(a keymap.Action) (handled, done bool) {
	v := &e.vim
	if !v.command {
		if a != keymap.Cancel {
			return false, false
		}
		v.note(input{action: a})
		if v.record != nil && !v.replayed {
			v.last, v.record = v.record, nil
		}
		v.command = true
		if e.pos > e.lineStart(e.pos) {
			e.pos = e.prev(e.pos)
		}
		e.undo.seal()
		return true, true
	}
	begun := len(v.keys) > 0
	v.keys = nil
	switch a {
	case keymap.Cancel:
		return begun, true
	case keymap.HistorySearch:
		e.stepOn()
		e.clamp()
		return true, true
	case keymap.DeleteBack:
		a = keymap.Left
	}
	handled = e.do(a)
	e.clamp()
	return handled, true
}

// command takes keys of the normal mode.
func (e *Editor) command(text string) {
	for b := []byte(text); len(b) > 0; {
		n := next(b)
		if e.vim.command {
			e.key(string(b[:n]))
		} else { // a command of the same text has begun to insert
			e.vim.typed(string(b[:n]))
			e.try(e.insert(string(b[:n]), kindType))
		}
		b = b[n:]
	}
	e.clamp()
}

// key takes a key of the normal mode, and does the command that it makes whole.
func (e *Editor) key(k string) {
	v := &e.vim
	v.keys = append(v.keys, k)
	c, whole := readCommand(v.keys)
	if !whole {
		return
	}
	keys := v.keys
	v.keys = nil
	changed := e.run(c)
	if v.replayed || !changed {
		return
	}
	record := make([]input, len(keys))
	for i, k := range keys {
		record[i].text = k
	}
	if v.command {
		v.last = record
	} else {
		v.record = record
	}
}

// viCommand is a command of the normal mode.
type viCommand struct {
	op    string // d, c, y, or "" for none
	key   string // a motion, or a command
	arg   string // of f F t T and g
	count int
	given bool // a count was typed
}

// readCommand reads keys; whole is false for those that need more.
func readCommand(keys []string) (c viCommand, whole bool) {
	c.count = 1
	i := 0
	number := func() {
		n := 0
		for i < len(keys) && len(keys[i]) == 1 && keys[i][0] >= '0' && keys[i][0] <= '9' && (n > 0 || keys[i] != "0") {
			n = min(n*10+int(keys[i][0]-'0'), maxCount)
			i++
		}
		if n > 0 {
			c.count, c.given = min(c.count*n, maxCount), true
		}
	}
	number()
	if i == len(keys) {
		return c, false
	}
	if k := keys[i]; k == "d" || k == "c" || k == "y" {
		c.op = k
		i++
		number()
		if i == len(keys) {
			return c, false
		}
	}
	c.key = keys[i]
	switch c.key {
	case "f", "F", "t", "T", "g":
		if i+1 == len(keys) {
			return c, false
		}
		c.arg = keys[i+1]
	}
	if c.op == "" { // short forms
		for _, short := range [...][3]string{{"x", "d", "l"}, {"X", "d", "h"}, {"s", "c", "l"}, {"S", "c", "c"}, {"D", "d", "$"}, {"C", "c", "$"}, {"Y", "y", "y"}} {
			if c.key == short[0] {
				c.op, c.key = short[1], short[2]
			}
		}
	}
	return c, true
}

// run does a command. It reports whether that was a change, which . repeats.
func (e *Editor) run(c viCommand) (changed bool) {
	v := &e.vim
	if c.op != "" {
		return e.operate(c)
	}
	insert := func(pos int) bool {
		e.move(pos)
		v.command = false
		return true
	}
	switch c.key {
	case "i":
		return insert(e.pos)
	case "a":
		return insert(min(e.pos+next(e.text[e.pos:]), e.lineEnd(e.pos)))
	case "I":
		return insert(e.firstOf(e.pos))
	case "A":
		return insert(e.lineEnd(e.pos))
	case "o":
		e.move(e.lineEnd(e.pos))
		e.try(e.insert("\n", kindOther))
		return insert(e.pos)
	case "O":
		at := e.lineStart(e.pos)
		e.move(at)
		e.try(e.insert("\n", kindOther))
		return insert(at)
	case "p", "P":
		return e.put(c.key == "p", c.count)
	case "u":
		for range c.count {
			if !e.stepBack() {
				break
			}
		}
		return false
	case ".":
		if v.replayed {
			return false
		}
		v.replayed = true
		for _, in := range v.last {
			switch {
			case in.action != "":
				if _, done := e.doVim(in.action); !done {
					e.do(in.action)
				}
			case v.command:
				e.key(in.text)
			default:
				e.try(e.insert(in.text, kindType))
			}
		}
		v.replayed = false
		return false
	case "j", "k":
		by := 1
		if c.key == "k" {
			by = -1
		}
		for i := range c.count {
			if !e.vertical(by) {
				if i == 0 && by < 0 {
					e.older()
				} else if i == 0 {
					e.newer()
				}
				break
			}
		}
		return false
	}
	if to, _, _, ok := e.motion(c); ok {
		e.move(to)
		if c.key == "$" {
			e.goal = 1 << 30
		}
	}
	return false
}

// firstOf returns the first character of a line that is no blank.
func (e *Editor) firstOf(pos int) int {
	at, end := e.lineStart(pos), e.lineEnd(pos)
	for at < end && (e.text[at] == ' ' || e.text[at] == '\t') {
		at++
	}
	return at
}

// motion returns where a motion leads, whether it takes in the character that is there,
// and whether it is one over lines.
func (e *Editor) motion(c viCommand) (to int, inclusive, lines, ok bool) {
	to = e.pos
	switch c.key {
	case "h":
		for i := 0; i < c.count && to > e.lineStart(to); i++ {
			to = e.prev(to)
		}
		return to, false, false, to != e.pos
	case "l", " ":
		end := e.lineEnd(to)
		for i := 0; i < c.count && to < end; i++ {
			to += next(e.text[to:])
		}
		return to, false, false, to != e.pos
	case "0":
		return e.lineStart(to), false, false, true
	case "^":
		return e.firstOf(to), false, false, true
	case "$":
		for range c.count - 1 {
			if end := e.lineEnd(to); end < len(e.text) {
				to = end + 1
			}
		}
		return e.lineEnd(to), false, false, true
	case "w":
		return e.words(c), false, false, true
	case "b":
		for i := 0; i < c.count && to > 0; i++ {
			for to > 0 && e.classAt(e.prev(to)) == blank {
				to = e.prev(to)
			}
			to = e.runStart(to)
		}
		return to, false, false, true
	case "e":
		for i := 0; i < c.count && to < len(e.text); i++ {
			to = e.runEnd(e.skipBlanks(to + next(e.text[to:])))
			to = e.prev(to)
		}
		return to, true, false, true
	case "j", "k":
		for range c.count {
			if c.key == "j" && e.lineEnd(to) < len(e.text) {
				to = e.lineEnd(to) + 1
			} else if c.key == "k" && e.lineStart(to) > 0 {
				to = e.lineStart(e.lineStart(to) - 1)
			} else {
				break
			}
		}
		return to, false, true, to != e.pos
	case "G":
		if !c.given {
			return e.firstOf(len(e.text)), false, true, true
		}
		return e.firstOf(e.nthLine(c.count)), false, true, true
	case "g":
		if c.arg != "g" {
			return to, false, false, false
		}
		return e.firstOf(e.nthLine(c.count)), false, true, true
	case "f", "F", "t", "T":
		e.vim.find = [2]string{c.key, c.arg}
		return e.seek(c.key, c.arg, c.count, false)
	case ";", ",":
		key := e.vim.find[0]
		if key == "" {
			return to, false, false, false
		}
		if c.key == "," {
			key = string(key[0] ^ 0x20) // the other case looks the other way
		}
		return e.seek(key, e.vim.find[1], c.count, true)
	}
	return to, false, false, false
}

func (e *Editor) skipBlanks(pos int) int {
	for pos < len(e.text) && e.classAt(pos) == blank {
		pos += next(e.text[pos:])
	}
	return pos
}

// words returns where w leads. Behind an operator it does not go on to the next line,
// and cw changes up to the end of the word.
func (e *Editor) words(c viCommand) int {
	to := e.pos
	change := c.op == "c" && to < len(e.text) && e.classAt(to) != blank
	for i := 0; i < c.count && to < len(e.text); i++ {
		from := to
		if e.classAt(to) != blank {
			to = e.runEnd(to)
		}
		end := e.lineEnd(from)
		switch {
		case i < c.count-1:
			to = e.skipBlanks(to)
		case change:
		case c.op != "" && end > from:
			to = min(e.skipBlanks(to), end)
		default:
			to = e.skipBlanks(to)
		}
	}
	return to
}

// nthLine returns where a line begins, counted from 1; the last one when there are
// fewer.
func (e *Editor) nthLine(n int) int {
	at := 0
	for ; n > 1; n-- {
		end := e.lineEnd(at)
		if end == len(e.text) {
			break
		}
		at = end + 1
	}
	return at
}

// seek finds a character in the line. Again says that it is a repeat, which goes on
// from where t has stopped.
func (e *Editor) seek(key, what string, count int, again bool) (to int, inclusive, lines, ok bool) {
	start, end := e.lineStart(e.pos), e.lineEnd(e.pos)
	to = e.pos
	forward, short := key == "f" || key == "t", key == "t" || key == "T"
	for i := range count {
		at := to
		for step := 0; ; step++ {
			if forward {
				if at >= end {
					return e.pos, false, false, false
				}
				at += next(e.text[at:])
			} else {
				if at <= start {
					return e.pos, false, false, false
				}
				at = e.prev(at)
			}
			if at < end && string(e.text[at:at+next(e.text[at:])]) == what && !(short && again && i == 0 && step == 0) {
				break
			}
		}
		to = at
	}
	if short && forward {
		to = e.prev(to)
	} else if short {
		to += next(e.text[to:])
	}
	return to, forward, false, true
}

// operate does d, c or y with a motion, or on whole lines.
func (e *Editor) operate(c viCommand) (changed bool) {
	var from, to int
	lines := c.key == c.op
	if lines {
		from, to = e.pos, e.pos
		for range c.count - 1 {
			if end := e.lineEnd(to); end < len(e.text) {
				to = end + 1
			}
		}
	} else {
		target, inclusive, over, ok := e.motion(c)
		if !ok {
			return false
		}
		lines = over
		from, to = min(e.pos, target), max(e.pos, target)
		if inclusive && to < len(e.text) {
			to += next(e.text[to:])
		}
	}
	if lines {
		return e.operateLines(c.op, e.lineStart(from), e.lineEnd(to))
	}
	switch c.op {
	case "y":
		if from < to {
			e.kills.add(string(e.text[from:to]))
			e.move(from)
		}
		return false
	case "c":
		e.kill(from, to, false)
		e.vim.command = false
	default:
		e.kill(from, to, false)
	}
	e.kills.chain = false
	return true
}

// operateLines does an operator on whole lines; to is the end of the last one.
func (e *Editor) operateLines(op string, from, to int) (changed bool) {
	taken := string(e.text[from:to]) + "\n"
	e.kills.add(taken)
	e.vim.lines = taken
	switch op {
	case "y":
		e.move(from)
		return false
	case "c":
		e.try(e.replace(from, to, "", kindOther))
		e.vim.command = false
		return true
	}
	switch {
	case to < len(e.text):
		to++
	case from > 0:
		from--
	}
	e.try(e.replace(from, to, "", kindOther))
	e.move(e.firstOf(e.pos))
	return true
}

// put puts what was taken last after the cursor, or before it.
func (e *Editor) put(behind bool, count int) bool {
	n := len(e.kills.texts)
	if n == 0 {
		return false
	}
	raw := e.kills.texts[n-1]
	if count > 1 {
		if len(raw)*count > MaxText {
			e.try(errTooLong)
			return false
		}
		raw = strings.Repeat(raw, count)
	}
	if e.kills.texts[n-1] == e.vim.lines && raw != "" {
		at := e.lineStart(e.pos)
		if behind {
			if at = e.lineEnd(e.pos); at == len(e.text) {
				raw = "\n" + strings.TrimSuffix(raw, "\n")
			} else {
				at++
			}
		}
		if err := e.replace(at, at, raw, kindOther); err != nil {
			e.try(err)
			return false
		}
		if raw[0] == '\n' && behind && at+len(raw) == len(e.text) {
			at++
		}
		e.move(e.firstOf(at))
		return true
	}
	at := e.pos
	if behind {
		at = min(at+next(e.text[at:]), e.lineEnd(at))
	}
	if err := e.replace(at, at, raw, kindOther); err != nil {
		e.try(err)
		return false
	}
	e.move(e.prev(e.pos))
	return true
}
