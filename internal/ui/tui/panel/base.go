package panel

import (
	"context"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Session is the one that is open.
type Session interface {
	ID() protocol.SessionID // "" while none is
	Live() *protocol.Live   // not to be changed
	Main() *protocol.Live   // of the one that it is shown over, if any, else Live
}

// Screen is where panels are drawn.
type Screen interface {
	Theme() *theme.Theme
	Width() int // in cells
}

// Editor is where texts go that a person is to go on with.
type Editor interface {
	Empty() bool
	Text() string
	Set(text string) tea.Cmd
}

// Base is what every panel works with: whom it asks, where it is shown, and the session
// that it is about.
type Base struct {
	Link         *link.Link
	Overlays     *overlay.Stack
	Toasts       *status.Toasts
	Session      Session
	Screen       Screen
	Dir, WorkDir string // the user's Scorel folder, and that of new sessions
}

// ask sends a request of the session beside all others.
func ask[R protocol.Response](b Base, req protocol.Request, f func(r R) tea.Cmd) tea.Cmd {
	return askOf(b, b.Session.ID(), req, f)
}

// askOf sends a request of any session, "" for none, and shows its error.
func askOf[R protocol.Response](b Base, id protocol.SessionID, req protocol.Request, f func(r R) tea.Cmd) tea.Cmd {
	return link.Ask(b.Link, id, req, func(r R, err error) tea.Cmd {
		if err != nil {
			b.Toasts.Fail(err)
			return nil
		}
		return f(r)
	})
}

// ordered sends a request of the session in the order of what was typed, and shows its
// error.
func ordered[R protocol.Response](b Base, req protocol.Request, f func(r R) tea.Cmd) tea.Cmd {
	return link.Ordered(b.Link, func(ctx context.Context, to link.Target) (R, error) {
		return client.Call[R](ctx, to.Client, to.Session, req)
	}, func(r R, err error) tea.Cmd {
		if err != nil {
			b.Toasts.Fail(err)
			return nil
		}
		return f(r)
	})
}

// act sends a request of the session that returns nothing. What was done is shown unless
// it is "".
func act(b Base, req protocol.Request, done string) tea.Cmd {
	return ordered(b, req, func(*protocol.Done) tea.Cmd {
		if done != "" {
			b.Toasts.Info(done)
		}
		return nil
	})
}

// change changes what the session's meta says. The event reaches everybody.
func change(b Base, changes protocol.MetaChanges) tea.Cmd {
	return act(b, &protocol.UpdateInfo{Changes: changes}, "")
}

// edit puts a text into the editor, above what is typed.
func edit(b Base, e Editor, text string) tea.Cmd {
	if !e.Empty() {
		text += "\n" + e.Text()
		b.Toasts.Info("what you had typed is below the message")
	}
	return e.Set(text)
}

// busy is shown when there is no room for a request in order.
const busy = "too many requests wait; try again when the host has answered"

// workDir is what requests that may do without a session are about.
func (b Base) workDir() string {
	if b.Session.ID() != "" {
		return ""
	}
	return b.WorkDir
}

// table shows the rows of an answer of the host in a picker.
func table[R protocol.Response](b Base, cfg list.Config, req protocol.Request, rows func(r R) []list.Item, p *overlay.Picker) tea.Cmd {
	cfg.Can |= list.Filter
	cfg.Loading = true
	p.List = list.New(cfg)
	return tea.Batch(b.Overlays.Pick(p), load(b, b.Session.ID(), p, req, rows))
}

// load asks for the rows of a picker.
func load[R protocol.Response](b Base, id protocol.SessionID, p *overlay.Picker, req protocol.Request, rows func(r R) []list.Item) tea.Cmd {
	return link.Ask(b.Link, id, req, func(r R, err error) tea.Cmd {
		if err != nil {
			p.List.SetProblem(err.Error())
			return nil
		}
		p.List.SetItems(rows(r))
		return p.Wants()
	})
}

// problems lists sentences about what does not count.
func problems(texts []string) []list.Item {
	var items []list.Item
	for i, t := range texts {
		items = append(items, list.Item{ID: fmt.Sprint("\x00", i), Title: t, Mark: "!", Tone: list.Warn, Group: "Problems", Disabled: t})
	}
	return items
}

// stateMark returns the mark and tone of something in a state.
func (b Base) stateMark(state string) (string, list.Tone) {
	box := b.Screen.Theme().Box
	switch state {
	case "loaded", "ok":
		return box.Check, list.Good
	case "failed", "broken", "stopped":
		return box.Cross, list.Bad
	case "untrusted", "changed":
		return "!", list.Warn
	}
	return box.Dot, list.Quiet
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// line makes text safe to be in a line.
func line(s string) string { return display.Line(s) }

// cut returns the beginning of a text, safe to be in a line.
func cut(s string, width int) string { return cell.Cut(line(s), width, "…") }

// dollars writes what something cost, "" where that is not known.
func dollars(u protocol.Usage) string {
	if u.CostUSD == 0 {
		return ""
	}
	return fmt.Sprintf("$%.4f", u.CostUSD)
}
