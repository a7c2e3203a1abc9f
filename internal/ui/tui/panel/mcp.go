package panel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/protocol"
	"scorel/protocol/display"
)

// MCP shows the MCP servers of the session, or of its folder, and what can be done with them.
type MCP struct {
	Base
	open    *overlay.Picker // the list that is shown, nil for none
	servers map[string]protocol.MCPServerInfo
	awaited string             // the server that is reconnected with, until it is known what came of it
	of      protocol.SessionID // whose server it is
}

// NewMCP returns the panel.
func NewMCP(b Base) *MCP { return &MCP{Base: b} }

// Run opens the list, or does what args say: enable, disable or reconnect, and a name.
func (x *MCP) Run(args string) tea.Cmd {
	verb, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	switch {
	case verb == "":
		return x.Open()
	case name == "" || strings.Contains(name, " ") || !slices.Contains([]string{"enable", "disable", "reconnect", "login", "log"}, verb):
		x.Toasts.Warn("/mcp shows the servers; /mcp enable NAME, disable, reconnect, login and log do one thing")
		return nil
	case verb == "reconnect":
		return x.reconnect(name)
	case verb == "login":
		return x.login(name, nil)
	case verb == "log":
		return x.log(name, nil)
	}
	return x.enable(name, verb == "enable")
}

// Open shows the list.
func (x *MCP) Open() tea.Cmd {
	p := &overlay.Picker{}
	p.OnPick = func(ids []string) tea.Cmd {
		x.open = nil
		return x.server(x.servers[ids[0]])
	}
	p.OnClose = func() tea.Cmd { x.open = nil; return nil }
	x.open = p
	return table(x.Base, list.Config{Title: "MCP servers", TwoLines: true, PickWord: "open", Empty: "No MCP servers. scorel mcp add NAME -- COMMAND adds one, scorel mcp import copies those of another program."},
		&protocol.ListMCPServers{WorkDir: x.workDir()}, x.rows, p)
}

// Changed shows the servers again, where they are shown.
func (x *MCP) Changed() tea.Cmd { return tea.Batch(x.refresh(), x.outcome()) }

// outcome says what came of a reconnection that was asked for, once that is known.
func (x *MCP) outcome() tea.Cmd {
	if x.awaited == "" || x.of != x.Session.ID() {
		return nil
	}
	return ask(x.Base, &protocol.ListMCPServers{}, func(r *protocol.MCPServerList) tea.Cmd {
		i := slices.IndexFunc(r.Servers, func(s protocol.MCPServerInfo) bool { return s.Name == x.awaited })
		if i < 0 || r.Servers[i].State == protocol.MCPPending {
			return nil
		}
		s := r.Servers[i]
		x.awaited = ""
		switch {
		case s.State == protocol.MCPConnected:
			x.Toasts.Info(line(s.Name) + " is connected again, with " + counted(s.Tools, "tool"))
		case s.Problem == "":
			x.Toasts.Warn(line(s.Name) + " is not connected: " + strings.ReplaceAll(string(s.State), "-", " "))
		default:
			x.Toasts.Warn(line(s.Name) + " is not connected: " + line(s.Problem))
		}
		return nil
	})
}

func (x *MCP) refresh() tea.Cmd {
	if x.open == nil || !slices.Contains(x.Overlays.All(), overlay.Overlay(x.open)) {
		return nil
	}
	return load(x.Base, x.Session.ID(), x.open, &protocol.ListMCPServers{WorkDir: x.workDir()}, x.rows)
}

// rows are the items of the list.
func (x *MCP) rows(r *protocol.MCPServerList) []list.Item {
	x.servers = map[string]protocol.MCPServerInfo{}
	var items []list.Item
	tools, connected := 0, 0
	for i, s := range r.Servers {
		id := fmt.Sprint(i, " ", s.Name)
		x.servers[id] = s
		tools += s.Tools
		it := list.Item{ID: id, Title: s.Name, Right: strings.ReplaceAll(string(s.State), "-", " "), Detail: line(s.Problem)}
		if it.Detail == "" {
			it.Detail = strings.Join(x.about(s), " · ")
		}
		it.Mark, it.Tone = x.mcpMark(s.State)
		if s.State == protocol.MCPConnected {
			connected++
		}
		if s.State == protocol.MCPSuppressed {
			it.Group, it.Disabled = "Not used", "it is not used: "+line(s.Problem)
		}
		items = append(items, it)
	}
	title := "MCP servers"
	if connected > 0 {
		title += fmt.Sprintf(" (%d connected, %s", connected, counted(tools, "tool"))
		if r.SavedTokens > 0 {
			title += ", " + plain.Thousands(r.SavedTokens) + " tokens saved"
		}
		title += ")"
	}
	if x.open != nil {
		x.open.List.SetTitle(title)
	}
	return append(items, problems(r.Problems)...)
}

// about says what a server is and has.
func (x *MCP) about(s protocol.MCPServerInfo) []string {
	var parts []string
	if s.State == protocol.MCPConnected {
		parts = append(parts, counted(s.Tools, "tool"))
		if s.Prompts > 0 {
			parts = append(parts, counted(s.Prompts, "prompt"))
		}
		if s.Resources > 0 {
			parts = append(parts, counted(s.Resources, "resource"))
		}
	}
	return append(parts, s.Type, s.Scope, line(s.Target))
}

func (x *MCP) mcpMark(s protocol.MCPState) (string, list.Tone) {
	box := x.Screen.Theme().Box
	switch s {
	case protocol.MCPConnected:
		return box.Check, list.Good
	case protocol.MCPFailed, protocol.MCPRefused:
		return box.Cross, list.Bad
	case protocol.MCPNeedsAuth:
		return "!", list.Warn
	}
	return box.Dot, list.Quiet
}

// server offers what can be done with a server.
func (x *MCP) server(s protocol.MCPServerInfo) tea.Cmd {
	var items []list.Item
	add := func(id, title, detail string) { items = append(items, list.Item{ID: id, Title: title, Detail: detail}) }
	inUse := x.Session.ID() != "" && slices.Contains([]protocol.MCPState{protocol.MCPConnected, protocol.MCPPending, protocol.MCPFailed, protocol.MCPNeedsAuth}, s.State)
	if s.Tools > 0 {
		add("tools", "Show its tools", counted(s.Tools, "tool"))
	}
	if s.CanSignIn {
		add("login", map[bool]string{true: "Sign in again", false: "Sign in"}[s.SignedIn], "in your browser")
	}
	if inUse {
		add("reconnect", "Reconnect", "ends the connection and makes a new one")
		add("log", "Show its log", "the last of what it wrote")
	}
	if len(s.Inputs) > 0 {
		add("inputs", "Answer what it asks for", counted(len(s.Inputs), "question"))
	}
	if s.State == protocol.MCPDisabled {
		add("enable", "Enable", "from the next message on")
	} else {
		add("disable", "Disable", "from the next message on")
	}
	detail := strings.Join(append(x.about(s), line(s.Source)), " · ")
	if s.Problem != "" {
		detail = line(s.Problem) + " " + detail
	}
	p := &overlay.Picker{List: list.New(list.Config{Title: line(s.Name) + ": " + detail, Items: items})}
	p.OnClose = x.Open
	p.OnPick = func(ids []string) tea.Cmd {
		switch ids[0] {
		case "tools":
			return x.tools(s.Name)
		case "login":
			return x.login(s.Name, x.Open)
		case "reconnect":
			return x.reconnect(s.Name)
		case "log":
			return x.log(s.Name, x.Open)
		case "inputs":
			return x.answer(s.Name, s.Inputs)
		}
		return x.enable(s.Name, ids[0] == "enable")
	}
	return x.Overlays.Pick(p)
}

// tools shows the tools of a server.
func (x *MCP) tools(name string) tea.Cmd {
	return ask(x.Base, &protocol.ListTools{}, func(r *protocol.ToolList) tea.Cmd {
		var lines []string
		for _, t := range r.Tools {
			if t.Server != name {
				continue
			}
			first, _, _ := strings.Cut(t.Description, "\n")
			lines = append(lines, line(t.Name)+map[bool]string{true: " (searched for)"}[t.Deferred], "  "+line(first), "")
		}
		if len(lines) == 0 {
			lines = []string{"The session does not use its tools yet."}
		}
		if r.Omitted > 0 {
			lines = append(lines, fmt.Sprintf("%d more tools of the session are not listed here", r.Omitted))
		}
		x.Overlays.PageOf("Tools of "+line(name), lines, x.Open)
		return nil
	})
}

func (x *MCP) reconnect(name string) tea.Cmd {
	return ask(x.Base, &protocol.ReconnectMCPServer{Name: name}, func(*protocol.Done) tea.Cmd {
		x.Toasts.Info("reconnecting with " + line(name))
		x.awaited, x.of = name, x.Session.ID()
		return x.outcome() // the change may have been told before
	})
}

// log shows what a server wrote last; back is what it was opened from.
func (x *MCP) log(name string, back func() tea.Cmd) tea.Cmd {
	return ask(x.Base, &protocol.GetMCPLog{Name: name}, func(r *protocol.MCPLog) tea.Cmd {
		text := display.Text(r.Text)
		if strings.TrimSpace(text) == "" {
			text = "It has written nothing."
		}
		x.Overlays.PageOf("Log of "+line(name), strings.Split(strings.TrimRight(text, "\n"), "\n"), back)
		return nil
	})
}

func (x *MCP) enable(name string, on bool) tea.Cmd {
	return ask(x.Base, &protocol.EnableMCPServer{WorkDir: x.workDir(), Name: name, Enabled: on}, func(*protocol.Done) tea.Cmd {
		x.Toasts.Info(line(name) + map[bool]string{true: " is enabled", false: " is disabled"}[on] + " from the next message on")
		return nil
	})
}

// answer asks what the entry of a server asks for, one after the other.
func (x *MCP) answer(name string, questions []protocol.MCPInput) tea.Cmd {
	if len(questions) == 0 {
		x.Toasts.Info("the answers for " + line(name) + " apply from the next message on")
		return nil
	}
	q, rest := questions[0], questions[1:]
	keep := func(value string) tea.Cmd {
		if value == "" { // what there is stays
			return x.answer(name, rest)
		}
		return ask(x.Base, &protocol.SetMCPInput{WorkDir: x.workDir(), Name: name, ID: q.ID, Value: value}, func(*protocol.Done) tea.Cmd { return x.answer(name, rest) })
	}
	title := line(name) + ": " + line(q.ID)
	if len(q.Options) > 0 {
		var items []list.Item
		for _, o := range q.Options {
			items = append(items, list.Item{ID: o, Title: o})
		}
		return x.Overlays.Pick(&overlay.Picker{List: list.New(list.Config{Title: title, Items: items, On: q.Default}), OnClose: x.Open, OnPick: func(ids []string) tea.Cmd { return keep(ids[0]) }})
	}
	message := line(q.Description)
	if q.Answered {
		message = strings.TrimSpace(message + " " + x.Overlays.Keys().Name(keymap.Submit) + " on an empty line keeps the answer that there is.")
	}
	text := q.Default
	if q.Password {
		text = ""
	}
	return x.Overlays.Prompt(overlay.PromptConfig{Title: title, Message: message, Text: text, Secret: q.Password, Back: x.Open}, func(text string) tea.Cmd { return keep(strings.TrimSpace(text)) })
}

// login signs in: the address is shown, and an address can be pasted for a browser that is on
// another machine. back is what it was opened from.
func (x *MCP) login(name string, back func() tea.Cmd) tea.Cmd {
	return ask(x.Base, &protocol.BeginMCPLogin{WorkDir: x.workDir(), Name: name}, func(l *protocol.MCPLogin) tea.Cmd {
		var shown overlay.Overlay
		ended := false
		await := func(pasted string) tea.Cmd {
			return link.Ask(x.Link, "", &protocol.AwaitMCPLogin{LoginID: l.LoginID, Pasted: pasted}, func(_ *protocol.Done, err error) tea.Cmd {
				var refused *protocol.Error
				switch {
				case ended:
					return nil
				case pasted != "" && errors.As(err, &refused) && refused.Code == protocol.CodeInvalidRequest: // it goes on
					x.Toasts.Fail(err)
					return nil
				}
				ended = true
				x.Overlays.Close(shown)
				if err != nil {
					x.Toasts.Fail(err)
					return nil
				}
				x.Toasts.Info("signed in to " + line(name))
				return nil
			})
		}
		var ask func() tea.Cmd
		ask = func() tea.Cmd {
			cmd := x.Overlays.Prompt(overlay.PromptConfig{Title: "Sign in to " + line(name) + " at " + line(l.Host),
				Message: "Open this address in your browser and sign in. If the browser runs on another machine, paste the address of its last page here.\n\n" + line(l.URL),
				Back: func() tea.Cmd {
					if ended {
						return nil
					}
					ended = true
					x.Toasts.Info("the sign-in to " + line(name) + " was cancelled")
					cancel := link.Ask(x.Link, "", &protocol.CancelMCPLogin{LoginID: l.LoginID}, func(*protocol.Done, error) tea.Cmd { return nil })
					if back == nil {
						return cancel
					}
					return tea.Batch(cancel, back())
				}},
				func(pasted string) tea.Cmd {
					if ended {
						return nil
					}
					if pasted = strings.TrimSpace(pasted); pasted == "" {
						return ask()
					}
					return tea.Batch(ask(), await(pasted))
				})
			shown = x.Overlays.Top()
			return cmd
		}
		return tea.Batch(ask(), await(""))
	})
}
