package tui

import (
	"context"
	"crypto/rand"
	"time"

	tea "charm.land/bubbletea/v2"

	uv "github.com/charmbracelet/ultraviolet"

	"scorel/internal/ui/tui/conversation"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/input"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/panel"
	"scorel/internal/ui/tui/picture"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/question"
	"scorel/internal/ui/tui/rendering"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Model is the UI: it joins the components, routes messages to them, and composes what is
// seen. It belongs to the goroutine of Bubble Tea, as all of them do.
type Model struct {
	cfg  *Config
	send func(tea.Msg) // to the model, from any goroutine

	link    *link.Link         // the line to the host
	host    *hostinfo.Info     // what is known of it
	session *conversation.View // the open session
	window  *window            // the terminal
	prefs   *preferences       // of the user
	reading *reading           // the conversation as it is read
	input   *input.Input       // what is typed
	drawn   *drawnEditor       // the editor, as an extension draws it
	keys    *shortcuts         // keys of extensions
	focus   *focus             // what takes the keys: overlays, questions, the conversation, the editor
	status  *statusArea        // what is around the editor
	agents  *agentView         // the agents in the background, and the one that is shown
	toasts  *status.Toasts     // notices
	panels  panels             // what commands open
	start   start              // how it began
	exit    exit               // how it ends
}

// panels are what commands open.
type panels struct {
	branches *panel.Branches
	folder   *panel.Folder
	help     *panel.Help
	login    *panel.Login
	mcp      *panel.MCP
	models   *panel.Models
	pages    *panel.Pages
	queue    *panel.Queue
	remote   *panel.Remote
	sessions *panel.Sessions
	settings *panel.Settings
	setup    *panel.Setup
	tasks    *panel.Tasks
}

// newModel reads the settings and takes the terminal.
func newModel(ctx context.Context, cfg *Config) (*Model, error) {
	m := &Model{cfg: cfg, toasts: &status.Toasts{}}
	var wrong prefs.Mistakes
	m.prefs, wrong = readPreferences(cfg.Dir)
	m.window = newWindow(ctx, cfg, m.prefs)
	wrong.Theme = m.window.chooseTheme()
	ahead, err := m.window.open()
	if err != nil {
		return nil, err
	}
	m.start.ahead = ahead
	m.join(ctx)
	m.start.left = m.input.Begin(func(err error) {
		lost := loop.Then(func() tea.Cmd {
			m.toasts.Warn("what is typed would be lost in a crash: " + err.Error())
			return nil
		})
		if m.send == nil { // the loop does not run yet
			lost()
			return
		}
		m.send(lost)
	})
	m.toasts.Warn(wrong.Notice())
	m.status.banner(protocol.SessionSummary{})
	return m, nil
}

// join makes the components, each with those that it works with.
func (m *Model) join(ctx context.Context) {
	cfg, send := m.cfg, func(msg tea.Msg) { m.send(msg) }
	m.link = link.New(ctx, link.Config{Connect: cfg.Connect, Send: send, WorkDir: cfg.WorkDir, Model: cfg.Start.Model, Thinking: cfg.Start.Thinking, Mode: cfg.Start.Mode, Channels: cfg.Start.Channels, MCPConfig: cfg.Start.MCPConfig})

	images := picture.New(m.link, m.window, send)
	drawn := rendering.New(ctx, m.link, send)
	conv := transcript.New(transcript.Config{Images: images, Drawer: drawn, Dir: cfg.WorkDir, ShowThinking: m.prefs.settings.ShowThinking,
		Earlier: "earlier messages: " + m.prefs.hint(keymap.FocusUp) + " goes to them"})
	m.session = conversation.New(conversation.Config{Link: m.link, Toasts: m.toasts, Transcript: conv, Remote: cfg.Remote})
	images.Follow(conv, m.session)
	drawn.Follow(conv, m.session)
	m.host = hostinfo.New(hostinfo.Config{Link: m.link, Session: m.session, WorkDir: cfg.WorkDir,
		Start: hostinfo.Start{Model: cfg.Start.Model, Thinking: cfg.Start.Thinking, Mode: cfg.Start.Mode}})

	overlays := &overlay.Stack{}
	m.input = input.New(input.Config{Link: m.link, Toasts: m.toasts, Overlays: overlays, Session: m.session, Host: m.host, Payloads: images,
		Dir: cfg.Dir, WorkDir: cfg.WorkDir, Environ: cfg.Environ, Remote: cfg.Remote, Vim: m.prefs.settings.Vim, Commands: completedInfos()})
	m.input.SendTo(m)
	questions := question.New(question.Config{Link: m.link, Toasts: m.toasts, Session: m.session, Person: m})
	m.reading = &reading{ctx: ctx, link: m.link, window: m.window, session: m.session, transcript: conv, images: images, drawn: drawn, overlays: overlays, toasts: m.toasts, editor: m.input}
	m.agents = &agentView{Model: m}
	m.drawn = &drawnEditor{Model: m, id: rand.Text()}
	m.keys = &shortcuts{Model: m}
	m.focus = &focus{shortcuts: m.keys, overlays: overlays, questions: questions, reading: m.reading, agents: m.agents, editor: &editing{m}, drawn: m.drawn, prefs: m.prefs, global: m.global}

	b := panel.Base{Link: m.link, Overlays: overlays, Toasts: m.toasts, Session: m.session, Screen: m.window, Dir: cfg.Dir, WorkDir: cfg.WorkDir}
	p := &m.panels
	p.queue = panel.NewQueue(b, m.input)
	m.status = &statusArea{cfg: cfg, link: m.link, window: m.window, prefs: m.prefs, session: m.session, host: m.host, input: m.input, questions: questions, queue: p.queue, agents: m.agents, toasts: m.toasts}
	p.sessions = panel.NewSessions(b, m.host, m.input, m.reading)
	p.branches = panel.NewBranches(b, m.input, &m.status.working, p.sessions)
	p.folder = panel.NewFolder(b, m.host, questions, m.input)
	p.help = panel.NewHelp(b, m.input, commandInfos())
	p.models = panel.NewModels(b, m.host)
	p.login = panel.NewLogin(b, m.host, p.models, panel.NewEndpoint(b, m.host, p.models))
	p.mcp = panel.NewMCP(b)
	p.pages = panel.NewPages(b, m.input)
	p.remote = panel.NewRemote(b)
	p.settings = panel.NewSettings(b, m.host, m.prefs)
	p.setup = panel.NewSetup(b, m.host, m.input, m, p.login, cfg.Start.Model != "")
	p.tasks = panel.NewTasks(b, m.agents)
	m.host.OnLoaded(p.setup.Offer)
	m.prefs.changed = m.prefsChanged
	m.keysChanged()
}

// keysChanged has everything name the keys as they are now.
func (m *Model) keysChanged() {
	m.focus.overlays.SetKeys(m.prefs.keys.Map)
	m.focus.questions.SetKeys(m.prefs.keys.Map)
}

// prefsChanged reads the preferences again, and takes them.
func (m *Model) prefsChanged() tea.Cmd {
	before := m.prefs.settings
	wrong := m.prefs.read()
	wrong.Theme = m.window.chooseTheme()
	m.toasts.Warn(wrong.Notice())
	m.keysChanged()
	now := m.prefs.settings
	if now.Vim != before.Vim {
		m.input.SetVim(now.Vim)
	}
	if now.Screen != before.Screen && (now.Screen == "full") != m.window.Full() {
		m.reading.toggleScreen()
	}
	m.reading.images.Changed()
	return m.status.setCommand()
}

// Init begins with what needs no host: the editor can be typed into at once.
func (m *Model) Init() tea.Cmd {
	go func() { // ends with the screen
		defer loop.Rescue(m.send)
		for range m.window.screen.Ready() { // a frame would be drawn at once
			m.send(loop.Redraw{})
		}
	}()
	return tea.Batch(m.status.setCommand(), m.keysAhead(), m.input.Changed())
}

// beforeUpdate sees every message first, in tests of what a panic leaves behind.
var beforeUpdate func(*Model, tea.Msg)

// Update takes a message. A panic leaves the terminal sane and ends the program; the
// session goes on at the host.
func (m *Model) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = m // also when it panics
	defer func() {
		if p := recover(); p != nil {
			m.crash(panicked(p))
			cmd = tea.Quit
		}
	}()
	if beforeUpdate != nil {
		beforeUpdate(m, msg)
	}
	cmd = m.update(msg)
	return m, tea.Batch(cmd, m.status.tick())
}

// View brings what has changed to the screen. Bubble Tea itself draws nothing.
func (m *Model) View() tea.View {
	defer func() {
		if p := recover(); p != nil {
			m.crash(panicked(p))
			go m.send(tea.Quit())
		}
	}()
	if m.exit.failed == nil && m.window.width > 0 && m.window.screen.Free() { // it says when it is
		m.window.screen.Show(m.frame())
	}
	return tea.View{}
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loop.Then:
		return msg()
	case loop.Redraw:
		return nil
	case loop.Panicked:
		m.crash(msg)
		return tea.Quit
	case tick:
		m.status.next = time.Time{}
		return m.panels.tasks.Refresh()
	case closeNow:
		return m.closeSoon()
	case tea.KeyPressMsg:
		return m.focus.key(msg)
	case tea.PasteMsg:
		return m.focus.paste(m.window.keyboard.Pasted(msg.Content))
	case tea.MouseMsg:
		if m.agents.clicked(msg) {
			return m.agents.pick(msg.Mouse().Y)
		}
		return m.reading.mouse(msg)
	case tea.ResumeMsg:
		if err := m.window.screen.Resume(); err != nil {
			return m.fail(err)
		}
		return nil
	}
	if m.terminalSays(msg) {
		return m.focus.questions.Resized()
	}
	return m.hostSays(msg)
}

// terminalSays takes what the terminal says of itself.
func (m *Model) terminalSays(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case resized:
		m.window.resize()
	case tea.FocusMsg:
		m.window.look.focused = true
	case tea.BlurMsg:
		m.window.look.focused = false
	case tea.BackgroundColorMsg:
		m.window.setBackground(msg.IsDark())
	case uv.PrimaryDeviceAttributesEvent:
		if m.window.attributes == nil {
			m.window.attributes = msg
			m.reading.images.Changed()
		}
	default:
		return false
	}
	return true
}

// Notify calls a person who does not look.
func (m *Model) Notify(text string) tea.Cmd { return m.window.notify(text) }

// Size is that of the screen, in cells.
func (m *Model) Size() (width, height int) { return m.window.width, m.window.height }

// Draft types into the editor what was typed elsewhere and is no answer there.
func (m *Model) Draft(text string) tea.Cmd { return m.input.Insert(text) }

// Paste takes what was pasted elsewhere and is no answer there.
func (m *Model) Paste(text string) tea.Cmd { return m.focus.paste(text) }
