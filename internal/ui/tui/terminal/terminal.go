package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Graphics is how a terminal draws pictures.
type Graphics string

// The ways to draw pictures.
const (
	NoGraphics Graphics = ""
	Kitty      Graphics = "kitty" // the graphics protocol of kitty
	ITerm      Graphics = "iterm" // inline images of iTerm2 (OSC 1337)
	Sixel      Graphics = "sixel"
)

// notice is how a terminal shows notifications.
type notice string

const (
	noNotice  notice = ""
	osc9      notice = "9"
	osc99     notice = "99"
	osc777    notice = "777"
	sixelCode        = 4 // in the answer to a request for primary device attributes
)

// Terminal says what a terminal can do. It is a value and never changes.
type Terminal struct {
	Graphics Graphics
	// CellWidth and CellHeight are the size of a cell in pixels, as far as it is known.
	CellWidth, CellHeight int
	Tmux                  bool // it is one of tmux
	SSH                   bool // it is on another machine

	screen bool // it is one of GNU screen
	notice notice
}

// sizes of a cell that are assumed where the terminal does not tell: those of a
// usual font.
const (
	usualWidth  = 9
	usualHeight = 18
)

// Detect says what the terminal of an environment can do. Inside tmux and screen there
// are not pictures unless the terminal itself says so (see [Terminal.Attributes]):
// others would be drawn over what tmux draws.
func Detect(getenv func(string) string) Terminal {
	has := func(name string) bool { return getenv(name) != "" }
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	t := Terminal{CellWidth: usualWidth, CellHeight: usualHeight, Tmux: has("TMUX"), SSH: has("SSH_CONNECTION") || has("SSH_TTY")}
	t.screen = !t.Tmux && strings.HasPrefix(term, "screen")
	switch {
	case has("KITTY_WINDOW_ID"), strings.Contains(term, "kitty"):
		t.Graphics, t.notice = Kitty, osc99
	case has("GHOSTTY_RESOURCES_DIR"), program == "ghostty", strings.Contains(term, "ghostty"):
		t.Graphics, t.notice = Kitty, osc777
	case program == "WezTerm", has("WEZTERM_PANE"):
		t.Graphics, t.notice = ITerm, osc777
	case program == "iTerm.app", getenv("LC_TERMINAL") == "iTerm2":
		t.Graphics, t.notice = ITerm, osc9
	case has("KONSOLE_VERSION"):
		t.Graphics, t.notice = Kitty, osc777
	case program == "mintty":
		t.Graphics, t.notice = ITerm, osc9
	case strings.HasPrefix(term, "foot"), strings.Contains(term, "rxvt"), has("VTE_VERSION"):
		t.notice = osc777
	}
	if t.Tmux || t.screen {
		t.Graphics = NoGraphics
	}
	return t
}

// Attributes returns the terminal with what its primary device attributes say: whether
// it draws sixels.
func (t Terminal) Attributes(attributes []int) Terminal {
	for _, a := range attributes {
		if a == sixelCode && t.Graphics == NoGraphics && !t.screen {
			t.Graphics = Sixel
		}
	}
	return t
}

// Draws returns the terminal with the way to draw pictures that a user has set: auto leaves
// it as it was detected, off is none, and kitty, iterm and sixel are those. Inside tmux
// and screen only sixels can be: the other two are as auto there.
func (t Terminal) Draws(setting string) Terminal {
	switch g := Graphics(setting); {
	case setting == "off":
		t.Graphics = NoGraphics
	case g == Sixel, (g == Kitty || g == ITerm) && !t.Tmux && !t.screen:
		t.Graphics = g
	}
	return t
}

// Cells returns the terminal with the size of its cells, from that of the whole in
// pixels and in cells. Sizes that no font has are not believed.
func (t Terminal) Cells(pixelWidth, pixelHeight, columns, rows int) Terminal {
	if columns <= 0 || rows <= 0 {
		return t
	}
	if w, h := pixelWidth/columns, pixelHeight/rows; w >= 2 && h >= 4 && w <= 100 && h <= 200 {
		t.CellWidth, t.CellHeight = w, h
	}
	return t
}

// through wraps a sequence so that tmux and screen hand it on to the terminal that
// they run in. Tmux does so with allow-passthrough on.
func (t Terminal) through(sequence string) string {
	switch {
	case t.Tmux:
		return ansi.TmuxPassthrough(sequence)
	case t.screen:
		return ansi.ScreenPassthrough(sequence, screenLimit)
	}
	return sequence
}

// screenLimit is how many bytes screen hands on at once.
const screenLimit = 768
