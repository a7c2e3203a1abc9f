package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/conversation"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/picture"
	"scorel/internal/ui/tui/rendering"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxWhole bounds what the pager has of a payload, in bytes.
const maxWhole = 2 << 20

// errCut is the error of copying something that is not all here.
var errCut = errors.New("this is longer than the clipboard of a terminal takes, and not all of it is here; /export writes it to a file")

// reading is the conversation as a person reads it: scrolling, searching, selecting and
// copying, with the keys or with the mouse.
type reading struct {
	ctx        context.Context // ends with the program
	link       *link.Link
	window     *window
	session    *conversation.View
	transcript *transcript.Transcript
	images     *picture.Loader
	drawn      *rendering.Loader
	overlays   *overlay.Stack
	toasts     *status.Toasts
	editor     typed // takes what is typed when nothing is looked for

	on     bool            // the transcript has the focus
	visit  bool            // the whole screen is on to read what is further up
	over   bool            // an agent is shown, which takes the whole screen
	inline bool            // and the scrollback comes back after it
	opened []keymap.Action // what was unfolded for that visit, and is folded after it
	jump   jump
	above  int // rows above the transcript, in full screen
	rows   int // and its own
}

// typed takes what is typed or pasted.
type typed interface {
	Insert(text string) tea.Cmd
	Paste(text string) tea.Cmd
}

// jump is a place to be shown in a session, as soon as that is there.
type jump struct {
	id   protocol.SessionID
	text string // that is at the place
}

// toggleScreen goes to the whole screen, or back to the terminal's scrollback, which
// shows the end.
func (r *reading) toggleScreen() {
	if r.over {
		r.inline = !r.inline
		r.toasts.Info("the screen changes when the main conversation is shown again")
		return
	}
	r.window.screen.SetFull(!r.window.Full())
	r.visit = false
	if !r.window.Full() {
		r.on = false
		r.transcript.Do(keymap.ScrollBottom)
		r.images.Changed()
	}
}

// cover takes the whole screen for an agent: what is in the scrollback stays as it is.
func (r *reading) cover() {
	r.end()
	if r.inline = !r.window.Full(); r.inline {
		r.toggleScreen()
	}
	r.over = true
}

// uncover goes back to where cover came from; the main conversation is in the transcript.
func (r *reading) uncover() {
	r.end()
	r.over = false
	if r.inline == r.window.Full() {
		r.toggleScreen()
	}
	r.images.Changed()
}

// begin goes into the conversation: from the scrollback to the whole screen, until
// somebody leaves it.
func (r *reading) begin() {
	r.on = true
	if !r.window.Full() {
		r.toggleScreen()
		r.visit = true
	}
}

// fold folds or unfolds tool calls or thinking. What is in the terminal's scrollback cannot
// change, so there it opens the conversation with them unfolded.
func (r *reading) fold(a keymap.Action) {
	if r.window.Full() && !r.visit {
		r.transcript.Do(a)
		return
	}
	r.begin()
	r.transcript.Do(a)
	if i := slices.Index(r.opened, a); i >= 0 {
		r.opened = slices.Delete(r.opened, i, i+1)
	} else {
		r.opened = append(r.opened, a)
	}
}

// end goes back to where begin came from.
func (r *reading) end() {
	r.on = false
	if r.visit {
		for _, a := range r.opened {
			r.transcript.Do(a)
		}
		r.opened = nil
		r.toggleScreen()
	}
}

// toggle goes a page up into the conversation, or back.
func (r *reading) toggle() tea.Cmd {
	if r.on {
		r.end()
		return nil
	}
	r.begin()
	return r.Do(keymap.PageUp)
}

// Places says where keys count.
func (r *reading) Places() []keymap.Place {
	if r.transcript.Searching() { // what is looked for is being typed
		return []keymap.Place{keymap.Editor}
	}
	return []keymap.Place{keymap.Transcript}
}

// Do does an action of the transcript.
func (r *reading) Do(a keymap.Action) tea.Cmd { return r.outcome(r.transcript.Do(a)) }

// Insert types into the search; who types else is done with reading.
func (r *reading) Insert(text string) tea.Cmd {
	if r.transcript.Searching() {
		r.transcript.Insert(text)
		return r.session.Older()
	}
	r.on = false
	return r.editor.Insert(text)
}

// Paste is Insert for what was pasted.
func (r *reading) Paste(text string) tea.Cmd {
	if r.transcript.Searching() {
		r.transcript.Paste(text)
		return r.session.Older()
	}
	r.on = false
	return r.editor.Paste(text)
}

func (r *reading) outcome(o transcript.Outcome) tea.Cmd {
	if o.Leave {
		r.end()
	}
	var cmd tea.Cmd
	switch {
	case o.Copy != "" && o.Whole != "":
		r.toasts.Fail(errCut)
	case o.Copy != "":
		cmd = r.copy(o.Copy)
	case o.Whole != "":
		cmd = r.openWhole(o.Whole)
	}
	return tea.Batch(cmd, r.session.Older())
}

// copy copies a text to the clipboard of the terminal.
func (r *reading) copy(text string) tea.Cmd {
	cmd, err := r.window.copy(text)
	if err != nil {
		r.toasts.Fail(err)
		return nil
	}
	r.toasts.Info("copied")
	return cmd
}

// copyAnswer copies the last answer.
func (r *reading) copyAnswer() tea.Cmd {
	answer := protocol.NewestAnswer(func(yield func(protocol.Message) bool) {
		for _, e := range slices.Backward(r.session.Path()) {
			if m, ok := e.Message(); ok && !yield(m) {
				return
			}
		}
	})
	switch {
	case len(answer) == 0:
		r.toasts.Info("no answer yet")
		return nil
	case slices.ContainsFunc(answer, protocol.Message.IsCut):
		r.toasts.Fail(errCut)
		return nil
	}
	return r.copy(display.Text(protocol.AnswerText(answer)))
}

// openWhole shows a payload with all of an item of which the conversation has a part.
func (r *reading) openWhole(blob string) tea.Cmd {
	id := r.session.ID()
	return func() tea.Msg {
		text, err := r.link.Beginning(r.ctx, id, blob, maxWhole)
		return loop.Then(func() tea.Cmd {
			if err != nil {
				r.toasts.Fail(err)
				return nil
			}
			r.overlays.Page("All of it", strings.Split(cell.Clean(text), "\n"))
			return nil
		})
	}
}

// JumpTo shows the place of a text in a session, as soon as that is there; "" is none.
func (r *reading) JumpTo(id protocol.SessionID, text string) tea.Cmd {
	r.jump = jump{id, text}
	return r.land()
}

// land shows the place of the jump.
func (r *reading) land() tea.Cmd {
	if r.jump.text == "" || r.jump.id != r.session.ID() || r.transcript.Oldest() == "" {
		return nil
	}
	text := r.jump.text
	r.jump = jump{}
	end := r.transcript.View(r.window.theme, r.window.width, r.window.height) // a search needs a width, too
	if strings.Contains(strings.ToLower(cell.Plain(strings.Join(end, "\n"))), strings.ToLower(text)) {
		return nil // it is seen anyway
	}
	r.begin()
	r.transcript.Search(text)
	return r.session.Older()
}

// mouse scrolls, holds text to copy it, and clicks on what opens.
func (r *reading) mouse(msg tea.MouseMsg) tea.Cmd {
	e := msg.Mouse()
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		return r.wheel(wheel.Button)
	}
	if e.Button != tea.MouseLeft && e.Button != tea.MouseNone || r.overlays.Top() != nil {
		return nil
	}
	row := e.Y - r.above
	switch msg.(type) {
	case tea.MouseClickMsg:
		if row >= r.rows {
			r.on = false // on the editor
		}
		r.transcript.Press(row, e.X)
	case tea.MouseMotionMsg:
		r.transcript.Drag(row, e.X)
	case tea.MouseReleaseMsg:
		return r.outcome(r.transcript.Release(row, e.X))
	}
	return r.session.Older()
}

// wheelLines is how far a step of the wheel scrolls.
const wheelLines = 3

func (r *reading) wheel(b tea.MouseButton) tea.Cmd {
	n, a := wheelLines, keymap.ListDown
	switch b {
	case tea.MouseWheelUp:
		n, a = -n, keymap.ListUp
	case tea.MouseWheelDown:
	default: // sideways
		return nil
	}
	if o := r.overlays.Top(); o != nil {
		return o.Do(a)
	}
	r.transcript.Wheel(n)
	return r.session.Older()
}
