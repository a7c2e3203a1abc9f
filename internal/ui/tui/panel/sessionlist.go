package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	sessionPage   = 200 // sessions that the picker asks for at once
	previewEvents = 12  // events that a preview shows
	searchShort   = 3   // characters from which on the contents are searched too
)

// sessionList is the picker of sessions and what it knows.
type sessionList struct {
	*Sessions
	picker   *overlay.Picker
	all      bool
	sessions []protocol.SessionSummary
	found    []protocol.FoundSession
	more     bool
	loads    int // how often the list was asked for
	query    string
	// A search reads all that was ever said: one is under way at a time, and again says
	// that another one is wanted after it.
	searching, again bool
	unsearched       bool // it was told that some sessions could not be searched wholly
}

func (s *sessionList) projectID() protocol.ProjectID {
	p := s.info.Project()
	if s.all || p == nil {
		return ""
	}
	return p.ProjectID
}

// load asks for the sessions, or for more of them.
func (s *sessionList) load() tea.Cmd {
	req := &protocol.ListSessions{ProjectID: s.projectID(), Limit: sessionPage}
	if n := len(s.sessions); n > 0 {
		req.Before, req.BeforeTime = s.sessions[n-1].SessionID, s.sessions[n-1].UpdatedAt
	}
	s.loads++
	number := s.loads
	return link.Ask(s.Link, "", req, func(got *protocol.SessionList, err error) tea.Cmd {
		if number != s.loads { // a newer answer is on its way
			return nil
		}
		if err != nil {
			s.picker.List.SetProblem(err.Error())
			return nil
		}
		s.sessions, s.more = append(s.sessions, got.Sessions...), got.More
		s.items()
		return s.picker.Wants()
	})
}

// items shows the sessions by title, and after them those that say what is looked for.
func (s *sessionList) items() {
	now := time.Now()
	var items []list.Item
	titled := map[protocol.SessionID]bool{}
	for _, x := range s.sessions {
		titled[x.SessionID] = true
		it := list.Item{ID: string(x.SessionID), Title: display.Line(x.Title()), Right: age(now, x.UpdatedAt), Search: string(x.SessionID)}
		if it.Title == "" {
			it.Title = string(x.SessionID)
		}
		if s.all {
			it.Detail = x.Meta.WorkDir
		}
		switch {
		case x.State != nil && x.State.Asking:
			it.Mark, it.Tone = "?", list.Warn
		case x.State != nil && x.State.Running:
			it.Mark, it.Tone = "●", list.Active
		case x.Damaged != "":
			it.Mark, it.Tone = "!", list.Bad
		}
		if x.LockedBy != "" && x.State == nil { // not this host
			it.Right, it.Detail = "in use", strings.TrimSpace(it.Detail+" held by "+x.LockedBy)
		}
		if x.SessionID == s.Session.ID() {
			it.Right = "this one"
		}
		items = append(items, it)
	}
	for _, f := range s.found {
		for _, hit := range f.Hits[:min(1, len(f.Hits))] {
			title := f.Meta.Name
			if title == "" {
				title = f.FirstPrompt
			}
			items = append(items, list.Item{ID: string(f.SessionID) + foundMark, Title: display.Line(title), Snippet: hit.Snippet,
				Right: age(now, f.UpdatedAt), Group: "said in", Search: s.query})
		}
	}
	s.picker.List.SetItems(items)
}

// pick shows a session; one that was found by what was said in it, at that place.
func (s *sessionList) pick(item string) tea.Cmd {
	id := sessionOf(item)
	text := ""
	if i := slices.IndexFunc(s.found, func(f protocol.FoundSession) bool { return f.SessionID == id }); i >= 0 && item != string(id) {
		text = matched(s.found[i].Hits)
	}
	return tea.Batch(s.Show(id), s.reader.JumpTo(id, text))
}

// matched returns what the first hit has found, "" when that is not on the active path.
func matched(hits []protocol.SearchHit) string {
	if len(hits) == 0 || !hits[0].Active {
		return ""
	}
	i := slices.IndexFunc(hits[0].Snippet, func(p protocol.SnippetPart) bool { return p.Match })
	if i < 0 {
		return ""
	}
	return display.Line(hits[0].Snippet[i].Text)
}

// foundMark ends the ID of an item that a search has found: its session may be above
// by its title too.
const foundMark = "\x00"

func sessionOf(item string) protocol.SessionID {
	return protocol.SessionID(strings.TrimSuffix(item, foundMark))
}

// wants loads what the picker wants to know.
func (s *sessionList) wants(w list.Wants) tea.Cmd {
	var cmds []tea.Cmd
	if w.More && s.more {
		s.more = false
		cmds = append(cmds, s.load())
	}
	if w.Asks {
		s.query = w.Typed
		cmds = append(cmds, s.search())
	}
	if id := sessionOf(w.Preview); id != "" {
		shown := w.Preview
		cmds = append(cmds, link.Ask(s.Link, id, &protocol.GetPath{Limit: previewEvents}, func(page *protocol.Events, err error) tea.Cmd {
			if err != nil {
				s.picker.List.SetPreview(shown, []string{s.Screen.Theme().Warning.On(line(err.Error()))})
				return nil
			}
			s.picker.List.SetPreview(shown, preview(s.Screen.Theme(), page.Events, list.PreviewWidth(s.Screen.Width())))
			return nil
		}))
	}
	return tea.Batch(cmds...)
}

// search looks into what was said.
func (s *sessionList) search() tea.Cmd {
	query := s.query
	words := strings.Fields(query)
	if len(query) < searchShort || len(words) == 0 {
		s.found = nil
		s.items()
		return s.picker.Wants()
	}
	if s.searching {
		s.again = true
		return nil
	}
	s.searching = true
	return link.Ask(s.Link, "", &protocol.SearchSessions{Words: words[:min(len(words), 16)], ProjectID: s.projectID()}, func(got *protocol.SearchResult, err error) tea.Cmd {
		s.searching = false
		if s.again {
			s.again = false
			return s.search()
		}
		if s.query != query {
			return nil
		}
		if err != nil {
			s.picker.List.SetProblem(err.Error())
			return nil
		}
		if texts := display.Unsearched(got); !s.unsearched && len(texts) > 0 {
			s.unsearched = true
			s.Toasts.Warn(strings.Join(texts, " "))
		}
		s.found = got.Sessions
		s.items()
		return s.picker.Wants()
	})
}

// other deletes, renames, or changes what the list is about.
func (s *sessionList) other(o list.Outcome) tea.Cmd {
	var id protocol.SessionID
	if len(o.IDs) > 0 {
		id = sessionOf(o.IDs[0])
	}
	again := func(err error) tea.Cmd {
		if err != nil {
			s.Toasts.Fail(err)
		}
		s.sessions = nil
		return tea.Batch(s.load(), s.search())
	}
	switch o.Kind {
	case list.ScopeTaken:
		s.all, s.sessions, s.found = o.Scope == 1, nil, nil
		s.picker.List.SetLoading()
		return tea.Batch(s.load(), s.search())
	case list.Deleted:
		if id == s.Session.ID() {
			s.Toasts.Warn("this session is open; leave it with /new before it is deleted")
			return nil
		}
		return link.Ask(s.Link, id, &protocol.DeleteSession{}, func(d *protocol.Deleted, err error) tea.Cmd {
			if err == nil {
				for _, text := range display.Deleted(d) {
					s.Toasts.Info(text)
				}
			}
			return again(err)
		})
	case list.Renamed:
		return link.Ask(s.Link, id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &o.Text}}, func(_ *protocol.Done, err error) tea.Cmd { return again(err) })
	}
	return nil
}

// preview shows the newest events of a session, the oldest of them first.
func preview(th *theme.Theme, newest []protocol.Event, width int) []string {
	var lines []string
	for i := len(newest) - 1; i >= 0; i-- {
		it := display.Of(newest[i])
		text := it.Text
		style := th.Text
		switch {
		case it.Kind == display.Bubble && it.Role == protocol.RoleUser:
			style = th.User
			text = "> " + text
		case it.Kind == display.Bubble:
			for _, part := range it.Parts {
				if part.Kind == display.Bubble {
					text += part.Text
				} else if part.Kind == display.Tool {
					text += "\n" + part.ToolName + " " + part.Title
				}
			}
		default:
			continue
		}
		for l := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			lines = append(lines, style.On(cut(l, width)))
		}
		lines = append(lines, "")
	}
	return lines
}

// age says how long ago something was, in a few characters.
func age(now time.Time, ms int64) string {
	d := now.Sub(time.UnixMilli(ms))
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return time.UnixMilli(ms).Format("2006-01-02")
}
