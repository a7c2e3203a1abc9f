package tui

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/complete"
	"scorel/internal/ui/tui/drafts"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/terminal"
	"scorel/internal/ui/tui/theme"
	"scorel/internal/ui/tui/transcript"
)

// look is what the terminal is like.
type look struct {
	profile colorprofile.Profile
	dark    bool // its background, as far as that is known
	focused bool
}

// readSettings reads what the user has set for the UI. What is wrong with it is told
// when there is a screen.
func (m *Model) readSettings() []string {
	var problems []string
	settings, wrong := prefs.Read(m.cfg.Dir)
	for _, p := range wrong {
		problems = append(problems, p.String())
	}
	m.settings = settings
	keys, wrongKeys := keymap.Read(disk.OS(), filepath.Join(m.cfg.Dir, "keys.toml"))
	problems = append(problems, wrongKeys...)
	m.keys = keymap.Reader{Map: keys}
	return append(problems, m.chooseTheme()...)
}

// chooseTheme makes the theme of the settings for this terminal.
func (m *Model) chooseTheme() []string {
	th, problems := theme.New(theme.Options{Name: m.settings.Theme, Dark: m.look.dark, Profile: m.look.profile, Plain: m.settings.Plain,
		Dir: filepath.Join(m.cfg.Dir, "themes"), FS: disk.OS()})
	m.theme = th
	return problems
}

func (m *Model) themeNames() []string { return theme.List(filepath.Join(m.cfg.Dir, "themes")) }

// reread takes settings that have changed.
func (m *Model) reread() tea.Cmd {
	full, vim := m.settings.Screen, m.settings.Vim
	for _, p := range m.readSettings() {
		m.toast(levelWarning, p)
	}
	if m.settings.Vim != vim {
		m.editor.SetVim(m.settings.Vim)
	}
	if m.settings.Screen != full && (m.settings.Screen == "full") != m.scr.Full() {
		m.toggleScreen()
	}
	m.images.changed()
	return m.setStatusLine()
}

// openScreen takes the terminal.
func (m *Model) openScreen() error {
	width, height, err := term.GetSize(int(m.cfg.Out.Fd()))
	if err != nil {
		return fmt.Errorf("the size of the terminal cannot be had: %w", err)
	}
	m.width, m.height = width, height
	m.scr, err = screen.New(m.cfg.Out, screen.Options{Width: width, Height: height, Full: m.settings.Screen == "full", Focus: true,
		NoReflow: screen.Cuts(m.getenv), Queries: screen.Queries, Input: m.cfg.In,
		Settle: func(asked time.Time) { m.keyboard.Settle(asked.Add(answerPatience)) }})
	m.began = time.Now()
	if err == nil {
		m.ahead = typedAhead(m.cfg.In)
	}
	return err
}

// makeParts makes the components.
func (m *Model) makeParts() {
	fsys := disk.OS()
	m.history = prefs.NewHistory(fsys, m.cfg.Dir, m.cfg.WorkDir, time.Now)
	m.editor = editor.New(editor.Config{History: m.history.Entries, Vim: m.settings.Vim})
	m.popup = complete.New(ownInfos())
	m.images = newImages(m)
	m.transcript = transcript.New(transcript.Config{Images: m.images, Dir: m.cfg.WorkDir, ShowThinking: m.settings.ShowThinking,
		Earlier: "earlier messages: " + m.hint(keymap.FocusUp) + " goes to them"})
	lost := func(err error) tea.Cmd {
		m.toast(levelWarning, "what is typed would be lost in a crash: "+err.Error())
		return nil
	}
	mark, left, err := drafts.Begin(fsys, filepath.Join(m.cfg.Dir, "tui"), m.cfg.WorkDir, rand.Reader)
	if err != nil {
		lost(err)
	} else {
		m.left = left
		m.keeper = keep(mark, func(err error) { m.send(then(func(*Model) tea.Cmd { return lost(err) })) })
	}
	if m.left != nil && m.left.Draft != "" && m.editor.Set(m.left.Draft) == nil {
		m.toast(levelInfo, "what was typed when the UI ended is in the editor again")
	}
}

// resize takes a new size of the terminal. Without a renderer Bubble Tea does not tell
// it.
func (m *Model) resize() {
	width, height, err := term.GetSize(int(m.cfg.Out.Fd()))
	if err != nil || width <= 0 || height <= 0 || width == m.width && height == m.height {
		return
	}
	m.width, m.height = width, height
	m.scr.SetSize(width, height)
}

// setBackground follows the terminal's background.
func (m *Model) setBackground(dark bool) {
	if m.look.dark != dark {
		m.look.dark = dark
		m.chooseTheme()
	}
}

// toggleScreen goes to the whole screen, or back to the terminal's scrollback, which
// shows the end.
func (m *Model) toggleScreen() {
	m.scr.SetFull(!m.scr.Full())
	m.visit = false
	if !m.scr.Full() {
		m.reading = false
		m.transcript.Do(keymap.ScrollBottom)
		m.images.changed()
	}
}

// readOn goes into the conversation: from the scrollback to the whole screen, until
// somebody leaves it.
func (m *Model) readOn() {
	m.reading = true
	if !m.scr.Full() {
		m.toggleScreen()
		m.visit = true
	}
}

// readEnough goes back to where readOn came from.
func (m *Model) readEnough() {
	m.reading = false
	if m.visit {
		m.toggleScreen()
	}
}

// answerPatience is how long after the first frame a terminal may take to answer what it
// is asked. One that says nothing until then has nothing to say.
const answerPatience = 2 * time.Second

// whenAnswered does something that gives the terminal away, as soon as it has answered what
// it was asked at the start: who has it then would take late answers for keys.
func (m *Model) whenAnswered(do func(*Model) tea.Cmd) tea.Cmd {
	if m.yielding {
		return nil
	}
	left := time.Until(m.began.Add(answerPatience))
	select {
	case <-m.keyboard.Answered():
		return do(m)
	default:
		if left <= 0 {
			return do(m)
		}
	}
	m.yielding = true
	return func() tea.Msg {
		select {
		case <-m.keyboard.Answered():
		case <-time.After(left):
		case <-m.ctx.Done():
		}
		return then(func(m *Model) tea.Cmd {
			m.yielding = false
			return do(m)
		})
	}
}

// suspend gives the terminal to the shell until fg.
func (m *Model) suspend() tea.Cmd {
	return m.whenAnswered(func(m *Model) tea.Cmd {
		m.scr.Pause()
		return tea.Suspend
	})
}

func (m *Model) resumed() tea.Cmd {
	if err := m.scr.Resume(); err != nil {
		m.failed = err
		return tea.Quit
	}
	return nil
}

// mouse scrolls, holds text to copy it, and clicks on what opens.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	e := msg.Mouse()
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		return m.wheel(wheel.Button)
	}
	if e.Button != tea.MouseLeft && e.Button != tea.MouseNone || m.overlay() != nil {
		return nil
	}
	row := e.Y - m.above
	switch msg.(type) {
	case tea.MouseClickMsg:
		if row >= m.transcriptRows {
			m.reading = false // on the editor
		}
		m.transcript.Press(row, e.X)
	case tea.MouseMotionMsg:
		m.transcript.Drag(row, e.X)
	case tea.MouseReleaseMsg:
		return m.transcriptOutcome(m.transcript.Release())
	}
	return m.older(m.transcript.WantOlder())
}

// wheelLines is how far a step of the wheel scrolls.
const wheelLines = 3

func (m *Model) wheel(b tea.MouseButton) tea.Cmd {
	n, a := wheelLines, keymap.ListDown
	switch b {
	case tea.MouseWheelUp:
		n, a = -n, keymap.ListUp
	case tea.MouseWheelDown:
	default: // sideways
		return nil
	}
	if o := m.overlay(); o != nil {
		return o.do(m, a)
	}
	m.transcript.Wheel(n)
	return m.older(m.transcript.WantOlder())
}

// read does an action of the transcript.
func (m *Model) read(a keymap.Action) tea.Cmd {
	return m.transcriptOutcome(m.transcript.Do(a))
}

func (m *Model) transcriptOutcome(o transcript.Outcome) tea.Cmd {
	if o.Leave {
		m.readEnough()
	}
	var cmd tea.Cmd
	switch {
	case o.Copy != "" && o.Whole != "":
		m.fail(errCut)
	case o.Copy != "":
		cmd = m.copyText(o.Copy)
	case o.Whole != "":
		cmd = m.openWhole(o.Whole)
	}
	return tea.Batch(cmd, m.older(m.transcript.WantOlder()))
}

// copyText copies a text to the clipboard of the terminal.
func (m *Model) copyText(text string) tea.Cmd {
	seq, err := terminal.Detect(m.getenv).Copy(text)
	if err != nil {
		m.fail(err)
		return nil
	}
	m.toast(levelInfo, "copied")
	return m.emit(seq)
}

// emit writes a sequence that draws nothing.
func (m *Model) emit(seq string) tea.Cmd {
	if seq == "" {
		return nil
	}
	return func() tea.Msg {
		m.scr.Write(seq)
		return nil
	}
}

// notify tells somebody who does not look that it is their turn.
func (m *Model) notify(text string) tea.Cmd {
	if m.settings.Notifications == "off" || m.settings.Notifications == "auto" && m.look.focused {
		return nil
	}
	seq := terminal.Detect(m.getenv).Notify("Scorel", text)
	if m.settings.Bell || seq == "" {
		seq += terminal.Bell
	}
	return m.emit(seq)
}

// title is that of the window.
func (m *Model) title() string {
	if t := status.Title(m.live().UIStates); t != "" { // of an extension
		return t
	}
	name := filepath.Base(m.cfg.WorkDir)
	if n := m.live().Meta.Name; n != "" {
		name = n
	}
	mark := ""
	switch {
	case m.questions.open() != nil:
		mark = "? "
	case m.live().Running:
		mark = "● "
	}
	return mark + line(name) + " - scorel"
}

// maxDropped bounds an image whose file was dropped onto the terminal, in bytes.
const maxDropped = editor.MaxAttachment

// dropped takes the path of an image that a terminal pasted for a file that was dropped
// onto it.
func (m *Model) dropped(text string) (tea.Cmd, bool) {
	path := strings.Trim(strings.TrimSpace(text), `'"`)
	path = strings.ReplaceAll(strings.TrimPrefix(path, "file://"), `\ `, " ")
	media := imageType(path)
	if media == "" || strings.Contains(path, "\n") || !filepath.IsAbs(path) || m.cfg.Remote {
		return nil, false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDropped {
		return nil, false
	}
	return m.takeIn(path, media), true
}

func imageType(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	}
	return ""
}

// keepUnsent remembers all that was typed and that no host has confirmed: nobody is there
// to read it.
func (m *Model) keepUnsent() {
	var texts []string
	for _, d := range m.sending {
		texts = append(texts, d.text)
	}
	if !m.editor.Empty() {
		texts = append(texts, m.editor.Marked())
	}
	m.keeper.set(drafts.State{WorkDir: m.cfg.WorkDir, SessionID: m.id, Draft: strings.Join(texts, "\n")})
}

// keepPlace remembers which session is shown and what is typed, for after a crash.
func (m *Model) keepPlace() {
	s := drafts.State{WorkDir: m.cfg.WorkDir, SessionID: m.id}
	if !m.editor.Empty() {
		s.Draft = m.editor.Marked()
	}
	m.keeper.set(s)
}
