package extension

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"scorel/internal/engine/session/history"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// Log is what the mirror reads of a session.
type Log interface {
	history.Log
	// Event gives one event.
	Event(ctx context.Context, id protocol.EventID) (protocol.Event, error)
	// EventsAfter gives the events above a seq, in the order of seq.
	EventsAfter(ctx context.Context, seq protocol.Seq) iter.Seq2[protocol.Event, error]
	Leaf() protocol.EventID
	LastSeq() protocol.Seq
}

// mirror is what a process knows of the conversation. It is used by one goroutine at
// a time. Its memory grows with the number of entries, not with their bytes.
type mirror struct {
	log     Log
	through protocol.Seq // events up to here are in it
	leaf    protocol.EventID
	marks   []mark
	at      map[protocol.EventID]int
}

// mark is what is kept of an entry.
type mark struct {
	id      protocol.EventID
	seq     protocol.Seq
	message bool // it is a message of its own, which a list may name by its index
}

// sync returns what the process must be told to have the conversation of now; false
// when nothing has changed. What fails, or cannot be told to it ([mirror.reset]), is
// told whole the next time.
func (m *mirror) sync(ctx context.Context) (entries rpc.Entries, changed bool, err error) {
	defer func() {
		if err != nil {
			m.reset()
		}
	}()
	last := m.log.LastSeq()
	if m.whole() {
		return rpc.Entries{}, false, nil
	}
	if m.at != nil {
		add, whole, err := m.extend(ctx)
		if err != nil {
			return rpc.Entries{}, false, err
		}
		if whole {
			return rpc.Entries{Keep: len(m.marks) - len(add), Add: add}, len(add) > 0, nil
		}
	}
	return m.rebuild(ctx, last)
}

// whole reports whether the process knows all events of the log.
func (m *mirror) whole() bool { return m.at != nil && m.log.LastSeq() == m.through }

// reset forgets what the process knows.
func (m *mirror) reset() { *m = mirror{log: m.log} }

// extend takes the events that came since. It says false where only the whole path
// gives the list.
func (m *mirror) extend(ctx context.Context) (add []json.RawMessage, whole bool, err error) {
	for e, err := range m.log.EventsAfter(ctx, m.through) {
		if err != nil {
			return nil, false, fmt.Errorf("read the conversation for extensions: %w", err)
		}
		_, known := m.at[e.ID]
		switch {
		case known:
		case e.Type == protocol.TypeRewind || e.Type == protocol.TypeBranch:
			return nil, false, nil
		case e.Class() == protocol.Conversation:
			if e.ParentID != m.leaf {
				return nil, false, nil
			}
			m.leaf = e.ID
			if add, err = m.add(ctx, add, e); err != nil {
				return nil, false, err
			}
		case e.Type == protocol.TypeCustom:
			if e.ParentID != m.leaf {
				return nil, false, nil
			}
			if add, err = m.add(ctx, add, e); err != nil {
				return nil, false, err
			}
		}
		m.through = max(m.through, e.Seq)
	}
	return add, true, nil
}

// rebuild reads the whole path.
func (m *mirror) rebuild(ctx context.Context, last protocol.Seq) (rpc.Entries, bool, error) {
	leaf := m.log.Leaf()
	var events []protocol.Event
	for _, part := range []iter.Seq2[protocol.Event, error]{m.log.Back(ctx, leaf), m.log.Controls(ctx, leaf, protocol.TypeCustom)} {
		for e, err := range part {
			if err != nil {
				return rpc.Entries{}, false, fmt.Errorf("read the conversation for extensions: %w", err)
			}
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b protocol.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	old := m.marks
	m.marks, m.at = nil, make(map[protocol.EventID]int, len(events))
	var add []json.RawMessage
	for _, e := range events {
		var err error
		if add, err = m.add(ctx, add, e); err != nil {
			return rpc.Entries{}, false, err
		}
	}
	m.leaf, m.through = leaf, last
	keep := 0
	for keep < len(old) && keep < len(m.marks) && old[keep].id == m.marks[keep].id {
		keep++
	}
	return rpc.Entries{Keep: keep, Add: add[keep:]}, keep < len(old) || keep < len(add), nil
}

// add appends the entry of an event, if it has one.
func (m *mirror) add(ctx context.Context, list []json.RawMessage, e protocol.Event) ([]json.RawMessage, error) {
	x := rpc.Entry{Type: string(e.Type), ID: e.ID, ParentID: e.ParentID, Timestamp: e.TS}
	message := false
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		x.Message, message = &b.Message, true
	case *protocol.CustomMessage:
		x.Message, x.CustomType, x.Data, message = &b.Message, b.Kind, b.Data, true
	case *protocol.BranchSummary:
		x.Summary = b.Summary
	case *protocol.Custom:
		if strings.HasPrefix(b.Kind, protocol.OwnKind) {
			return list, nil
		}
		x.Type, x.Custom, x.Data = b.Kind, true, b.Data
	case *protocol.Compact:
		if err := m.compaction(ctx, &x, b); err != nil {
			return nil, err
		}
	default: // a harness item, or what this version does not know
		return list, nil
	}
	if x.Message != nil {
		switch x.Message.Role {
		case protocol.RoleUser, protocol.RoleAssistant, protocol.RoleToolResult, protocol.RoleInternal:
			x.Message = known(x.Message)
		default: // of a later version, or of a foreign file: no model is told of it either
			return list, nil
		}
	}
	data, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("event %s for extensions: %w", e.ID, err)
	}
	m.at[e.ID] = len(m.marks)
	m.marks = append(m.marks, mark{e.ID, e.Seq, message})
	return append(list, data), nil
}

// known returns a message without blocks of a later version, which this one cannot write; m
// itself where it has none.
func known(m *protocol.Message) *protocol.Message {
	if !slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return !b.Known() }) {
		return m
	}
	out := *m
	out.Content = slices.DeleteFunc(slices.Clone(m.Content), func(b protocol.Block) bool { return !b.Known() })
	return &out
}

// compaction fills in a compaction: its summary ends with the message of the turn that
// it cut, and what it kept begins with the first entry later than what it compacted.
func (m *mirror) compaction(ctx context.Context, x *rpc.Entry, b *protocol.Compact) error {
	x.Type, x.Summary, x.TokensBefore = "compaction", b.Summary, b.TokensBefore
	first := len(m.marks)
	if through, err := m.log.Event(ctx, b.CompactedThrough); err == nil {
		first, _ = slices.BinarySearchFunc(m.marks, through.Seq+1, func(k mark, seq protocol.Seq) int { return cmp.Compare(k.seq, seq) })
	} else if ctx.Err() != nil {
		return ctx.Err()
	}
	x.FirstKeptEntryIndex = &first
	if b.TurnMessageID == "" {
		return nil
	}
	if turn, err := m.log.Event(ctx, b.TurnMessageID); err == nil {
		if t, ok := turn.Body.(*protocol.MessageBody); ok {
			x.Summary += "\n\n" + t.Message.PlainText()
		}
	}
	return ctx.Err()
}

// listing is a list of messages that a process is asked about, with what the mirror
// was then: it may change while the process thinks.
type listing struct {
	log   Log
	given []history.Element
	marks []mark
	here  map[int]int // where in given the entry of an index stands
}

// parts returns a list of messages as it crosses: by their entries where they have one.
func (m *mirror) parts(list []history.Element) ([]rpc.ListPart, *listing, error) {
	l := &listing{log: m.log, given: list, marks: m.marks, here: make(map[int]int, len(list))}
	var out []rpc.ListPart
	for k, e := range list {
		if i, ok := m.at[e.Event]; ok && m.marks[i].message {
			l.here[i] = k
			if n := len(out); n > 0 && out[n-1].Run != nil && out[n-1].Run[1] == i-1 {
				out[n-1].Run[1] = i
			} else {
				out = append(out, rpc.ListPart{Run: &[2]int{i, i}})
			}
			continue
		}
		data, err := json.Marshal(known(e.Message))
		if err != nil {
			return nil, nil, err
		}
		out = append(out, rpc.ListPart{Message: data})
	}
	return out, l, nil
}

// list returns the list that a process has answered with. What it names by index stays
// the element that was given, where there was one. Images of new messages are put into set.
func (l *listing) list(ctx context.Context, set *Set, parts []rpc.ListPart) ([]history.Element, error) {
	out := make([]history.Element, 0, len(l.given))
	for _, p := range parts {
		if p.Run == nil {
			msg, err := newMessage(ctx, set, p.Message)
			if err != nil {
				return nil, err
			}
			out = append(out, history.Element{Message: msg})
			continue
		}
		if p.Run[1] >= len(l.marks) {
			return nil, fmt.Errorf("its list names the entry %d, and there are %d", p.Run[1], len(l.marks))
		}
		for i := p.Run[0]; i <= p.Run[1]; i++ {
			if k, ok := l.here[i]; ok {
				out = append(out, l.given[k])
				continue
			}
			if !l.marks[i].message {
				continue
			}
			// It is not in the list, because a compaction stands for it: an extension
			// may bring it back.
			e, err := l.log.Event(ctx, l.marks[i].id)
			if err != nil {
				return nil, fmt.Errorf("read an entry that an extension names: %w", err)
			}
			switch b := e.Body.(type) {
			case *protocol.MessageBody:
				out = append(out, history.Element{Message: &b.Message})
			case *protocol.CustomMessage:
				out = append(out, history.Element{Message: &b.Message})
			}
		}
		if len(out) > maxListed {
			return nil, fmt.Errorf("its list has more than %d messages", maxListed)
		}
	}
	return out, nil
}

// maxListed bounds the messages of a list that an extension gives.
const maxListed = 1_000_000

// newMessage reads a message that an extension made.
func newMessage(ctx context.Context, set *Set, data json.RawMessage) (*protocol.Message, error) {
	m, err := set.Message(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("its list has a message that is not valid: %w", err)
	}
	switch m.Role {
	case protocol.RoleUser, protocol.RoleAssistant, protocol.RoleToolResult:
		return m, nil
	}
	return nil, fmt.Errorf("its list has a message of the role %.40q; the roles are user, assistant and tool_result", m.Role)
}
