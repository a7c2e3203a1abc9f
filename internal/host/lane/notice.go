package lane

import (
	"strings"

	"scorel/protocol"
)

// maxNotice bounds the text of a notice, in bytes; a longer one is cut.
const maxNotice = 4 << 10

// maxUIName bounds the key and the source of what an extension shows, in bytes; what
// has a longer one is not shown.
const maxUIName = 100

// Notify shows people a sentence. source is who says it, "" for the host; level is
// info, warning or error, and anything else is info. Who is not connected does not see
// it; the diagnostics of the session have the warnings and errors.
func (l *Lane) Notify(source, level, text string) {
	switch level {
	case "warning", "error":
		what := text
		if source != "" {
			what = source + ": " + text
		}
		l.cfg.Report(level+": "+cut(what, maxNotice), nil)
	default:
		level = "info"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notice(source, level, text)
}

// notice shows people a sentence. mu is held.
func (l *Lane) notice(source, level, text string) {
	if err := l.tell(&protocol.Notice{Source: cut(source, maxUIName), Level: level, Text: cut(text, maxNotice)}); err != nil {
		l.cfg.Report("show a notice: "+err.Error(), nil)
	}
}

// SetUI shows what an extension has to show until it is replaced or removed: too many
// lines and too long ones are cut. Who connects later sees it too.
func (l *Lane) SetUI(s protocol.UIState) {
	if len(s.Source) > maxUIName || len(s.Key) > maxUIName {
		l.cfg.Report("something to show has a name of more than 100 bytes", nil)
		return
	}
	switch s.Place {
	case "status", "above", "below", "title", "editor":
	default:
		s.Place = "status"
	}
	lines := s.Lines
	if len(lines) > protocol.MaxUILines {
		lines = lines[:protocol.MaxUILines]
	}
	s.Lines = nil
	for _, line := range lines {
		s.Lines = append(s.Lines, cut(line, protocol.MaxUILineBytes))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.tell(&s); err != nil {
		l.cfg.Report("show something of an extension: "+err.Error(), nil)
	}
}

// cut gives the beginning of a text, at most n bytes of valid UTF-8.
func cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
