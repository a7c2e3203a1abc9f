// Package notice shows people what belongs to no message: sentences of the host and of
// extensions, and what an extension shows beside the conversation. Nothing of it is
// stored; the diagnostics of the session have the warnings and errors. [Notices] may be
// used by any number of goroutines at once.
package notice

import (
	"strings"

	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// maxText bounds the text of a notice, in bytes; a longer one is cut.
const maxText = 4 << 10

// maxName bounds the key and the source of what an extension shows, in bytes; what
// has a longer one is not shown.
const maxName = 100

// Notices shows people what concerns one session.
type Notices struct{ j *journal.Journal }

// New returns the notices of a session.
func New(j *journal.Journal) *Notices { return &Notices{j} }

// Notify shows people a sentence. source is who says it, "" for the host; level is
// info, warning or error, and anything else is info. Who is not connected does not see
// it; the diagnostics of the session have the warnings and errors.
func (n *Notices) Notify(source, level, text string) {
	switch level {
	case "warning", "error":
		what := text
		if source != "" {
			what = source + ": " + text
		}
		n.j.Report(level + ": " + Cut(what, maxText))
	default:
		level = "info"
	}
	n.j.Lock()
	defer n.j.Unlock()
	n.Put(source, level, text)
}

// Put shows people a sentence and reports nothing. The journal is locked.
func (n *Notices) Put(source, level, text string) {
	if err := n.j.Notify(&protocol.Notice{Source: Cut(source, maxName), Level: level, Text: Cut(text, maxText)}); err != nil {
		n.j.Report("show a notice: " + err.Error())
	}
}

// SetUI shows what an extension has to show until it is replaced or removed: too many
// lines and too long ones are cut. Who connects later sees it too.
func (n *Notices) SetUI(s protocol.UIState) {
	if len(s.Source) > maxName || len(s.Key) > maxName {
		n.j.Report("something to show has a name of more than 100 bytes")
		return
	}
	switch s.Place {
	case "status", "above", "below", "title", protocol.PlaceEditor, protocol.PlaceHeader, protocol.PlaceFooter, protocol.PlaceEditorComponent, protocol.PlaceIndicator, protocol.PlaceThinking, protocol.PlaceTheme, protocol.PlaceWorking, protocol.PlaceCompletions:
	default:
		s.Place = "status"
	}
	if s.IntervalMS != 0 {
		s.IntervalMS = min(max(s.IntervalMS, protocol.MinIndicatorMS), protocol.MaxIndicatorMS)
	}
	if s.Place == protocol.PlaceEditor {
		if text := strings.Join(s.Lines, "\n"); len(s.Lines) > 0 { // a text, and no lines of a screen
			s.Lines = strings.Split(Cut(text, protocol.MaxUIEditorBytes), "\n")
		}
	} else {
		lines := s.Lines[:min(len(s.Lines), protocol.MaxUILines)]
		s.Lines = nil
		for _, line := range lines {
			s.Lines = append(s.Lines, Cut(line, protocol.MaxUILineBytes))
		}
	}
	n.j.Lock()
	defer n.j.Unlock()
	if err := n.j.Notify(&s); err != nil {
		n.j.Report("show something of an extension: " + err.Error())
	}
}

// Cut returns the beginning of a text, at most n bytes of valid UTF-8.
func Cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
