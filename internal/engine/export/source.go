package export

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"scorel/protocol"
	"scorel/protocol/display"
)

// Source is the session that a page is made from.
type Source struct {
	// Header has the meta as it is now.
	Header protocol.Header
	// Path is the active path, the first event first.
	Path []protocol.EventID
	// All returns all persistent events in the order of seq. It is called twice.
	All func() iter.Seq2[protocol.Event, error]
	// Blob opens a payload and gives its size; nil: there are none.
	Blob func(sha256 string) (io.ReadCloser, int64, error)
	// Whole reads the whole of a text that the log has cut; nil: it is not available.
	Whole func(sha256 string) ([]byte, error)
	// Notices are put at the top, such as damage of the log; one sentence each.
	Notices []string
}

// survey is what the head of a page needs to know of all events.
type survey struct {
	place    map[protocol.EventID]int // on the path
	seqs     []protocol.Seq           // of the path
	labels   map[protocol.EventID]string
	prompts  []prompt
	more     int // prompts that are not listed
	branches []*branch
	from     map[protocol.EventID][]int // the branches that leave the path after an event; "" at its start
	usage    protocol.Usage
	messages int
	calls    int
	denied   int
	system   string
}

// prompt is an entry of the contents.
type prompt struct {
	id   protocol.EventID
	text string
}

// branch is a part of the tree off the path.
type branch struct {
	from     protocol.EventID // the event of the path that it leaves
	text     string
	messages int
	ts       int64
}

// maxPrompts bounds the contents and maxBranches the branches of a page.
const (
	maxPrompts  = 200
	maxBranches = 200
)

func look(src Source) (*survey, error) {
	s := &survey{place: make(map[protocol.EventID]int, len(src.Path)), seqs: make([]protocol.Seq, len(src.Path)),
		labels: map[protocol.EventID]string{}, from: map[protocol.EventID][]int{}}
	for i, id := range src.Path {
		s.place[id] = i
	}
	off := map[protocol.EventID]int{} // the branch of each event that is not on the path, -1: not listed
	for e, err := range src.All() {
		if err != nil {
			return nil, err
		}
		if e.Control {
			s.control(e)
			continue
		}
		if m, ok := e.Message(); ok {
			s.message(m)
		} else if _, left := e.Body.(*protocol.BranchSummary); !left { // it belongs to no path
			if u := e.Usage(); u != nil {
				s.usage.Add(*u)
			}
		}
		if i, ok := s.place[e.ID]; ok {
			s.seqs[i] = e.Seq
			s.prompt(e)
			continue
		}
		n, ok := off[e.ParentID]
		if !ok {
			n = s.leave(e)
		}
		if off[e.ID] = n; n >= 0 {
			s.branches[n].add(e)
		}
	}
	return s, nil
}

// leave notes a branch that begins with an event.
func (s *survey) leave(e protocol.Event) int {
	if len(s.branches) == maxBranches {
		return -1
	}
	from := e.ParentID
	if _, ok := s.place[from]; !ok {
		from = "" // at the start, or after a gap
	}
	s.branches = append(s.branches, &branch{from: from})
	n := len(s.branches) - 1
	s.from[from] = append(s.from[from], n)
	return n
}

func (b *branch) add(e protocol.Event) {
	b.ts = e.TS
	m, ok := e.Message()
	if !ok {
		return
	}
	b.messages++
	if b.text == "" {
		b.text = brief(m.PlainText(), 120)
	}
}

func (s *survey) control(e protocol.Event) {
	switch b := e.Body.(type) {
	case *protocol.Label:
		delete(s.labels, b.TargetEventID)
		if b.Label != nil {
			s.labels[b.TargetEventID] = display.Line(*b.Label)
		}
	case *protocol.PermissionDecision:
		if b.Decision == protocol.DecisionDeny {
			s.denied++
		}
	case *protocol.InstructionSnapshot:
		s.system = b.Snapshot.Text
	}
}

func (s *survey) message(m protocol.Message) {
	s.messages++
	if m.Role == protocol.RoleAssistant {
		s.calls += len(m.Calls())
		if m.Usage != nil {
			s.usage.Add(*m.Usage)
		}
	}
}

func (s *survey) prompt(e protocol.Event) {
	m, ok := e.Body.(*protocol.MessageBody)
	if !ok || m.Message.Role != protocol.RoleUser {
		return
	}
	if len(s.prompts) == maxPrompts {
		s.more++
		return
	}
	if text := brief(m.Message.PlainText(), 100); text != "" {
		s.prompts = append(s.prompts, prompt{e.ID, text})
	}
}

// shown reports whether an event is part of the page: one of the path, or a control
// event that belongs to it.
func (s *survey) shown(e protocol.Event) bool {
	if !e.Control {
		_, ok := s.place[e.ID]
		return ok
	}
	next := 0
	if e.ParentID != "" {
		i, ok := s.place[e.ParentID]
		if !ok {
			return false
		}
		next = i + 1
	}
	return next == len(s.seqs) || e.Seq < s.seqs[next]
}

// only gives the events that are part of the page.
func (s *survey) only(events iter.Seq2[protocol.Event, error]) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for e, err := range events {
			if (err != nil || s.shown(e)) && !yield(e, err) {
				return
			}
		}
	}
}

// marked reports whether something leads to an event: a label, or a branch that was left.
func (s *survey) marked(e protocol.Event) bool { return s.labels[e.ID] != "" || len(s.from[e.ID]) > 0 }

// brief returns the first line of a text with letters, cut.
func brief(text string, most int) string {
	for line := range strings.Lines(display.Text(text[:min(len(text), 4096)])) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > most {
			line = string([]rune(line)[:most-1]) + "…"
		}
		return strings.ToValidUTF8(line, "")
	}
	return ""
}

// title is what the page is called.
func (s *survey) title(h protocol.Header) string {
	if name := brief(h.Meta.Name, 120); name != "" {
		return name
	}
	if len(s.prompts) > 0 {
		return s.prompts[0].text
	}
	return fmt.Sprintf("Session %s", h.SessionID)
}
