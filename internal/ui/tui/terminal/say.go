package terminal

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"scorel/protocol/display"
)

// Bounds of what is sent to the terminal.
const (
	MaxCopied = 74_994 // bytes for the clipboard: xterm takes no more than 100,000 in base64
	maxNotice = 250    // characters of a notification; the rest is left out
)

// Copy returns the sequence (OSC 52) that puts a text into the clipboard of the
// terminal, through SSH too. Tmux does so with set-clipboard on, or hands it on with
// allow-passthrough on. It fails for a text that terminals would not take.
func (t Terminal) Copy(text string) (string, error) {
	if len(text) > MaxCopied {
		return "", fmt.Errorf("the text has %d bytes, and a terminal's clipboard takes %d; copy less of it, or use /export", len(text), MaxCopied)
	}
	sequence := ansi.SetSystemClipboard(text)
	switch {
	case t.Tmux:
		return sequence + t.through(sequence), nil
	case t.screen:
		return t.through(sequence), nil
	}
	return sequence, nil
}

// Notify returns the sequence for a notification of the desktop, "" where the terminal
// is not known to have any: there it is the [Bell]. Title and body are shortened.
func (t Terminal) Notify(title, body string) string {
	title, body = noticeText(title), noticeText(body)
	var sequence string
	switch t.notice {
	case osc99:
		sequence = ansi.DesktopNotification(title, "i=scorel", "d=0", "p=title") + ansi.DesktopNotification(body, "i=scorel", "p=body")
	case osc777:
		sequence = "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + strings.ReplaceAll(body, ";", ",") + "\a"
	case osc9:
		sequence = ansi.Notify(title + ": " + body)
	default:
		return ""
	}
	return t.through(sequence)
}

// Bell is the sequence that rings.
const Bell = "\a"

// noticeText makes one short line of a text, which cannot end the sequence that it is in.
func noticeText(text string) string {
	runes := []rune(display.Line(text))
	if len(runes) > maxNotice {
		runes = append(runes[:maxNotice-1], '…')
	}
	return string(runes)
}
