package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"scorel/client"
	"scorel/internal/ui/tui/complete"
	"scorel/internal/ui/tui/drafts"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keyboard"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Model is the state of the UI. It belongs to the goroutine of Bubble Tea.
type Model struct {
	cfg  *Config
	ctx  context.Context // ends with the program
	send func(tea.Msg)   // to the model, from anywhere
	link *link

	scr           *screen.Screen
	width, height int
	theme         *theme.Theme
	look          look // what the theme was chosen by
	keyboard      *keyboard.Keyboard
	began         time.Time // when the terminal was taken
	yielding      bool      // the terminal is given away as soon as it has answered
	keys          keymap.Reader
	settings      prefs.Settings
	keeper        *keeper
	left          *drafts.State // of a UI that crashed here
	ahead         []byte        // was typed before the UI began

	// The session.
	conn       client.Change
	project    *protocol.Project
	id         protocol.SessionID
	gen        int
	said       protocol.SessionOpened
	projection *client.Projection
	shown      shownPath          // what of the path the transcript has
	fetching   bool               // older events are on their way
	newest     *status.InputUsage // of the newest answer
	filling    bool               // events of the path are on their way
	cancelling protocol.TurnID
	startMode  string // of permissions, that a session begins with which is not made yet
	nextMode   string // that was asked for, until the host has answered
	jump       jump
	edits      queueEdits // changes of what waits
	attached   int        // clients of the session
	models     []protocol.ModelInfo
	described  *described // of the models; nil after a change of them

	// What is on the screen.
	transcript     *transcript.Transcript
	images         *images
	editor         *editor.Editor
	history        *prefs.History
	popup          *complete.List
	working        status.Working
	toasts         status.Toasts
	header         *status.Welcome
	parting        []string // lines of the session before, on their way into the scrollback
	statusLine     statusCommand
	contextTokens  int             // of the path
	contextStale   bool            // it is to be found anew
	toldEnd        protocol.TurnID // of the turn whose end was told last
	nextTick       time.Time       // when time alone changes something, zero when never
	reading        bool            // the transcript has the focus
	visit          bool            // the whole screen is on to read what is further up
	above          int             // rows above the transcript, in full screen
	transcriptRows int             // and its own
	overlays       []overlay
	questions      questions

	offered       bool // a way to the first model
	drafts        int
	sending       []draft
	historyFailed bool    // that was told
	tasks         *picker // the panel of background tasks, when it is open
	config        *protocol.ConfigReport
	answered      string    // the model that answered last
	branch        string    // of Git
	unsent        []string  // what could not be sent and is in no editor
	escaped       time.Time // the last Esc that did nothing
	armed         time.Time // the last Ctrl-C that did nothing
	leaving       bool
	cut           bool // the terminal, or the system, ends it
	failed        error
}

// newModel reads the settings and takes the terminal.
func newModel(ctx context.Context, cfg *Config) (*Model, error) {
	m := &Model{cfg: cfg, ctx: ctx, startMode: cfg.Start.Mode, projection: client.NewProjection()}
	m.keyboard = keyboard.New(cfg.In)
	m.link = newLink(cfg, func(msg tea.Msg) { m.send(msg) })
	m.look = look{profile: colorprofile.Detect(cfg.Out, cfg.Environ), dark: theme.DarkByEnv(m.getenv), focused: true}
	problems := m.readSettings()
	if err := m.openScreen(); err != nil {
		return nil, err
	}
	m.makeParts()
	for _, p := range problems {
		m.toast(levelWarning, p)
	}
	m.banner(protocol.SessionSummary{})
	return m, nil
}

// Init begins with what needs no host: the editor can be typed into at once.
func (m *Model) Init() tea.Cmd {
	go func() { // ends with the screen
		defer rescue(m.send)
		for range m.scr.Ready() {
			m.send(screenReady{})
		}
	}()
	return tea.Batch(m.setStatusLine(), m.keysAhead(), m.typed())
}

// screenReady says that a frame would be drawn at once.
type screenReady struct{}

// beforeUpdate sees every message first, in tests of what a panic leaves behind.
var beforeUpdate func(*Model, tea.Msg)

// Update takes a message. A panic leaves the terminal sane and ends the program; the
// session goes on at the host.
func (m *Model) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	same = m // also when it panics
	defer func() {
		if p := recover(); p != nil {
			m.crash(p)
			cmd = tea.Quit
		}
	}()
	if beforeUpdate != nil {
		beforeUpdate(m, msg)
	}
	cmd = m.update(msg)
	return m, tea.Batch(cmd, m.animate())
}

// View brings what has changed to the screen. Bubble Tea itself draws nothing.
func (m *Model) View() tea.View {
	defer func() {
		if p := recover(); p != nil {
			m.crash(p)
			go m.send(tea.Quit())
		}
	}()
	if m.failed == nil {
		m.draw()
	}
	return tea.View{}
}

// rescue is deferred by the goroutines beside the model's: a panic of one of them ends the
// program as one of the model does, and not with the terminal as the UI has it.
func rescue(send func(tea.Msg)) {
	if p := recover(); p != nil {
		stack := debug.Stack()
		send(then(func(m *Model) tea.Cmd {
			m.crashed(p, stack)
			return tea.Quit
		}))
	}
}

// crash gives the terminal back and keeps what is needed to go on.
func (m *Model) crash(p any) { m.crashed(p, debug.Stack()) }

func (m *Model) crashed(p any, stack []byte) {
	if m.failed != nil {
		return
	}
	m.scr.Restore(m.cfg.Out)
	m.failed = errors.New("the terminal UI failed; the session goes on at the host, and scorel shows it again. Please report what stands above")
	fmt.Fprintf(m.cfg.Stderr, "\r\n%v\r\n\r\n%s\r\n", p, stack)
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screenReady:
		return nil
	case resized:
		m.resize()
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(m.keyboard.Pasted(msg.Content))
	case tea.MouseMsg:
		return m.mouse(msg)
	case tea.FocusMsg:
		m.look.focused = true
	case tea.BlurMsg:
		m.look.focused = false
	case tea.BackgroundColorMsg:
		m.setBackground(msg.IsDark())
	case uv.PrimaryDeviceAttributesEvent:
		if m.images.attributes == nil {
			m.images.attributes = msg
			m.images.changed()
		}
	case tea.ResumeMsg:
		return m.resumed()
	case then:
		return msg(m)
	case stateChanged:
		return m.stateChanged(msg.change)
	case linked:
		return m.linked(msg)
	case opened:
		return m.opened(msg)
	case arrived:
		return m.arrived()
	case deviceChanged:
		return m.deviceChanged(msg.changes)
	case tick:
		m.nextTick = time.Time{}
		m.refreshTasks()
	case leaveNow:
		return m.leaveSoon()
	}
	return nil
}

// live is the state of the session; it is not to be changed.
func (m *Model) live() *protocol.Live { return m.projection.Live() }

// leave ends the program as soon as what was typed has reached the host; a second time
// at once.
func (m *Model) leave() tea.Cmd {
	if m.leaving || len(m.sending) == 0 {
		m.leaving = true
		return tea.Quit
	}
	m.leaving = true
	m.toast(levelInfo, "what you typed waits for the host; once more leaves without it")
	return nil
}

// endPatience is how long the end of the terminal, or of the system, waits for the host
// to take what was typed.
const endPatience = 2 * time.Second

// leaveSoon ends the program without a question.
func (m *Model) leaveSoon() tea.Cmd {
	m.cut = true
	cmd := m.leave()
	return tea.Batch(cmd, tea.Tick(endPatience, func(time.Time) tea.Msg { return tea.Quit() }))
}

// farewell says how to come back, and what was not sent, when the screen is the shell's
// again.
func (m *Model) farewell(w io.Writer) {
	unfinished := m.failed != nil
	if (m.cut || unfinished) && (len(m.sending) > 0 || !m.editor.Empty()) {
		unfinished = true
		m.keepUnsent()
	}
	m.keeper.end(!unfinished)
	for _, d := range m.sending {
		fmt.Fprintln(w, "scorel: the host has not confirmed: "+line(d.text))
	}
	for _, text := range m.unsent {
		fmt.Fprintln(w, "scorel: not sent: "+line(text))
	}
	switch {
	case m.id == "" || m.failed != nil:
	case m.live().Running:
		fmt.Fprintf(w, "scorel: the turn runs on; scorel -c shows it (session %s)\n", m.id)
	default:
		fmt.Fprintf(w, "scorel: scorel -c comes back (session %s)\n", m.id)
	}
}
