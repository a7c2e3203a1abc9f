package tui

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"scorel/client"
	"scorel/internal/ui/tui/list"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	sessionPage   = 200 // sessions that the picker asks for at once
	previewEvents = 12  // events that a preview shows
	searchShort   = 3   // characters from which on the contents are searched too
)

// openSessions lets the person pick a session, by its title or by what was said in it.
func (m *Model) openSessions() tea.Cmd {
	p := &picker{list: list.New(list.Config{Title: "Sessions", Can: list.Filter | list.Query | list.Preview | list.Delete | list.Rename,
		Scopes: []string{"this project", "all"}, Scope: scopeOf(m.cfg.WorkDir != ""), Loading: true, Empty: "There is no session yet.", On: string(m.id),
		Confirm: "Delete %s with its log for good?"})}
	s := &sessionPicker{all: m.cfg.WorkDir == ""}
	p.onPick = func(m *Model, ids []string) tea.Cmd { return s.pick(m, ids[0]) }
	p.onOther = func(m *Model, p *picker, o list.Outcome) tea.Cmd { return s.other(m, p, o) }
	p.onWants = func(m *Model, p *picker, w list.Wants) tea.Cmd { return s.wants(m, p, w) }
	return tea.Batch(m.pick(p), m.reached(func(m *Model) tea.Cmd {
		if s.query == "" {
			return s.load(m, p)
		}
		return tea.Batch(s.load(m, p), s.search(m, p))
	}))
}

// reached goes on when the host was reached, or cannot be: the model knows the project
// then, which the link tells before.
func (m *Model) reached(f then) tea.Cmd {
	ready, done := m.link.ready, m.ctx.Done()
	return func() tea.Msg {
		select {
		case <-ready:
			return f
		case <-done:
			return nil
		}
	}
}

func scopeOf(project bool) int {
	if project {
		return 0
	}
	return 1
}

// sessionPicker is what the picker of sessions knows.
type sessionPicker struct {
	all      bool
	sessions []protocol.SessionSummary
	found    []protocol.FoundSession
	more     bool
	loads    int // how often the list was asked for
	query    string
	// A search reads all that was ever said: one is under way at a time, and again says
	// that another one is wanted behind it.
	searching, again bool
}

func (s *sessionPicker) project(m *Model) protocol.ProjectID {
	if s.all || m.project == nil {
		return ""
	}
	return m.project.ProjectID
}

// load asks for the sessions, or for more of them.
func (s *sessionPicker) load(m *Model, p *picker) tea.Cmd {
	req := &protocol.ListSessions{ProjectID: s.project(m), Limit: sessionPage}
	if n := len(s.sessions); n > 0 {
		req.Before, req.BeforeTime = s.sessions[n-1].SessionID, s.sessions[n-1].UpdatedAt
	}
	s.loads++
	number := s.loads
	return ask(m, "", req, func(m *Model, got *protocol.SessionList, err error) tea.Cmd {
		if number != s.loads { // a newer answer is on its way
			return nil
		}
		if err != nil {
			p.list.SetProblem(err.Error())
			return nil
		}
		s.sessions, s.more = append(s.sessions, got.Sessions...), got.More
		s.items(m, p)
		return p.wants(m)
	})
}

// items shows the sessions by title, and behind them those that say what is looked for.
func (s *sessionPicker) items(m *Model, p *picker) {
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
		if x.SessionID == m.id {
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
	p.list.SetItems(items)
}

// pick shows a session; one that was found by what was said in it, at that place.
func (s *sessionPicker) pick(m *Model, item string) tea.Cmd {
	id := sessionOf(item)
	m.jump = jump{}
	if i := slices.IndexFunc(s.found, func(f protocol.FoundSession) bool { return f.SessionID == id }); i >= 0 && item != string(id) {
		m.jump = jump{id, matched(s.found[i].Hits)}
	}
	return tea.Batch(m.show(id), m.land())
}

// matched gives what the first hit has found, "" when that is not on the active path.
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

// jump is a place to be shown in a session, as soon as that is there.
type jump struct {
	id   protocol.SessionID
	text string // that stands there
}

// land shows the place of the jump.
func (m *Model) land() tea.Cmd {
	if m.jump.text == "" || m.jump.id != m.id || m.transcript.Oldest() == "" {
		return nil
	}
	text := m.jump.text
	m.jump = jump{}
	end := m.transcript.View(m.theme, m.width, m.height) // a search needs a width, too
	if strings.Contains(strings.ToLower(ansi.Strip(strings.Join(end, "\n"))), strings.ToLower(text)) {
		return nil // it is seen anyway
	}
	m.readOn()
	m.transcript.Search(text)
	return m.older(m.transcript.WantOlder())
}

// foundMark ends the ID of an item that a search has found: its session may stand above
// by its title too.
const foundMark = "\x00"

func sessionOf(item string) protocol.SessionID {
	return protocol.SessionID(strings.TrimSuffix(item, foundMark))
}

// wants loads what the picker wants to know.
func (s *sessionPicker) wants(m *Model, p *picker, w list.Wants) tea.Cmd {
	var cmds []tea.Cmd
	if w.More && s.more {
		s.more = false
		cmds = append(cmds, s.load(m, p))
	}
	if w.Asks {
		s.query = w.Typed
		cmds = append(cmds, s.search(m, p))
	}
	if id := sessionOf(w.Preview); id != "" {
		shown := w.Preview
		cmds = append(cmds, ask(m, id, &protocol.GetPath{Limit: previewEvents}, func(m *Model, page *protocol.Events, err error) tea.Cmd {
			if err != nil {
				p.list.SetPreview(shown, []string{m.theme.Warning.On(line(err.Error()))})
				return nil
			}
			p.list.SetPreview(shown, m.preview(page.Events, list.PreviewWidth(m.width)))
			return nil
		}))
	}
	return tea.Batch(cmds...)
}

// search looks into what was said.
func (s *sessionPicker) search(m *Model, p *picker) tea.Cmd {
	query := s.query
	words := strings.Fields(query)
	if len(query) < searchShort || len(words) == 0 {
		s.found = nil
		s.items(m, p)
		return p.wants(m)
	}
	if s.searching {
		s.again = true
		return nil
	}
	s.searching = true
	return ask(m, "", &protocol.SearchSessions{Words: words[:min(len(words), 16)], ProjectID: s.project(m)}, func(m *Model, got *protocol.SearchResult, err error) tea.Cmd {
		s.searching = false
		if s.again {
			s.again = false
			return s.search(m, p)
		}
		if s.query != query {
			return nil
		}
		if err != nil {
			p.list.SetProblem(err.Error())
			return nil
		}
		s.found = got.Sessions
		s.items(m, p)
		return p.wants(m)
	})
}

// other deletes, renames, or changes what the list is about.
func (s *sessionPicker) other(m *Model, p *picker, o list.Outcome) tea.Cmd {
	var id protocol.SessionID
	if len(o.IDs) > 0 {
		id = sessionOf(o.IDs[0])
	}
	again := func(m *Model, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
		}
		s.sessions = nil
		return tea.Batch(s.load(m, p), s.search(m, p))
	}
	switch o.Kind {
	case list.ScopeTaken:
		s.all, s.sessions, s.found = o.Scope == 1, nil, nil
		p.list.SetLoading()
		return tea.Batch(s.load(m, p), s.search(m, p))
	case list.Deleted:
		if id == m.id {
			m.toast(levelWarning, "this session is open; leave it with /new before it is deleted")
			return nil
		}
		return ask(m, id, &protocol.DeleteSession{}, func(m *Model, d *protocol.Deleted, err error) tea.Cmd {
			if err == nil {
				for _, s := range display.Deleted(d) {
					m.toast(levelInfo, s)
				}
			}
			return again(m, err)
		})
	case list.Renamed:
		return ask(m, id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &o.Text}}, func(m *Model, _ *protocol.Done, err error) tea.Cmd { return again(m, err) })
	}
	return nil
}

// preview shows the newest events of a session, the oldest of them first.
func (m *Model) preview(newest []protocol.Event, width int) []string {
	var lines []string
	for i := len(newest) - 1; i >= 0; i-- {
		it := display.Of(newest[i])
		text := it.Text
		style := m.theme.Text
		switch {
		case it.Kind == display.Bubble && it.Role == protocol.RoleUser:
			style = m.theme.User
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

// newSession begins another session. It is made when something is sent.
func (m *Model) newSession() tea.Cmd {
	m.link.do(func(ctx context.Context, l *link) then {
		l.close()
		l.mode = l.cfg.Start.Mode
		return func(m *Model) tea.Cmd {
			m.startMode = m.cfg.Start.Mode
			m.gen = -1
			cmd := m.opened(opened{fresh: true})
			m.banner(protocol.SessionSummary{})
			return cmd
		}
	})
	return nil
}

// resume shows another session.
func (m *Model) resume(name string) tea.Cmd {
	if name == "" {
		return m.openSessions()
	}
	return m.find(name)
}

// rename names the session.
func (m *Model) rename(name string) tea.Cmd {
	if name == "" {
		m.toast(levelWarning, "say how: /rename NAME")
		return nil
	}
	return m.act(&protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}, "the session is called "+name)
}

// clone goes on in a copy of the session.
func (m *Model) clone(name string) tea.Cmd { return m.copyFrom("", name, "") }

// copyFrom goes on in a copy that ends with an event (the leaf when it is ""), with text
// in the editor.
func (m *Model) copyFrom(event protocol.EventID, name, text string) tea.Cmd {
	if m.id == "" {
		m.toast(levelWarning, "there is nothing to copy yet")
		return nil
	}
	var notices []string
	return ordered(m, func(ctx context.Context, l *link) (protocol.SessionID, error) {
		id := protocol.NewSessionID(time.Now(), rand.Reader)
		s, err := client.Call[*protocol.SessionSummary](ctx, l.client, id, &protocol.CloneSession{FromSessionID: l.id, FromEventID: event, Name: name})
		if err != nil {
			return "", err
		}
		notices = s.Notices
		return id, l.open(ctx, id, false)
	}, func(m *Model, id protocol.SessionID, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		m.toast(levelInfo, "this is a copy; the other session stays as it was")
		for _, n := range notices {
			m.toast(levelWarning, n)
		}
		if text != "" && m.editor.Empty() {
			if err := m.editor.Set(text); err != nil {
				m.fail(err)
			}
		}
		return m.typed()
	})
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
