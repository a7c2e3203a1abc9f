package panel

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
)

// AtWork shows the sessions that the host has open: those that ask something first, then those
// at work. Enter shows one.
func (x *Sessions) AtWork() tea.Cmd {
	p := &overlay.Picker{}
	x.atWork = p
	p.OnClose = func() tea.Cmd { x.atWork = nil; return nil }
	p.OnPick = func(ids []string) tea.Cmd {
		x.atWork = nil
		return x.Show(protocol.SessionID(ids[0]))
	}
	return table(x.Base, list.Config{Title: "Sessions of the host", PickWord: "open", Empty: "The host has no session open.", On: string(x.Session.ID())}, &protocol.GetStatus{}, x.itemsAtWork, p)
}

// Changed shows in the list of sessions at work how they are now, while it is open.
func (x *Sessions) Changed() tea.Cmd {
	if x.atWork == nil || x.asked {
		x.again = x.asked
		return nil
	}
	x.asked, x.again = true, false
	return link.Ask(x.Link, x.Session.ID(), &protocol.GetStatus{}, func(s *protocol.Status, err error) tea.Cmd {
		x.asked = false
		if p := x.atWork; err == nil && p != nil {
			p.List.SetItems(x.itemsAtWork(s))
		}
		if x.again {
			return x.Changed()
		}
		return nil
	})
}

func (x *Sessions) itemsAtWork(s *protocol.Status) (items []list.Item) {
	slices.SortStableFunc(s.Sessions, func(a, b protocol.SessionState) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.SessionID, a.SessionID))
	})
	for _, ss := range s.Sessions {
		items = append(items, x.itemAtWork(&ss))
	}
	return items
}

// rank orders sessions by who needs somebody most.
func rank(s *protocol.SessionState) int {
	return slices.Index(display.States(), display.StateOf(s))
}

// proactive is the group of sessions in proactive mode that rest.
const proactive = "works by itself"

func (x *Sessions) itemAtWork(s *protocol.SessionState) list.Item {
	box := x.Screen.Theme().Box
	item := list.Item{ID: string(s.SessionID), Title: line(cmp.Or(s.Title, "(no message)")), Mark: box.Dot, Tone: list.Quiet, Group: "idle"}
	switch display.StateOf(s) {
	case "asks":
		item.Mark, item.Tone, item.Group = "?", list.Warn, "waits for an answer"
	case "works":
		item.Tone, item.Group = list.Good, "at work"
	case "queued":
		item.Group = "messages wait"
	case "failed":
		item.Tone, item.Group = list.Warn, "failed"
	case "proactive":
		item.Tone, item.Group = list.Good, proactive
	}
	details := []string{cmp.Or(s.Question, s.Activity, s.Failed)}
	if item.Group == proactive {
		details = append(details, display.ProactiveNext(s.Automation, time.Now()))
	}
	if s.Queued > 0 {
		details = append(details, plain.Count(s.Queued, "waiting message"))
	}
	if s.Tasks > 0 {
		details = append(details, plain.Count(s.Tasks, "background command"))
	}
	details = slices.DeleteFunc(details, func(d string) bool { return d == "" })
	item.Detail = line(strings.Join(details, ", "))
	if s.CostUSD > 0 {
		item.Right = status.Cost(s.CostUSD)
	}
	return item
}

// Background starts a session beside this one, which works on prompt.
func (x *Sessions) Background(prompt string) tea.Cmd {
	if prompt == "" {
		x.Toasts.Warn("say what is to be done: /bg PROMPT")
		return nil
	}
	return x.Link.Background(prompt, func(id protocol.SessionID, err error) tea.Cmd {
		switch {
		case err != nil && id != "":
			x.Toasts.Warn("the session " + string(id) + " was made, but the message was not taken: " + line(err.Error()))
		case err != nil:
			x.Toasts.Fail(err)
		default:
			x.Toasts.Info("another session works on it; /ps shows how it goes")
		}
		return nil
	})
}
