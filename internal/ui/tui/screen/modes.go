package screen

import (
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Sequences that x/ansi has no name for, or that are needed in one piece.
const (
	// eraseBelow erases from the cursor's line on. That line goes by itself: tmux puts
	// what is erased from the top of the screen on into the scrollback.
	eraseBelow  = "\x1b[2K\x1b7\x1b[B\x1b[J\x1b8"
	eraseRight  = "\x1b[K"
	reset       = "\x1b[m"
	showCursor  = "\x1b[?25h"
	hideCursor  = "\x1b[?25l"
	syncBegin   = "\x1b[?2026h"
	syncEnd     = "\x1b[?2026l"
	altOn       = "\x1b[?1049h"
	altOff      = "\x1b[?1049l"
	mouseOn     = "\x1b[?1002h\x1b[?1006h" // clicks, drags and the wheel, with places in decimal
	mouseOff    = "\x1b[?1002l\x1b[?1006l"
	pasteOn     = "\x1b[?2004h"
	pasteOff    = "\x1b[?2004l"
	focusOn     = "\x1b[?1004h"
	focusOff    = "\x1b[?1004l"
	wrapOff     = "\x1b[?7l"
	wrapOn      = "\x1b[?7h"
	keysOn      = "\x1b[>5u" // kitty: ambiguous keys have sequences, which name those of other layouts too
	keysOff     = "\x1b[<1u"
	otherOn     = "\x1b[>4;1m" // xterm: so have Shift-Enter and the like
	otherOff    = "\x1b[>4;0m"
	saveCursor  = "\x1b7"
	backCursor  = "\x1b8"
	saveTitle   = "\x1b[22;2t"
	backTitle   = "\x1b[23;2t"
	eraseScreen = "\x1b[H\x1b[2J"
)

// Queries asks for the colours, whether keys are told apart and output is
// synchronised, and last for what every terminal answers, so that the end of the
// answers is known. The answers are events of Bubble Tea.
const Queries = ansi.RequestForegroundColor + ansi.RequestBackgroundColor + ansi.RequestKittyKeyboard +
	"\x1b[?2026$p" + ansi.RequestPrimaryDeviceAttributes

// Cuts reports whether the terminal of this environment cuts lines when it gets narrower
// instead of breaking them again.
func Cuts(getenv func(string) string) bool {
	if getenv("TMUX") != "" {
		return false
	}
	t := getenv("TERM")
	return getenv("XTERM_VERSION") != "" || t == "linux" || strings.HasPrefix(t, "screen") || strings.HasPrefix(t, "st-") || t == "st"
}

// oldTerminal says that a terminal mistakes the sequences for keys.
func oldTerminal() bool { return os.Getenv("TERM") == "linux" }

// up and down move the cursor by lines. Where a terminal that got lower has dropped the
// lines below, it makes room for them: the way back up leads to where it began.
func up(n int) string   { return moved(n, 'A') }
func down(n int) string { return strings.Repeat("\n", max(n, 0)) }

func moved(n int, how byte) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "\x1b[" + string(how)
	}
	return "\x1b[" + strconv.Itoa(n) + string(how)
}

// restore returns what sets all modes of a terminal back and brings the cursor to an
// empty line, with so many lines of the region below it.
func restore(alt bool, below int, title bool) string {
	back := reset + syncEnd + mouseOff + pasteOff + focusOff + keysOff + otherOff
	if alt {
		back += altOff + keysOff
	}
	if title {
		back += backTitle
	}
	return back + wrapOn + "\r" + down(below) + "\n" + showCursor
}
