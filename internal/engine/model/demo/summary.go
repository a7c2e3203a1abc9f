package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"scorel/protocol"
)

// changeMark begins a line of a summary that tells of a change: the input of a
// call of Edit follows.
const changeMark = "- Edit "

// summarise writes down what a conversation was about, for the model itself: a
// later request holds the summary in place of the messages. The request has the
// conversation as text, one entry a message, each beginning with who speaks.
func summarise(messages []protocol.Message) string {
	var all strings.Builder
	for _, m := range messages {
		all.WriteString(m.PlainText())
		all.WriteByte('\n')
	}
	text := all.String()
	earlier, _ := between(text, "<previous-summary>", "</previous-summary>")
	talk, ok := between(text, "<conversation>", "</conversation>")
	if !ok {
		talk = text
	}
	var prompts, changes, pending []string
	for line := range strings.Lines(earlier) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, changeMark):
			changes = append(changes, line)
		case strings.HasPrefix(line, promptMark):
			prompts = append(prompts, line)
		}
	}
	runs, failed := 0, 0
	for line := range strings.Lines(talk) {
		line = strings.TrimSpace(line)
		who, what, _ := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		switch {
		case !strings.HasPrefix(line, "["):
		case who == "User":
			prompts = append(prompts, promptMark+clip(what, 200))
		case who == "Assistant calls Edit":
			pending = append(pending, what)
		case who == "Result of Edit" && len(pending) > 0:
			changes = append(changes, changeMark+pending[0])
			pending = pending[1:]
		case who == "Error of Edit" && len(pending) > 0:
			if cutOff(what) { // what did not take effect cannot be taken back, so it does no harm
				changes = append(changes, changeMark+pending[0])
			}
			pending = pending[1:]
		case who == "Result of Bash":
			runs++
		case who == "Error of Bash":
			runs, failed = runs+1, failed+1
		}
	}
	var s strings.Builder
	s.WriteString("This summary was written by the demo model of Scorel, which is not a language model: it lists and does not understand.\n")
	for _, p := range prompts {
		s.WriteString(p + "\n")
	}
	fmt.Fprintf(&s, "In the part that was summarised last, commands ran %d times and %d of these failed.\n", runs, failed)
	if len(changes) > 0 {
		s.WriteString("Files were changed in this order; each change was a try:\n")
	}
	for _, c := range changes {
		s.WriteString(c + "\n")
	}
	return strings.TrimSpace(s.String())
}

// promptMark begins a line of a summary that repeats what the user asked.
const promptMark = "- The user asked: "

// cutSummary returns the summary in a message that stands for earlier ones.
func cutSummary(text string) (string, bool) { return between(text, "<summary>", "</summary>") }

func between(text, open, end string) (string, bool) {
	_, rest, ok := strings.Cut(text, open)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, end)
	return inner, ok
}

// recall takes a summary in.
func (s *story) recall(summary string) {
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, promptMark); ok {
			s.wish = s.wish.then(text)
			continue
		}
		raw, ok := strings.CutPrefix(line, changeMark)
		if !ok {
			continue
		}
		in := decode[editInput](json.RawMessage(raw))
		if in.Path == "" {
			continue
		}
		f := s.sources[in.Path]
		if f == nil {
			f = &source{path: in.Path}
			s.sources[in.Path] = f
		}
		f.past = append(f.past, in.Edits)
	}
}

// trace finds out, from a file's content and the changes that led to it, how it
// was before them and what was tried on the way.
func (s *story) trace(f *source, content string) {
	f.base = content
	for i := len(f.past) - 1; i >= 0; i-- {
		before, ok := undo(f.base, f.past[i])
		if !ok {
			continue // that one did not take effect
		}
		s.attempt(f.path, f.base)
		f.base = before
	}
	s.forget(f.path, f.base)
}

// forget takes a content out of what was tried.
func (s *story) forget(path, content string) {
	for i, t := range s.tries {
		if t == (try{path, content}) {
			s.tries = append(s.tries[:i:i], s.tries[i+1:]...)
			return
		}
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
