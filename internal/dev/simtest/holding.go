package simtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/protocol"
	"scorel/protocol/fold"
)

// holding is what a client has of one session: the persistent events that it was
// given, and what is running. It follows the protocol by its letter and knows
// nothing of the client library.
type holding struct {
	mode   protocol.Resync  // how it catches up; "" when it is live
	tail   []protocol.Event // of a reload: of the path, and what came meanwhile
	from   protocol.Seq     // after it there is no gap
	events []protocol.Event
	live   protocol.Live
	begun  bool // a live state has come since the last reload
}

// anchors is where the client is, nil when it holds nothing.
func (h *holding) anchors() *protocol.Anchors {
	if !h.begun {
		return nil
	}
	a := h.live.Anchors()
	a.PersistentLastSeq = h.last()
	if n := len(h.events); n > 0 {
		a.PersistentLastID = h.events[n-1].ID
	}
	return &a
}

// resync begins to catch up.
func (h *holding) resync(mode protocol.Resync) error {
	switch mode {
	case protocol.FullReload:
		*h = holding{}
	case protocol.StreamResume, protocol.PersistentFallback:
		if n := len(h.tail); !h.begun && mode == protocol.PersistentFallback && n > 0 {
			h.begun, h.from = true, h.tail[n-1].Seq // a reload that was cut off goes on from where it came to
		}
		if !h.begun {
			return fmt.Errorf("the host answers %s to a client that holds nothing", mode)
		}
	default:
		return fmt.Errorf("the host answers %q", mode)
	}
	h.mode = mode
	return nil
}

// fresh takes a live state, which ends the catching up.
func (h *holding) fresh(l protocol.Live) error {
	if !h.begun {
		h.begun, h.from = true, l.PersistentLastSeq
	}
	if last := h.last(); last != l.PersistentLastSeq {
		return fmt.Errorf("a live state as of the event %d comes behind the event %d (%s)", l.PersistentLastSeq, last, h.mode)
	}
	if h.mode == protocol.StreamResume {
		if err := sameLive(h.live, l); err != nil {
			return fmt.Errorf("the state after a resume and the host's: %w", err)
		}
	}
	h.live, h.mode = l.Clone(), ""
	return nil
}

// last is the seq of the newest persistent event.
func (h *holding) last() protocol.Seq {
	if n := len(h.events); n > 0 {
		return h.events[n-1].Seq
	}
	return h.from
}

// take takes events.
func (h *holding) take(events []protocol.Event, knows func(string) bool) error {
	for _, e := range events {
		switch {
		case h.mode == protocol.FullReload || h.mode == protocol.PersistentFallback:
			if e.IsTransient() {
				return fmt.Errorf("the transient event %s %d comes in a %s", e.Type, e.Seq, h.mode)
			}
			if h.mode == protocol.FullReload {
				if n := len(h.tail); n > 0 && e.Seq <= h.tail[n-1].Seq {
					return fmt.Errorf("the event %s %d comes behind the event %d in a reload", e.Type, e.Seq, h.tail[n-1].Seq)
				}
				h.tail = append(h.tail, e)
				continue
			}
			if e.Seq <= h.last() {
				return fmt.Errorf("the event %s %d comes behind the event %d in a %s", e.Type, e.Seq, h.last(), h.mode)
			}
			h.events = append(h.events, e)
		case !h.begun:
			return fmt.Errorf("the event %s %d comes before any state", e.Type, e.Seq)
		default:
			if err := h.one(e, knows); err != nil {
				return err
			}
		}
	}
	return nil
}

// one takes an event of the stream.
func (h *holding) one(e protocol.Event, knows func(string) bool) error {
	if e.Seq <= h.live.ThroughSeq {
		return fmt.Errorf("the event %s %d comes behind the event %d", e.Type, e.Seq, h.live.ThroughSeq)
	}
	if !e.IsTransient() {
		if err := h.finished(e); err != nil {
			return err
		}
		h.events = append(h.events, e)
	}
	fold.Apply(&h.live, e)
	return running(h.live, knows)
}

// running checks what is running against what was said.
func running(l protocol.Live, knows func(string) bool) error {
	for _, m := range l.Messages {
		for i, b := range m.Blocks {
			text := string(b.Text)
			if b.Type == protocol.BlockToolUse || text == "" {
				continue
			}
			if !knows(text) {
				return fmt.Errorf("block %d of the running message %s is %q, which was not said", i, m.EventID, text)
			}
		}
	}
	return nil
}

// finished checks a message that was running and has come whole.
func (h *holding) finished(e protocol.Event) error {
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleAssistant || m.Partial {
		return nil
	}
	for _, r := range h.live.Messages {
		if r.EventID != e.ID {
			continue
		}
		if len(r.Blocks) != len(m.Content) {
			return fmt.Errorf("the message %s has %d blocks and came as %d", e.ID, len(m.Content), len(r.Blocks))
		}
		for i, b := range m.Content {
			want := b.Text
			switch b.Type {
			case protocol.BlockThinking:
				want = b.Thinking
			case protocol.BlockToolUse:
				want = string(b.Input)
			}
			if got := string(r.Blocks[i].Text); got != want || r.Blocks[i].Type != b.Type {
				return fmt.Errorf("block %d of the message %s is %q, and what ran was %q", i, e.ID, want, got)
			}
		}
	}
	return nil
}

// agrees compares with the events of the log.
func (h *holding) agrees(log []protocol.Event) error {
	if !h.begun {
		return nil
	}
	at := map[protocol.EventID]protocol.Event{}
	var want []protocol.Event
	for _, e := range log {
		at[e.ID] = e
		if e.Seq > h.from && e.Seq <= h.last() {
			want = append(want, e)
		}
	}
	for i, e := range h.tail {
		if err := same(e, at[e.ID]); err != nil {
			return fmt.Errorf("event %d of the reload: %w", i, err)
		}
	}
	for i, e := range h.events {
		if i >= len(want) {
			return fmt.Errorf("the client has %d events behind %d, the log %d: %s is not in it", len(h.events), h.from, len(want), e.ID)
		}
		if err := same(e, want[i]); err != nil {
			return fmt.Errorf("event %d behind %d: %w", i, h.from, err)
		}
	}
	if len(h.events) < len(want) {
		return fmt.Errorf("the client lacks %s %d of the log", want[len(h.events)].Type, want[len(h.events)].Seq)
	}
	return nil
}

// same compares two events byte for byte.
func same(got, want protocol.Event) error {
	a, err := got.AppendLine(nil)
	if err != nil {
		return err
	}
	if b := want.Raw(); !bytes.Equal(a, b) {
		return fmt.Errorf("the client has\n%.300s\nand the log\n%.300s", a, b)
	}
	return nil
}

// sameLive compares the states of two clients.
func sameLive(a, b protocol.Live) error {
	x, err := json.Marshal(a)
	if err != nil {
		return err
	}
	y, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("one has\n%s\nthe other\n%s", x, y)
	}
	return nil
}

// logOf parses the bytes of a log, and counts the lines that are none.
func logOf(data []byte) (out []protocol.Event, damaged int) {
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i == 0 {
			continue
		}
		e, err := protocol.ParseEvent([]byte(line))
		if err != nil {
			damaged++
			continue
		}
		out = append(out, e)
	}
	return out, damaged
}
