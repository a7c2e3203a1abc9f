package input

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/complete"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/program"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// Session is the one that is open.
type Session interface {
	ID() protocol.SessionID
	MainID() protocol.SessionID // of the one below, while it is shown over another one
	Completes() bool            // extensions offer something for what is typed
}

// Host is what is known of the host.
type Host interface{ Project() *protocol.Project }

// Sender learns what becomes of what was typed.
type Sender interface {
	// Delivered is called when the host has taken something; waiting is how many others are
	// on their way.
	Delivered(waiting int) tea.Cmd
	// Refused is called when the host has not taken something, and shows why.
	Refused(err error) tea.Cmd
	// Led is called when a command leads to another session, or to the end of the program.
	Led(m *protocol.Move) tea.Cmd
}

// Payloads keeps payloads that were sent from here, for being drawn.
type Payloads interface {
	Sent(blob string, data []byte)
}

// Config is what an input needs.
type Config struct {
	Link     *link.Link
	Toasts   *status.Toasts
	Overlays *overlay.Stack
	Session  Session
	Host     Host
	Payloads Payloads

	Dir, WorkDir string // the user's Scorel folder, and that of new sessions
	Environ      program.Environ
	Remote       bool // the host is on another machine
	Vim          bool
	Commands     []protocol.CommandInfo // of the UI itself
}

// Input is what is typed.
type Input struct {
	cfg    Config
	sender Sender
	editor *editor.Editor
	aside  aside
	popup  *complete.List
	past   past
	outbox outbox
	keeper *keeper // nil where nothing can be kept
}

// past is the history of what was typed.
type past struct {
	*prefs.History
	failed bool // that was shown
}

// New returns an input with an empty editor.
func New(cfg Config) *Input {
	in := &Input{cfg: cfg, past: past{History: prefs.NewHistory(disk.OS(), cfg.Dir, cfg.WorkDir, time.Now)}, popup: complete.New(cfg.Commands)}
	in.editor = in.newEditor()
	return in
}

// SendTo sets who learns what becomes of what was typed. It is called before anything is
// sent.
func (in *Input) SendTo(s Sender) { in.sender = s }

// Empty reports whether nothing is typed.
func (in *Input) Empty() bool { return in.editor.Empty() }

// Text is what is typed, with all that was pasted.
func (in *Input) Text() string { return in.editor.Text() }

// Parts is what is typed in its order, attachments included.
func (in *Input) Parts() []editor.Part { return in.editor.Parts() }

// Mode says what the text is, and what of it is that.
func (in *Input) Mode() (editor.Mode, string) { return in.editor.Mode() }

// VimMode is the mode of the keys of vi, "" without these.
func (in *Input) VimMode() string { return in.editor.VimMode() }

// SetVim sets whether there are keys of vi.
func (in *Input) SetVim(on bool) {
	in.cfg.Vim = on
	in.editor.SetVim(on)
}

// Set puts a text into the editor, as a change that can be undone.
func (in *Input) Set(text string) tea.Cmd {
	if err := in.editor.Set(text); err != nil {
		in.cfg.Toasts.Fail(err)
	}
	return in.Changed()
}

// Insert types text.
func (in *Input) Insert(text string) tea.Cmd {
	in.editor.Insert(text)
	return in.Changed()
}

// Paste takes a paste: the file of an image that was dropped, or text.
func (in *Input) Paste(text string) tea.Cmd {
	if cmd, ok := in.dropped(text); ok {
		return cmd
	}
	if err := in.editor.Paste(text); err != nil {
		in.cfg.Toasts.Fail(err)
	}
	return in.Changed()
}

// Do does an action of the editor.
func (in *Input) Do(a keymap.Action) tea.Cmd {
	in.Takes(a)
	return in.Changed()
}

// Takes does an action of the editor, and reports whether that has a use for it now.
func (in *Input) Takes(a keymap.Action) bool {
	took := in.editor.Do(a)
	if err := in.editor.Err(); err != nil {
		in.cfg.Toasts.Fail(err)
	}
	return took
}

// Clear remembers what is typed in the history, and empties the editor.
func (in *Input) Clear() tea.Cmd {
	in.Remember()
	in.editor.Reset()
	return in.Changed()
}

// Remember adds what is typed to the history.
func (in *Input) Remember() { in.remember(in.editor.Marked()) }

func (in *Input) remember(marked string) {
	if err := in.past.Add(marked); err != nil && !in.past.failed {
		in.past.failed = true
		in.cfg.Toasts.Fail(err)
	}
}

// Changed follows every change of what is typed: it brings the popup to where the cursor
// is, and has the draft kept.
func (in *Input) Changed() tea.Cmd {
	mode, _ := in.editor.Mode()
	before, first := in.editor.Before()
	q := in.popup.Update(complete.Input{Before: before, First: first, Shell: mode == editor.Shell || mode == editor.ShellApart, Words: in.cfg.Session.Completes()})
	in.Keep()
	return in.question(q)
}

// Render draws the editor, with ghost after the text while nothing is typed.
func (in *Input) Render(th *theme.Theme, width, height int, ghost string) ([]string, overlay.Cursor) {
	if !in.editor.Empty() {
		ghost = in.popup.Hint()
	}
	in.editor.SetGhost(ghost)
	text, at := in.editor.Render(th, width, height)
	return text, overlay.Cursor{X: at.X, Y: at.Y}
}

// Marked is what is typed, with pastes, images and files as they are shown, and how many of its
// code points are before the cursor.
func (in *Input) Marked() (text string, before int) { return in.editor.Marked(), in.editor.Position() }
