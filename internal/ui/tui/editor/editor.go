package editor

import (
	"bytes"
	"slices"
	"strings"

	"scorel/internal/ui/tui/keymap"
)

// Config is what an editor needs.
type Config struct {
	// History returns what was typed before, the oldest first. It is asked when somebody
	// begins to look back or to search. Nil is no history.
	History func() []string
	Vim     bool // keys of vi; it begins in insert mode
}

// Editor is a text that is being typed. Make it with [New].
type Editor struct {
	history history
	text    []byte // with chips as their marks
	pos     int    // of the cursor, between two clusters
	goal    int    // the column that up and down keep; -1 for that of the cursor
	size    int    // of the text with its pastes
	layout
	chips    map[int]*chip
	lastChip int
	undo     undo
	kills    kills
	search   *search
	vim      vim
	sent     []sentText
	top      int // the first row that is shown
	ghost    string
	refused  error
}

// New makes an empty editor.
func New(cfg Config) *Editor {
	e := &Editor{history: history{get: cfg.History}, goal: -1, chips: map[int]*chip{}}
	e.vim.on = cfg.Vim
	e.wrap(80)
	return e
}

// Empty reports whether nothing is typed.
func (e *Editor) Empty() bool { return len(e.text) == 0 }

// Size returns how many bytes the text has with its pastes.
func (e *Editor) Size() int { return e.size }

// Err returns the sentence about what the last [Editor.Do] could not do, once.
func (e *Editor) Err() error {
	err := e.refused
	e.refused = nil
	return err
}

// SetGhost sets what is shown dim after the text while the cursor is at its end: a
// placeholder when it is empty, the arguments of a command. It is cut to its line.
func (e *Editor) SetGhost(text string) { e.ghost = text }

// Set replaces the text, as a change that can be undone, with the cursor at its end.
// The name of an image or a file that was in it, as [Editor.Text] gives it, stands for
// that again. A text that is too long changes nothing; the error is a sentence.
func (e *Editor) Set(text string) error {
	e.settle()
	e.exitHistory()
	text = tidy(text)
	for i := bytes.IndexByte(e.text, chipLead); i >= 0; {
		if c := e.chip(e.text[i:]); c != nil && !c.pasted() {
			text = strings.Replace(text, c.label, string(e.text[i:i+chipLen]), 1)
		}
		next := bytes.IndexByte(e.text[i+1:], chipLead)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return e.replace(0, len(e.text), text, kindOther)
}

// Recall does what Set does, with an input that was sent: marked, as [Editor.Marked] gave
// it, stands for it with its pastes, images and files as long as history has these; else
// it is text.
func (e *Editor) Recall(marked, text string) error {
	raw := e.rawOf(marked)
	if raw == tidy(marked) {
		return e.Set(text)
	}
	e.settle()
	e.exitHistory()
	return e.replace(0, len(e.text), raw, kindOther)
}

// Reset empties the editor when its text was sent: there is nothing to undo, and
// history has what its chips hold.
func (e *Editor) Reset() {
	e.search = nil
	e.exitHistory()
	e.keepSent()
	e.load("", 0)
	e.vim.reset()
}

// Before returns what of the line is before the cursor, after the last chip and at
// most 4 KiB; first says that it is the beginning of the whole text.
func (e *Editor) Before() (text string, first bool) {
	from := max(e.lineStart(e.pos), e.pos-maxBefore)
	for i := e.pos - 1; i >= from; i-- {
		if e.text[i] == chipLead {
			from = i + chipLen
			break
		}
	}
	return strings.ToValidUTF8(string(e.text[from:e.pos]), ""), from == 0
}

const maxBefore = 4 << 10

// ReplaceBefore puts text in the place of old, which is before the cursor; it is
// false, and nothing changes, when something else does, or the text would be too long.
func (e *Editor) ReplaceBefore(old, text string) bool {
	e.settle()
	from := e.pos - len(old)
	if from < 0 || string(e.text[from:e.pos]) != old {
		return false
	}
	return e.replace(from, e.pos, tidy(text), kindOther) == nil
}

// Insert takes what was typed: letters, and in the normal mode of vi commands. What
// would make the text too long is refused as a whole; the error is a sentence.
func (e *Editor) Insert(text string) error {
	text = tidy(text)
	e.refused = nil
	switch {
	case text == "":
		return nil
	case e.search != nil:
		e.searchFor(e.search.query + text)
		return nil
	case e.vim.normal():
		e.command(text)
		return e.Err()
	}
	e.vim.typed(text)
	return e.insert(text, kindType)
}

// Paste takes pasted text as it is. A long one becomes a chip, see [Editor.Expand].
// What would make the text too long is refused as a whole; the error is a sentence.
func (e *Editor) Paste(text string) error {
	text = tidy(text)
	switch {
	case text == "":
		return nil
	case e.search != nil:
		line, _, _ := strings.Cut(text, "\n")
		e.searchFor(e.search.query + line)
		return nil
	case len(text) > MaxText:
		return errTooLong
	}
	if e.vim.normal() {
		e.pos = min(e.lineEnd(e.pos), e.pos+next(e.text[e.pos:])) // after the cursor, as p
	}
	var err error
	if strings.Count(text, "\n") >= chipLines || len(text) > chipRunes && len([]rune(text)) > chipRunes {
		err = e.addChip(&chip{pasteLabel(text), Part{Kind: Text, Text: text}})
	} else {
		err = e.insert(text, kindOther)
	}
	e.clamp()
	return err
}

func (e *Editor) insert(raw string, k kind) error {
	return e.replace(e.pos, e.pos, raw, k)
}

// replace changes the text from from to to, notes that for undo, and leaves the
// cursor after what is new.
func (e *Editor) replace(from, to int, raw string, k kind) error {
	old := string(e.text[from:to])
	size := e.size - e.sizeOf(old) + e.sizeOf(raw)
	if size > MaxText && size > e.size {
		return errTooLong
	}
	if old != raw {
		e.undo.note(step{at: from, old: old, new: raw, before: e.pos, kind: k})
	}
	e.change(from, to, raw)
	e.size = size
	return nil
}

// change is replace without a check and a note.
func (e *Editor) change(from, to int, raw string) {
	e.text = slices.Replace(e.text, from, to, []byte(raw)...)
	e.replaced(from, to-from, len(raw))
	e.pos = e.snap(from + len(raw))
	e.goal = -1
}

// load makes another text the one that is edited, with nothing to undo.
func (e *Editor) load(raw string, pos int) {
	e.text = append(e.text[:0], raw...)
	e.size = e.sizeOf(raw)
	e.pos, e.goal, e.top = pos, -1, 0
	e.undo = undo{}
	e.wrap(e.avail)
}

// settle ends a search with what it has found.
func (e *Editor) settle() {
	if e.search != nil {
		e.take()
	}
}

// Do does an action. It is false for one that is not the editor's, and for one that
// has nothing to do here and may mean something else: Up in the first line without
// history, Cancel with nothing open, Submit.
func (e *Editor) Do(a keymap.Action) (handled bool) {
	e.refused = nil
	if e.search != nil {
		if handled, done := e.doSearch(a); done {
			return handled
		}
	}
	if e.vim.on {
		if handled, done := e.doVim(a); done {
			return handled
		}
	}
	handled = e.do(a)
	if handled {
		e.vim.did(a)
		e.clamp()
	}
	return handled
}

func (e *Editor) do(a keymap.Action) bool {
	if a != keymap.Yank && a != keymap.YankPop {
		e.kills.yanked = false
	}
	killing := e.kills.chain
	e.kills.chain = false
	if e.moves(a) {
		return true
	}
	switch a {
	case keymap.Submit:
		if e.pos == 0 || e.text[e.pos-1] != '\\' {
			return false
		}
		e.try(e.replace(e.pos-1, e.pos, "\n", kindOther))
	case keymap.NewLine:
		e.try(e.insert("\n", kindOther))
	case keymap.Up:
		return e.vertical(-1) || e.older()
	case keymap.Down:
		return e.vertical(1) || e.newer()
	case keymap.HistoryOlder:
		return e.older()
	case keymap.HistoryNewer:
		return e.newer()
	case keymap.HistorySearch:
		return e.beginSearch()
	case keymap.Undo:
		return e.stepBack()
	case keymap.Redo:
		return e.stepOn()
	case keymap.Transpose:
		return e.transpose()
	case keymap.Complete:
		return e.Expand()
	case keymap.ClearInput:
		if len(e.text) == 0 {
			return false
		}
		e.exitHistory()
		e.keepSent()
		e.try(e.replace(0, len(e.text), "", kindOther))
	default:
		return e.deletes(a, killing)
	}
	return true
}

// moves does an action that moves the cursor; false for others.
func (e *Editor) moves(a keymap.Action) bool {
	switch a {
	case keymap.Left:
		e.move(e.prev(e.pos))
	case keymap.Right:
		e.move(e.pos + next(e.text[e.pos:]))
	case keymap.WordLeft:
		e.move(e.wordLeft(e.pos))
	case keymap.WordRight:
		e.move(e.wordRight(e.pos))
	case keymap.LineStart:
		e.move(e.lineStart(e.pos))
	case keymap.LineEnd:
		e.move(e.lineEnd(e.pos))
	case keymap.TextStart:
		e.move(0)
	case keymap.TextEnd:
		e.move(len(e.text))
	default:
		return false
	}
	return true
}

// deletes does an action that deletes, or brings back what was: killing says that the
// action before was one that kills.
func (e *Editor) deletes(a keymap.Action, killing bool) bool {
	switch a {
	case keymap.DeleteBack:
		return e.delete(e.prev(e.pos), e.pos, kindBack)
	case keymap.DeleteForward:
		return e.delete(e.pos, e.pos+next(e.text[e.pos:]), kindForward)
	case keymap.DeleteWordBack:
		return e.kill(e.wordLeft(e.pos), e.pos, killing)
	case keymap.DeleteWord:
		return e.kill(e.pos, e.wordRight(e.pos), killing)
	case keymap.KillLine:
		end := e.lineEnd(e.pos)
		if end == e.pos && end < len(e.text) {
			end++ // the line break
		}
		return e.kill(e.pos, end, killing)
	case keymap.KillLineBack:
		start := e.lineStart(e.pos)
		if start == e.pos && start > 0 {
			start--
		}
		return e.kill(start, e.pos, killing)
	case keymap.Yank:
		return e.yank()
	case keymap.YankPop:
		return e.yankPop()
	}
	return false
}

// try keeps why something was not done.
func (e *Editor) try(err error) {
	if err != nil {
		e.refused = err
	}
}

func (e *Editor) delete(from, to int, k kind) bool {
	if from == to {
		return false
	}
	e.try(e.replace(from, to, "", k))
	return true
}

// transpose exchanges the clusters before and after the cursor, at the end of a line
// the two before it.
func (e *Editor) transpose() bool {
	at := e.pos
	if at == e.lineEnd(at) {
		at = e.prev(at)
	}
	from := e.prev(at)
	to := at + next(e.text[at:])
	if from == at || from < e.lineStart(at) || to > e.lineEnd(at) || at == to {
		return false
	}
	e.try(e.replace(from, to, string(e.text[at:to])+string(e.text[from:at]), kindOther))
	return true
}
