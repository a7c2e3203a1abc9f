package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/sgr"
	"scorel/internal/ui/tui/keyboard"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
	"scorel/protocol/display"
)

// drawTimeout is how long an extension may take with a key of the editor, or to draw it, before
// the key goes to the editor as it is and that is shown. It is a variable for tests.
var drawTimeout = 250 * time.Millisecond

// silentTimeout is how much longer it may take until the person is told that it does not answer:
// keys are the input's meanwhile, and an extension that is loaded again answers soon. One that is
// too slow for so many requests in a row is told of, too.
const (
	silentTimeout = 2 * time.Second
	slowInARow    = 3
)

// drawnEditor is the editor where an extension takes its keys and draws it. The text and the
// cursor are those of the input: an extension gets them with each key, and says what the input
// is to do. One request is under way at a time, so that keys keep their order; no key waits
// longer than drawTimeout.
type drawnEditor struct {
	*Model
	id    string // tells this editor from those of other terminals
	off   string // the extension whose editor the person has closed, until /reload
	had   string // the extension that had the editor last
	hadAt time.Time
	told  string // the one that did not answer, which was said
	slow  int    // requests that were given up, and none with keys was answered since
	esc   time.Time
	ask   *editorAsk // under way; nil for none
	keys  []pressed  // that wait for it
	shown editorLook // as it was drawn last
	rows  int        // lines of the input, as it was shown last
}

// pressed is a key, or a paste.
type pressed struct {
	key   tea.KeyPressMsg
	paste *string
	data  string // as a terminal sends it
}

// editorAsk is a request to an extension.
type editorAsk struct {
	source string
	of     editorOf
	keys   []pressed
	late   bool // it is given up: its keys are the input's already
}

// editorOf is what a look of the editor is of.
type editorOf struct {
	id, rev string // of the editor of the extension
	lines   string // of the input
	at      overlay.Cursor
	width   int
}

// editorLook is how an extension draws the editor; without lines it does not.
type editorLook struct {
	of    editorOf
	lines []string
	at    *protocol.UICursor
}

// source returns the extension that has the editor, with the id and the version of that.
func (d *drawnEditor) source() (source, id, rev string, ok bool) {
	if d.session.Over() || d.window.theme.Plain {
		return "", "", "", false
	}
	for _, s := range slices.Backward(d.session.Live().UIStates) {
		if s.Place == protocol.PlaceEditorComponent && len(s.Lines) > 0 {
			id, rev, _ = strings.Cut(s.Lines[0], " ")
			text, _ := d.input.Marked()
			if s.Source == d.off || len(text) > protocol.MaxEditorText {
				break
			}
			d.had, d.hadAt = s.Source, time.Now()
			return s.Source, id, rev, true
		}
	}
	return "", "", "", false
}

// takes reports whether keys of the editor go to an extension.
func (d *drawnEditor) takes() bool {
	_, _, _, ok := d.source()
	return ok
}

// leaves counts a key that the person presses while the editor has the focus, and reports
// whether it is the second Esc: that closes the editor of the extension, whatever this does with
// keys and however often it sets another one.
func (d *drawnEditor) leaves(key string) bool {
	before := d.esc
	d.esc = time.Time{}
	if key != "esc" || !d.takes() && time.Since(d.hadAt) > 2*twice {
		return false
	}
	if d.esc = time.Now(); time.Since(before) > twice {
		return false
	}
	d.off, d.esc, d.hadAt = d.had, time.Time{}, time.Time{}
	d.toasts.Info("The editor of " + display.Line(d.had) + " is closed. /reload lets it open again.")
	return true
}

// press takes a key of the editor.
func (d *drawnEditor) press(p pressed) tea.Cmd {
	if d.ask != nil && d.ask.late || p.data == "" || len(p.data) > protocol.MaxEditorText || len(d.keys) == protocol.MaxInputKeys {
		return tea.Batch(d.flush(), d.focus.plain(p))
	}
	d.keys = append(d.keys, p)
	return d.next()
}

// flush has the input take the keys that wait, and those under way, in their order.
func (d *drawnEditor) flush() tea.Cmd {
	keys := d.keys
	d.keys = nil
	if d.ask != nil && !d.ask.late {
		d.ask.late = true
		keys = append(d.ask.keys, keys...)
	}
	var cmds []tea.Cmd
	for _, p := range keys {
		cmds = append(cmds, d.focus.plain(p))
	}
	return tea.Batch(cmds...)
}

// leave has the input take the keys that wait, and forgets what is of the session.
func (d *drawnEditor) leave() tea.Cmd {
	cmd := d.flush()
	d.ask, d.shown, d.off, d.slow = nil, editorLook{}, "", 0
	return cmd
}

// next asks the extension about the keys that wait, or to draw what has changed, unless a
// request is under way.
func (d *drawnEditor) next() tea.Cmd {
	if d.ask != nil {
		return nil
	}
	source, id, rev, ok := d.source()
	if !ok || len(d.keys) > 0 && !d.focus.onEditor() {
		return d.flush()
	}
	lines, at := d.plainEditor(max(1, d.rows))
	of := editorOf{id: id, rev: rev, lines: strings.Join(lines, "\n"), at: at, width: d.window.width}
	if len(d.keys) == 0 && of == d.shown.of {
		return nil
	}
	text, before := d.input.Marked()
	req := &protocol.EditorInput{Source: source, Editor: d.id, Text: text, Before: before, Width: of.width, Lines: lines, Cursor: &protocol.UICursor{Row: at.Y, Column: at.X}}
	ask := &editorAsk{source: source, of: of}
	size := 0
	for len(d.keys) > 0 && size+len(d.keys[0].data) <= protocol.MaxInputBytes {
		size += len(d.keys[0].data)
		req.Data = append(req.Data, d.keys[0].data)
		ask.keys = append(ask.keys, d.keys[0])
		d.keys = d.keys[1:]
	}
	d.ask = ask
	send, ctx := d.send, d.window.ctx
	request := link.Ask(d.link, d.session.ID(), req, func(r *protocol.EditorDrawn, err error) tea.Cmd { return d.answered(ask, r, err) })
	go func() { // ends with the answer, or the program
		defer loop.Rescue(send)
		if msg := request(); msg != nil && ctx.Err() == nil {
			send(msg)
		}
	}()
	time.AfterFunc(drawTimeout, func() { send(loop.Then(func() tea.Cmd { return d.giveUp(ask) })) })
	return nil
}

// giveUp has the input take the keys that an extension does not answer.
func (d *drawnEditor) giveUp(ask *editorAsk) tea.Cmd {
	if d.ask != ask || ask.late {
		return nil
	}
	if d.slow++; d.slow >= slowInARow {
		d.tell(ask, " is too slow, so the plain editor takes the keys that it does not answer in time. Esc twice closes its editor.")
	}
	send := d.send
	time.AfterFunc(silentTimeout, func() { send(loop.Then(func() tea.Cmd { d.silent(ask); return nil })) })
	return d.flush()
}

// silent tells the person of an extension that still does not answer.
func (d *drawnEditor) silent(ask *editorAsk) {
	if _, id, _, _ := d.source(); d.ask == ask && id == ask.of.id {
		d.tell(ask, " does not answer, so the plain editor takes the keys until it does. Esc twice closes its editor.")
	}
}

// tell tells the person of an editor that does not work, once.
func (d *drawnEditor) tell(ask *editorAsk, text string) {
	if d.told != ask.of.id {
		d.told = ask.of.id
		d.toasts.Warn(fmt.Sprintf("The extension %s%s", display.Line(ask.source), text))
	}
}

// answered takes what an extension says of keys, and how it draws the editor.
func (d *drawnEditor) answered(ask *editorAsk, r *protocol.EditorDrawn, err error) tea.Cmd {
	if d.ask != ask {
		return nil // of another session
	}
	var cmds []tea.Cmd
	switch {
	case err != nil:
		d.shown = editorLook{of: ask.of}
		if ask.late {
			d.silent(ask)
		} else if _, id, _, _ := d.source(); id == ask.of.id { // it has not gone meanwhile
			d.tell(ask, " cannot draw the editor, so the plain one is shown: "+display.Line(protocol.AsError(err).Message))
		}
		cmds = append(cmds, d.flush())
	case ask.late: // its keys were taken
		d.shown = editorLook{}
	default:
		if len(ask.keys) > 0 { // a mere drawing, as after a key that was late, says nothing of keys
			d.slow = 0
		}
		changed := false
		for _, e := range r.Edits {
			cmds = append(cmds, d.do(ask, e, &changed))
		}
		if r.Drawn != nil && len(r.Edits) == 0 {
			d.show(ask.of, r)
		}
	}
	d.ask = nil
	return tea.Batch(append(cmds, d.next())...)
}

// do does what an extension wants of the input. Keys that the person has not pressed count in
// the editor only, and what is sent is what the person has seen: changed says that the extension
// has changed it since.
func (d *drawnEditor) do(ask *editorAsk, e protocol.EditorEdit, changed *bool) tea.Cmd {
	if i := slices.IndexFunc(ask.keys, func(p pressed) bool { return p.data == e.Key }); i >= 0 && e.Key != "" {
		p := ask.keys[i]
		ask.keys = slices.Delete(ask.keys, i, i+1)
		if *changed && p.paste == nil && d.focus.onEditor() {
			return d.focus.does(p.key, unseen{d.focus.editor, d, ask}, append(d.focus.editor.Places(), keymap.Global))
		}
		return d.focus.plain(p)
	}
	before, _ := d.input.Marked()
	var cmds []tea.Cmd
	switch {
	case e.Text != nil:
		cmds = append(cmds, d.input.Set(display.Text(*e.Text)))
	case e.Insert != "":
		cmds = append(cmds, d.input.Insert(display.Text(e.Insert)))
	default:
		for _, k := range keyboard.Keys(e.Key) {
			if d.focus.onEditor() {
				cmds = append(cmds, d.focus.does(k, unpressed{d.focus.editor}, d.focus.editor.Places()))
			}
		}
	}
	if after, _ := d.input.Marked(); after != before {
		*changed = true
	}
	return tea.Batch(cmds...)
}

// unpressed is the editor for keys that nobody has pressed: they edit, and do nothing else.
type unpressed struct{ target }

func (u unpressed) Do(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Submit, keymap.SubmitOther, keymap.Cancel, keymap.ExternalEditor, keymap.PasteImage:
		return nil
	}
	return u.target.Do(a)
}

// unseen is the editor for a key that the person has pressed before the extension changed the
// text: that is not sent unseen.
type unseen struct {
	target
	d   *drawnEditor
	ask *editorAsk
}

func (u unseen) Do(a keymap.Action) tea.Cmd {
	if a == keymap.Submit || a == keymap.SubmitOther {
		u.d.toasts.Info("The extension " + display.Line(u.ask.source) + " has changed the text; press the key again to send it.")
		return nil
	}
	return u.target.Do(a)
}

// show takes how an extension draws the editor. Its lines are cleaned once more, as of a
// component.
func (d *drawnEditor) show(of editorOf, r *protocol.EditorDrawn) {
	most := min(len(r.Drawn.Lines), strings.Count(of.lines, "\n")+1+protocol.MaxAreaLines)
	d.shown = editorLook{of: of, lines: make([]string, 0, most), at: r.Cursor}
	for _, l := range r.Drawn.Lines[:most] {
		d.shown.lines = append(d.shown.lines, sgr.Line(l))
	}
}

// render draws the editor, of at most so many lines of text: as the extension has drawn it last,
// while it draws what has changed; else as the input is.
func (d *drawnEditor) render(height int) ([]string, overlay.Cursor) {
	d.rows = height
	own, at := d.plainEditor(height)
	_, id, _, ok := d.source()
	if !ok {
		return own, at
	}
	d.next() // which only asks: keys that wait have a request under way
	coming := d.ask != nil && !d.ask.late
	now := d.shown.of
	if d.shown.lines == nil || now.id != id || now.width != d.window.width || !coming && now.lines != strings.Join(own, "\n") {
		return own, at
	}
	lines := transcript.Foreign(d.shown.lines, d.window.width, d.window.theme)
	if c := d.shown.at; c != nil && c.Row < len(lines) {
		return lines, overlay.Cursor{X: min(c.Column, d.window.width-1), Y: c.Row}
	}
	return lines, overlay.Cursor{Y: hidden}
}

// hidden is the row of a cursor that is not shown.
const hidden = 1 << 20
