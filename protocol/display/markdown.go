package display

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"scorel/protocol"
)

// How much of a result an export shows.
const (
	maxResultLines = 200
	maxResultBytes = 20_000
)

// Markdown writes a session as readable Markdown: a title, what the header says,
// then the events in the order they come (the caller chooses: usually the active
// path); those that are not stored are left out. Results of tools are folded and cut. The text of messages is Markdown
// already and is written as it is, except that an open code fence is closed and
// tags that would swallow what follows are escaped. It stops at the first error
// of events or w and returns it.
func Markdown(w io.Writer, header protocol.Header, events iter.Seq2[protocol.Event, error]) error {
	out := &markdown{w: bufio.NewWriter(w)}
	out.head(header)
	var calls Unanswered
	for e, err := range Joined(events, nil) {
		if err != nil {
			return fmt.Errorf("export a session: %w", err)
		}
		if e.Class() != protocol.Transient {
			for _, c := range calls.Add(e) {
				out.unanswered(c, NoResult)
			}
			out.item(Of(e))
		}
	}
	for _, c := range calls.Open() {
		out.unanswered(c, "no result yet, or it is lost")
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("export a session: %w", err)
	}
	return nil
}

// markdown writes blocks with a blank line between them. Errors of the writer
// are kept by it and come with Flush.
type markdown struct{ w *bufio.Writer }

func (m *markdown) block(text string) {
	_, _ = m.w.WriteString(strings.TrimRight(text, "\n") + "\n\n")
}

func (m *markdown) head(h protocol.Header) {
	title := Line(h.Meta.Name)
	if title == "" {
		title = "Session " + Line(string(h.SessionID))
	}
	lines := []string{"- Session: " + code(string(h.SessionID))}
	if h.CreatedAt > 0 {
		lines = append(lines, "- Created: "+time.UnixMilli(h.CreatedAt).UTC().Format("2006-01-02 15:04 UTC"))
	}
	if h.Meta.WorkDir != "" {
		lines = append(lines, "- Working directory: "+code(h.Meta.WorkDir))
	}
	if h.Meta.Model != "" {
		lines = append(lines, "- Model: "+code(h.Meta.Model))
	}
	if h.ClonedFrom != nil {
		lines = append(lines, "- Cloned from: "+code(string(h.ClonedFrom.SessionID)))
	}
	m.block("# " + escapeLine(title))
	m.block(strings.Join(lines, "\n"))
}

func (m *markdown) item(it Item) {
	switch it.Kind {
	case Bubble:
		m.bubble(it)
	case Note:
		m.block("## User (while the assistant worked)")
		m.block(prose(it.Text))
	case Tool:
		m.result(it)
	case Folded:
		m.details(it.Title, prose(it.Text))
	case Notice:
		m.block(quote(strings.TrimSpace(it.Title + "\n" + it.Text)))
	case Marker:
		m.block("---\n\n*" + escapeLine(it.Title) + "*")
	case Badge:
		m.block("*Through " + escapeLine(it.Title) + ":*")
	case Audit:
		if it.Status == Denied {
			m.block(quote(it.Title))
		}
	case Shell:
		m.shell(it)
	case Custom:
		if it.Text != "" {
			m.block("## " + escapeLine(it.Title))
			m.block(prose(it.Text))
		}
	}
}

func (m *markdown) bubble(it Item) {
	if it.Role != protocol.RoleAssistant {
		m.block("## User")
		m.block(prose(it.Text))
		return
	}
	m.block("## Assistant")
	for _, p := range it.Parts {
		switch p.Kind {
		case Thinking:
			m.details("Thinking", prose(p.Text))
		case Tool:
			m.call(p)
		case Notice:
			m.block(quote(p.Text))
		default:
			if strings.TrimSpace(p.Text) != "" {
				m.block(prose(p.Text))
			}
		}
	}
}

func (m *markdown) call(it Item) {
	m.block("**" + escapeLine(it.ToolName) + "** " + code(it.Title))
	m.block(fence("json", it.Input))
}

// unanswered says that a call has no result.
func (m *markdown) unanswered(c protocol.Block, why string) {
	what := escapeLine(c.Name)
	if s := Summary(c.Name, c.Input); s != "" {
		what += " " + code(s)
	}
	m.block("*" + what + ": " + why + ".*")
}

func (m *markdown) shell(it Item) {
	title := "Command of the user"
	if it.Role == protocol.RoleInternal {
		title += ", not told to the model"
	}
	if it.Status != OK {
		title += " (" + string(it.Status) + ")"
	}
	m.block("**" + title + "** " + code(it.Title))
	m.block(fence("", cut(it.Text)))
}

func (m *markdown) result(it Item) {
	title := "Result of " + it.ToolName
	if it.Status != OK {
		title += " (" + string(it.Status) + ")"
	}
	body := fence("", cut(it.Text))
	if it.Diff != "" {
		body += "\n\n" + fence("diff", cut(it.Diff))
	}
	m.details(title, body)
}

func (m *markdown) details(title, body string) {
	title = strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(title)
	m.block("<details>\n<summary>" + title + "</summary>\n\n" + strings.TrimRight(body, "\n") + "\n\n</details>")
}

// cut keeps the front of a long text, on whole lines if it can.
func cut(s string) string {
	lines, bytes := strings.Count(s, "\n")+1, len(s)
	keep := s
	if len(keep) > maxResultBytes {
		n := maxResultBytes
		for n > 0 && keep[n]&0xc0 == 0x80 {
			n--
		}
		keep = keep[:n]
	}
	if parts := strings.SplitN(keep, "\n", maxResultLines+1); len(parts) > maxResultLines {
		keep = strings.Join(parts[:maxResultLines], "\n")
	}
	if len(keep) == bytes {
		return s
	}
	return fmt.Sprintf("%s\n[cut: %d lines, %s bytes in all]", strings.TrimRight(keep, "\n"), lines, thousands(bytes))
}

// fence puts text into a code block whose fence is longer than any in it.
func fence(info, text string) string {
	f := strings.Repeat("`", max(3, longest(text, '`')+1))
	return f + info + "\n" + strings.TrimRight(text, "\n") + "\n" + f
}

func longest(s string, c byte) int {
	best, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		best = max(best, run)
	}
	return best
}

// code writes a value as inline code.
func code(s string) string {
	s = Line(s)
	if s == "" {
		return ""
	}
	f := strings.Repeat("`", longest(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return f + s + f
}

func quote(s string) string {
	lines := strings.Split(prose(s), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	return strings.Join(lines, "\n")
}

// escapeLine makes a line that is in a heading or tag plain text.
func escapeLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			b.WriteString("&lt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '*', '_', '`', '[', ']', '\\', '#':
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// prose passes Markdown on, but closes a code fence that is left open and
// escapes the tags that would swallow or end what is around it.
func prose(s string) string {
	lines := strings.Split(s, "\n")
	open := ""
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		mark := ""
		if len(line)-len(trimmed) < 4 { // deeper is indented code
			mark = fenceMark(trimmed)
		}
		switch {
		case open == "" && mark != "":
			open = mark
		case open != "":
			if mark != "" && mark[0] == open[0] && len(mark) >= len(open) && strings.TrimSpace(trimmed[len(mark):]) == "" {
				open = ""
			}
		default:
			lines[i] = escapeTags(line)
		}
	}
	s = strings.Join(lines, "\n")
	if open != "" {
		s = strings.TrimRight(s, "\n") + "\n" + open
	}
	return s
}

func fenceMark(line string) string {
	if line == "" || (line[0] != '`' && line[0] != '~') {
		return ""
	}
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 || (line[0] == '`' && strings.Contains(line[n:], "`")) {
		return ""
	}
	return line[:n]
}

func escapeTags(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '<' && swallows(line[i+1:]) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// swallows lists what begins a block of raw HTML that does not end at a blank
// line, and the tags that an export uses itself.
func swallows(rest string) bool {
	if rest == "" {
		return false
	}
	if rest[0] == '!' || rest[0] == '?' {
		return true
	}
	rest = strings.TrimPrefix(rest, "/")
	for _, name := range [...]string{"details", "summary", "script", "style", "pre", "textarea", "iframe"} {
		if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			return true
		}
	}
	return false
}
