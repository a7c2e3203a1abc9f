package crashtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Log is a session log as its bytes show it.
type Log struct {
	Whole []byte            // the header and every complete line
	Tail  []byte            // what is after the last newline
	lines map[string][]byte // by event id
	order map[string]int
}

// envelope is what the checker looks at in an event line.
type envelope struct {
	Type     string  `json:"type"`
	ID       string  `json:"id"`
	ParentID *string `json:"parentId"`
	Seq      uint64  `json:"seq"`
	Control  bool    `json:"control"`
	TurnID   string  `json:"turnId"`
}

// ReadLog checks the bytes of a log: every complete line is a JSON object, the
// first is a header, ids are there once, seqs rise, and a parent is a
// conversation event before its child.
func ReadLog(data []byte) (*Log, error) {
	end := bytes.LastIndexByte(data, '\n') + 1
	l := &Log{Whole: data[:end], Tail: data[end:], lines: map[string][]byte{}, order: map[string]int{}}
	if end == 0 {
		return l, errors.New("the log has no header")
	}
	conversation := map[string]bool{}
	last := uint64(0)
	for i, line := range bytes.Split(data[:end-1], []byte("\n")) {
		if i == 0 {
			var h struct {
				Version   int    `json:"version"`
				SessionID string `json:"sessionId"`
			}
			if err := json.Unmarshal(line, &h); err != nil || h.Version < 1 || h.SessionID == "" {
				return l, fmt.Errorf("line 1 is not a header: %.200q (%w)", line, err)
			}
			continue
		}
		var e envelope
		if err := json.Unmarshal(line, &e); err != nil {
			return l, fmt.Errorf("line %d is not JSON: %w: %.200q", i+1, err, line)
		}
		switch {
		case e.ID == "" || e.Type == "" || e.Seq == 0:
			return l, fmt.Errorf("line %d lacks type, id or seq: %.200q", i+1, line)
		case l.lines[e.ID] != nil:
			return l, fmt.Errorf("line %d repeats the id %s", i+1, e.ID)
		case e.Seq <= last:
			return l, fmt.Errorf("line %d has the seq %d behind %d", i+1, e.Seq, last)
		case e.ParentID != nil && !conversation[*e.ParentID]:
			return l, fmt.Errorf("line %d hangs on %s, which is not a conversation event before it", i+1, *e.ParentID)
		}
		last = e.Seq
		l.lines[e.ID], l.order[e.ID] = line, i
		conversation[e.ID] = !e.Control
	}
	return l, nil
}

// Holds reports whether every persistent event among the printed lines is in the
// log with the bytes that were printed, in the order of the log. It returns how
// many there were. Behind the last newline of printed stands what the kill cut
// off; it counts for nothing.
func (l *Log) Holds(printed []byte) (n int, err error) {
	last := 0
	for line := range bytes.Lines(printed) {
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole {
			break
		}
		var e envelope
		if err := json.Unmarshal(line, &e); err != nil {
			return n, fmt.Errorf("a printed line is not JSON: %w: %.200q", err, line)
		}
		if e.ID == "" {
			continue
		}
		n++
		switch {
		case l == nil || l.lines[e.ID] == nil:
			return n, fmt.Errorf("the event %s (%s, seq %d) was printed and is not in the log", e.ID, e.Type, e.Seq)
		case !bytes.Equal(l.lines[e.ID], line):
			return n, fmt.Errorf("the event %s was printed as\n%s\nand stands in the log as\n%s", e.ID, line, l.lines[e.ID])
		case l.order[e.ID] <= last:
			return n, fmt.Errorf("the event %s was printed behind one that follows it in the log", e.ID)
		}
		last = l.order[e.ID]
	}
	return n, nil
}

// Pairs reports whether in a request of the Messages API each tool_use has exactly
// one tool_result in the message after it, and each tool_result its tool_use.
func Pairs(body []byte) error {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("the request is not JSON: %w", err)
	}
	if len(r.Messages) == 0 {
		return errors.New("the request has no messages")
	}
	waiting := map[string]bool{}
	for i, m := range r.Messages {
		var blocks []struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			ToolUseID string `json:"tool_use_id"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // a string has no blocks
		for _, b := range blocks {
			if b.Type != "tool_result" {
				continue
			}
			if !waiting[b.ToolUseID] {
				return fmt.Errorf("message %d has a result of %q, which the message before it did not call", i, b.ToolUseID)
			}
			delete(waiting, b.ToolUseID)
		}
		for id := range waiting {
			return fmt.Errorf("message %d lacks the result of %q", i, id)
		}
		for _, b := range blocks {
			if b.Type == "tool_use" {
				waiting[b.ID] = true
			}
		}
	}
	for id := range waiting {
		return fmt.Errorf("the last message calls %q, and no result follows", id)
	}
	return nil
}
