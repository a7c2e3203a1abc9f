package history

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

// memLog is a log in memory with the rules of the real one.
type memLog struct {
	events   map[protocol.EventID]protocol.Event
	controls []protocol.Event // in the order of seq
	reads    int              // events that Back yielded
}

func (l *memLog) Back(ctx context.Context, leaf protocol.EventID) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for id := leaf; id != ""; {
			ev, ok := l.events[id]
			if !ok {
				yield(protocol.Event{}, fmt.Errorf("event %s is missing", id))
				return
			}
			l.reads++
			if err := ctx.Err(); err != nil {
				yield(protocol.Event{}, err)
				return
			}
			if !yield(ev, nil) {
				return
			}
			id = ev.ParentID
		}
	}
}

func (l *memLog) Controls(_ context.Context, leaf protocol.EventID, types ...protocol.EventType) iter.Seq2[protocol.Event, error] {
	next := map[protocol.EventID]protocol.Seq{} // event of the path → seq of its child
	for id, child := leaf, protocol.Seq(1<<62); id != ""; {
		next[id] = child
		ev := l.events[id]
		id, child = ev.ParentID, ev.Seq
	}
	return func(yield func(protocol.Event, error) bool) {
		for _, ev := range l.controls {
			before, on := next[ev.ParentID]
			if on && ev.Seq < before && slices.Contains(types, ev.Type) && !yield(ev, nil) {
				return
			}
		}
	}
}

// talk writes a session.
type talk struct {
	log  *memLog
	leaf protocol.EventID
	seq  protocol.Seq
	last protocol.Event
}

func newTalk() *talk { return &talk{log: &memLog{events: map[protocol.EventID]protocol.Event{}}} }

func (s *talk) add(body protocol.Body) protocol.EventID {
	ev := protocol.NewEvent(body)
	s.seq += 2
	ev.Seq, ev.ParentID, ev.ID = s.seq, s.leaf, protocol.EventID(fmt.Sprintf("evt_%016d", s.seq))
	ev.SessionID, ev.ClientID, ev.TS = "ses_00000000000000000000000000", protocol.HostClient, int64(s.seq)
	s.last = ev
	if ev.Control {
		s.log.controls = append(s.log.controls, ev)
		return ev.ID
	}
	s.log.events[ev.ID] = ev
	s.leaf = ev.ID
	return ev.ID
}

func (s *talk) message(m protocol.Message) protocol.EventID {
	return s.add(&protocol.MessageBody{Message: m})
}

func (s *talk) user(text string) protocol.EventID { return s.message(protocol.UserText(text)) }

func (s *talk) from(source protocol.Source, text string) protocol.EventID {
	m := protocol.UserText(text)
	m.Meta = &protocol.MessageMeta{Source: source}
	return s.message(m)
}

func (s *talk) steer(text string) protocol.EventID { return s.from(protocol.SourceSteer, text) }

// say adds an answer; calls are ids, or "id:Tool".
func (s *talk) say(text string, calls ...string) protocol.EventID {
	return s.message(answerOf(text, calls...))
}

func answerOf(text string, calls ...string) protocol.Message {
	m := protocol.Message{Role: protocol.RoleAssistant, Provider: "script", Model: "m", StopReason: protocol.StopEndTurn,
		Usage: &protocol.Usage{}}
	if text != "" {
		m.Content = append(m.Content, protocol.Text(text))
	}
	for _, c := range calls {
		id, tool, ok := strings.Cut(c, ":")
		if !ok {
			tool = "Read"
		}
		m.Content = append(m.Content, protocol.ToolUse(id, tool, json.RawMessage(`{"path":"/`+id+`.go"}`)))
		m.StopReason = protocol.StopToolUse
	}
	return m
}

func (s *talk) result(id, text string) protocol.EventID {
	return s.message(resultOf(id, text))
}

func resultOf(id, text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, ToolName: "Read", Content: []protocol.Block{protocol.Text(text)}}
}

func (s *talk) item(kind protocol.ItemKind, text string) protocol.EventID {
	return s.add(&protocol.HarnessItem{Item: protocol.Item{Kind: kind, Origin: protocol.OriginSystem, Content: text, Visibility: protocol.VisibilityHidden}})
}

func (s *talk) compact(through, turn protocol.EventID, summary string) protocol.EventID {
	return s.add(&protocol.Compact{Summary: summary, CompactedThrough: through, TurnMessageID: turn})
}

// window is large enough that nothing is due.
var window = Window{Size: 200_000, System: 1000, Tools: 2000, MaxOutput: 8000}

func (s *talk) build(t testing.TB, hooks Hooks) Context {
	t.Helper()
	return s.buildIn(t, hooks, window)
}

func (s *talk) buildIn(t testing.TB, hooks Hooks, w Window) Context {
	t.Helper()
	b, err := New(Config{Log: s.log, Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Build(t.Context(), s.leaf, w)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// brief writes messages out, one a line.
func brief(messages []protocol.Message) string {
	var s strings.Builder
	for _, m := range messages {
		switch m.Role {
		case protocol.RoleToolResult:
			s.WriteString("result " + m.ToolCallID)
			if m.IsError {
				s.WriteString(" (error)")
			}
		default:
			s.WriteString(string(m.Role))
		}
		s.WriteByte(':')
		for _, b := range m.Content {
			switch b.Type {
			case protocol.BlockText:
				s.WriteString(" " + strings.ReplaceAll(b.Text, "\n", "⏎"))
			case protocol.BlockToolUse:
				s.WriteString(" " + b.Name + "(" + b.ID + ")")
			default:
				s.WriteString(" [" + string(b.Type) + "]")
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func (s *talk) expect(t *testing.T, hooks Hooks, lines ...string) Context {
	t.Helper()
	c := s.build(t, hooks)
	want := strings.Join(lines, "\n") + "\n"
	if got := brief(c.Messages); got != want {
		t.Errorf("the model is sent\n%s\nand not\n%s", got, want)
	}
	return c
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
