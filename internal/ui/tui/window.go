package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/keyboard"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/program"
	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/terminal"
	"scorel/internal/ui/tui/theme"
)

// window is the terminal as the UI has it: its screen, its keyboard, its size, how it
// looks and what it can do.
type window struct {
	ctx      context.Context // ends with the program
	prefs    *preferences
	in, out  *os.File
	environ  program.Environ
	screen   *screen.Screen
	keyboard *keyboard.Keyboard

	width, height int
	theme         *theme.Theme
	asked, wanted string // the theme that an extension of the session sets, and that where there is one of the name
	look          look   // what the theme was chosen by
	attributes    []int  // what the terminal says of itself, nil until it does
	began         time.Time
	yielding      bool // the terminal is given away as soon as it has answered
}

// look is what the terminal is like.
type look struct {
	profile colorprofile.Profile
	dark    bool // its background, as far as that is known
	focused bool
}

// answerTimeout is how long after the first frame a terminal may take to answer what it
// is asked. One that says nothing until then has nothing to say. It is a variable for tests,
// whose terminals answer when their machine gets to it.
var answerTimeout = 2 * time.Second

// newWindow describes the terminal; open takes it.
func newWindow(ctx context.Context, cfg *Config, p *preferences) *window {
	w := &window{ctx: ctx, prefs: p, in: cfg.In, out: cfg.Out, environ: cfg.Environ, keyboard: keyboard.New(cfg.In)}
	w.look = look{profile: colorprofile.Detect(cfg.Out, cfg.Environ), dark: theme.DarkByEnv(w.environ.Get), focused: true}
	return w
}

// chooseTheme makes the theme of the settings for this terminal.
func (w *window) chooseTheme() (problems []string) {
	set := &w.prefs.settings
	name := set.Theme
	if w.wanted != "" {
		name = w.wanted
	}
	w.theme, problems = theme.New(theme.Options{Name: name, Dark: w.look.dark, Profile: w.look.profile, Plain: set.Plain,
		Dir: filepath.Join(w.prefs.dir, "themes"), FS: disk.OS()})
	return problems
}

// open takes the terminal, and returns what was typed before.
func (w *window) open() (ahead []byte, err error) {
	width, height, err := term.GetSize(int(w.out.Fd()))
	if err != nil {
		return nil, fmt.Errorf("the size of the terminal is unavailable: %w", err)
	}
	w.width, w.height = width, height
	w.screen, err = screen.New(w.out, screen.Options{Width: width, Height: height, Full: w.prefs.settings.Screen == "full", Focus: true,
		NoReflow: screen.Cuts(w.environ.Get), Queries: screen.Queries, Input: w.in,
		Settle: func(asked time.Time) { w.keyboard.Settle(asked.Add(answerTimeout)) }})
	w.began = time.Now()
	if err != nil {
		return nil, err
	}
	return typedAhead(w.in), nil
}

// Theme is what is drawn with.
func (w *window) Theme() *theme.Theme { return w.theme }

// Width is that of the screen, in cells.
func (w *window) Width() int { return w.width }

// Full reports whether the whole screen is in use, and nothing goes into the scrollback.
func (w *window) Full() bool { return w.screen.Full() }

// Terminal is what the terminal can do by its environment, its answers and the settings.
func (w *window) Terminal() terminal.Terminal {
	t := terminal.Detect(w.environ.Get).Attributes(w.attributes)
	setting := w.prefs.settings.Images
	if setting == "auto" && w.prefs.settings.Plain {
		setting = "off"
	}
	t = t.Draws(setting)
	if size, err := unix.IoctlGetWinsize(int(w.out.Fd()), unix.TIOCGWINSZ); err == nil {
		t = t.Cells(int(size.Xpixel), int(size.Ypixel), int(size.Col), int(size.Row))
	}
	return t
}

// resize takes a new size of the terminal. Without a renderer Bubble Tea does not send it.
func (w *window) resize() {
	width, height, err := term.GetSize(int(w.out.Fd()))
	if err != nil || width <= 0 || height <= 0 || width == w.width && height == w.height {
		return
	}
	w.width, w.height = width, height
	w.screen.SetSize(width, height)
}

// takeTheme takes the theme that an extension of the session sets, "" for none, and reports
// whether that is another one than before.
func (w *window) takeTheme(name string) (changed bool, problems []string) {
	if name == w.asked {
		return false, nil
	}
	w.asked, w.wanted = name, name
	if name != "" && !slices.Contains(w.prefs.Themes(), name) {
		w.wanted = ""
		problems = append(problems, fmt.Sprintf("an extension sets the theme %q, but the themes are %s", name, strings.Join(w.prefs.Themes(), ", ")))
	}
	return true, append(problems, w.chooseTheme()...)
}

// setBackground follows the terminal's background.
func (w *window) setBackground(dark bool) {
	if w.look.dark != dark {
		w.look.dark = dark
		w.chooseTheme()
	}
}

// whenAnswered does something that gives the terminal away, as soon as it has answered what
// it was asked at the start: who has it then would take late answers for keys.
func (w *window) whenAnswered(do loop.Then) tea.Cmd {
	if w.yielding {
		return nil
	}
	left := time.Until(w.began.Add(answerTimeout))
	select {
	case <-w.keyboard.Answered():
		return do()
	default:
		if left <= 0 {
			return do()
		}
	}
	w.yielding = true
	return func() tea.Msg {
		select {
		case <-w.keyboard.Answered():
		case <-time.After(left):
		case <-w.ctx.Done():
		}
		return loop.Then(func() tea.Cmd {
			w.yielding = false
			return do()
		})
	}
}

// suspend returns the terminal to the shell until fg.
func (w *window) suspend() tea.Cmd {
	return w.whenAnswered(func() tea.Cmd {
		w.screen.Pause()
		return tea.Suspend
	})
}

// copy copies a text to the clipboard of the terminal.
func (w *window) copy(text string) (tea.Cmd, error) {
	seq, err := terminal.Detect(w.environ.Get).Copy(text)
	return w.emit(seq), err
}

// notify calls somebody who does not look.
func (w *window) notify(text string) tea.Cmd {
	set := &w.prefs.settings
	if set.Notifications == "off" || set.Notifications == "auto" && w.look.focused {
		return nil
	}
	seq := terminal.Detect(w.environ.Get).Notify("Scorel", text)
	if set.Bell || seq == "" {
		seq += terminal.Bell
	}
	return w.emit(seq)
}

// emit writes a sequence that draws nothing.
func (w *window) emit(seq string) tea.Cmd {
	if seq == "" {
		return nil
	}
	return func() tea.Msg {
		w.screen.Write(seq)
		return nil
	}
}
