package tui

import (
	"slices"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/agents"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
)

// agentView lists the agents that work in the background below the editor, and shows the
// session of one over the main conversation, which goes on below it.
type agentView struct {
	*Model
	strip  agents.Strip
	header *status.Welcome // of the main conversation, while an agent is shown
	asked  []string        // what the main conversation asks, of what was told while an agent is shown
	row    int             // the first row of the strip on the screen, as it was drawn last
	rows   int             // and how many it has
}

// commandsOf returns the tasks that are commands: agents have rows of their own.
func commandsOf(tasks []protocol.TaskInfo) []protocol.TaskInfo {
	var commands []protocol.TaskInfo
	for _, t := range tasks {
		if t.SessionID == "" {
			commands = append(commands, t)
		}
	}
	return commands
}

// sync takes who works now.
func (v *agentView) sync() {
	v.strip.Sync(v.session.MainID(), v.session.Main().Tasks, v.session.ID(), time.Now())
}

// render draws the strip, at most height lines.
func (v *agentView) render(height int) []string {
	hint := v.prefs.hint
	return v.strip.Render(v.window.theme, v.window.width, height, agents.Main{Running: v.session.Main().Running, Asking: len(v.questions()) > 0},
		agents.Keys{Up: hint(keymap.AgentsUp), Down: hint(keymap.AgentsDown), View: hint(keymap.AgentsView), Leave: hint(keymap.AgentsLeave),
			End: hint(keymap.AgentEnd), Focus: hint(keymap.Down), Manage: hint(keymap.ShowTasks)}, time.Now())
}

// questions are what the main conversation asks while an agent is shown, but for what that
// asks there, too.
func (v *agentView) questions() []string {
	if !v.session.Over() {
		return nil
	}
	var ids []string
	of := func(s *protocol.Subagent) bool { return s != nil && s.SessionID == v.session.ID() }
	for _, p := range v.session.Main().Permissions {
		if !of(p.Subagent) {
			ids = append(ids, string(p.PermissionID))
		}
	}
	for _, u := range v.session.Main().UI {
		if !of(u.Data.Subagent) {
			ids = append(ids, u.UIID)
		}
	}
	return ids
}

// mainAsks tells that the main conversation asks something while an agent is shown.
func (v *agentView) mainAsks() tea.Cmd {
	ids := v.questions()
	fresh := slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(v.asked, id) })
	if v.asked = ids; !fresh {
		return nil
	}
	v.toasts.Warn("the main conversation waits for your answer; " + v.prefs.hint(keymap.Cancel) + " goes back to it")
	return v.window.notify("Scorel waits for you")
}

// name is how the agent is called that is shown.
func (v *agentView) name() string {
	t, _ := v.strip.Viewed()
	switch d := agents.Description(t); {
	case t.Agent == "":
		return "the agent"
	case d == "":
		return display.Line(t.Agent)
	default:
		return display.Line(t.Agent) + ": " + d
	}
}

// ViewAgent shows the session of an agent over the main conversation.
func (v *agentView) ViewAgent(id protocol.SessionID) tea.Cmd {
	if !v.link.ShowOver(id, func(err error) tea.Cmd { v.toasts.Fail(err); return nil }) {
		v.toasts.Warn("too many requests wait; try again when the host has answered")
	}
	return nil
}

// leave shows the main conversation again.
func (v *agentView) leave() tea.Cmd {
	if v.session.Over() && !v.link.BackUnder() {
		v.toasts.Warn("too many requests wait; try again when the host has answered")
	}
	return nil
}

// cover shows the session of an agent that was opened over the main one.
func (v *agentView) cover(o link.Opened) {
	if !v.session.Over() {
		v.header, v.status.header = v.status.header, nil
		v.reading.cover()
	}
	v.reading.end()
	v.forgetShown()
	v.input.Cover(v.session.ID(), o.ID)
	v.session.OpenOver(o)
	v.asked = v.questions()
}

// uncover shows the main conversation where it was left.
func (v *agentView) uncover() {
	if !v.session.Over() {
		return
	}
	left := v.session.ID()
	v.reading.end()
	v.forgetShown()
	v.session.Return()
	v.status.header, v.header, v.asked = v.header, nil, nil
	v.reading.uncover()
	v.focus.questions.Clear()
	v.input.Uncover(left)
}

// focused reports whether the strip takes the keys.
func (v *agentView) focused() bool { return v.strip.Focused(time.Now()) }

// enter gives the strip the keys; false when nobody is listed.
func (v *agentView) enter() bool { return v.strip.Focus(time.Now()) }

// Places says where keys of the strip count.
func (v *agentView) Places() []keymap.Place { return []keymap.Place{keymap.Agents, keymap.Agent} }

// Do does an action of the strip.
func (v *agentView) Do(a keymap.Action) tea.Cmd {
	now := time.Now()
	if a != keymap.AgentEnd {
		v.strip.Disarm(now)
	}
	switch a {
	case keymap.AgentsUp:
		v.strip.Up(now)
	case keymap.AgentsDown:
		v.strip.Down(now)
	case keymap.AgentsView:
		return v.show(v.strip.Pick(now))
	case keymap.AgentsLeave:
		v.strip.Blur()
		return v.leave()
	case keymap.AgentEnd:
		return v.end()
	}
	return nil
}

// show shows a session of a row; "" is none.
func (v *agentView) show(id protocol.SessionID) tea.Cmd {
	switch id {
	case "", v.session.ID():
		return nil
	case v.session.MainID():
		return v.leave()
	}
	return v.ViewAgent(id)
}

// Insert types into the editor: who types is done with the strip.
func (v *agentView) Insert(text string) tea.Cmd {
	v.strip.Disarm(time.Now())
	v.strip.Blur()
	return v.input.Insert(text)
}

// Paste is Insert for what was pasted.
func (v *agentView) Paste(text string) tea.Cmd {
	v.strip.Blur()
	return v.input.Paste(text)
}

// unused returns the letter that was pressed to stop the agent and is text after all: another
// key than the same one follows it.
func (v *agentView) unused() string {
	key := v.prefs.hint(keymap.AgentEnd)
	if v.strip.Disarm(time.Now()) && utf8.RuneCountInString(key) == 1 {
		return key
	}
	return ""
}

// end stops the agent that is highlighted, or has one that has ended listed no more.
func (v *agentView) end() tea.Cmd {
	switch e := v.strip.End(time.Now()); {
	case e.Cleared != "" && e.Cleared == v.session.ID():
		return v.leave()
	case e.Stop != "":
		return link.Ask(v.link, v.session.MainID(), &protocol.StopTask{TaskID: e.Stop}, func(_ *protocol.TaskInfo, err error) tea.Cmd {
			if err != nil {
				v.strip.Works(e.Stop)
				v.toasts.Fail(err)
			}
			return nil
		})
	}
	return nil
}

// clicked reports whether a message is a click on the strip.
func (v *agentView) clicked(msg tea.MouseMsg) bool {
	m := msg.Mouse()
	_, click := msg.(tea.MouseClickMsg)
	if !click || m.Button != tea.MouseLeft {
		return false
	}
	on := m.Y >= v.row && m.Y < v.row+v.rows
	if !on {
		v.strip.Blur()
	}
	return on
}

// pick shows the session of the row that was clicked.
func (v *agentView) pick(y int) tea.Cmd { return v.show(v.strip.Click(y-v.row, time.Now())) }
