package transcript

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"scorel/internal/text/cell"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Live takes in what is running: messages that come in, calls with their output and
// steps, and the wait before a retry. It looks at what has changed only, and keeps
// nothing of l.
func (t *Transcript) Live(l *protocol.Live) {
	for i := range l.Messages {
		m := &l.Messages[i]
		if m.Role != protocol.RoleAssistant {
			continue
		}
		for k := range m.Blocks {
			t.coming(m, k)
		}
	}
	for id, it := range t.live {
		if !slices.ContainsFunc(l.Messages, func(m protocol.LiveMessage) bool { return m.EventID == it.live.message }) {
			t.lost(id, it)
		}
	}
	if !l.Running {
		t.shut()
	}
	t.nameThoughts(l.UIStates)
	t.tools(l.Tools)
	t.waiting(l)
	t.retrying(l.Retry)
}

// nameThoughts takes the heading of folded thoughts that an extension sets.
func (t *Transcript) nameThoughts(states []protocol.UIState) {
	name := ""
	for _, s := range states {
		if s.Place == protocol.PlaceThinking && len(s.Lines) > 0 {
			name = cell.Cut(display.Line(s.Lines[0]), maxThoughtCells, "…")
			break
		}
	}
	if name == t.thoughts {
		return
	}
	t.thoughts = name
	for _, it := range t.items {
		if it.kind == thinking {
			it.changed()
		}
	}
}

// maxThoughtCells is how wide the heading of folded thoughts may be that an extension sets.
const maxThoughtCells = 60

// coming takes in a block of a message that is coming in.
func (t *Transcript) coming(m *protocol.LiveMessage, k int) {
	b := &m.Blocks[k]
	id := string(m.EventID) + "/" + strconv.Itoa(k)
	it := t.live[id]
	if it == nil {
		it = &item{id: id, live: &incoming{message: m.EventID, began: t.cfg.Now()}}
		t.live[id] = it
		t.insert(it)
		if k == 0 && b.Type == protocol.BlockText && t.waits.rest != nil {
			t.join(t.waits.rest, it)
		}
	}
	switch b.Type {
	case protocol.BlockText:
		t.become(it, answer)
	case protocol.BlockThinking:
		t.become(it, thinking)
		if k < len(m.Blocks)-1 && it.live.took == 0 {
			it.live.took = max(1, t.cfg.Now().Sub(it.live.began))
			it.changed()
		}
	case protocol.BlockToolUse:
		t.become(it, card)
		if it.call == nil {
			it.call = &call{}
		}
		if it.call.name != b.Name {
			it.call.id, it.call.name = b.ID, b.Name
			it.changed()
		}
	}
	have, now := it.live.raw, []byte(b.Text)
	switch {
	case len(now) == len(have):
	case len(now) > len(have) && bytes.HasSuffix(now[:len(have)], have[max(0, len(have)-known):]):
		it.live.raw = append(have, now[len(have):]...)
		it.changed()
		t.view.grew = true
	default: // it began again
		it.live.raw = bytes.Clone(now)
		it.changed()
	}
	if it.kind == card {
		it.call.input = it.live.raw
	}
}

// lost takes out a block whose message has ended without being stored. What of it was
// given is in the scrollback, so a line says how it is.
func (t *Transcript) lost(id string, it *item) {
	delete(t.live, id)
	t.part(it)
	if !it.begun {
		t.remove(it)
		return
	}
	*it = item{kind: broken, id: id + "/lost", final: true, version: it.version + 1}
}

// tools takes in the calls that run.
func (t *Transcript) tools(tools []protocol.LiveTool) {
	for i := range tools {
		lt := &tools[i]
		it := t.calls[lt.ToolCallID]
		if it == nil {
			it = &item{kind: card, id: string(lt.EventID) + "/call", loose: true, call: &call{id: lt.ToolCallID, name: lt.ToolName, input: bytes.Clone(lt.Args)}}
			if lt.Shell != nil {
				it.call.name = shellName
			}
			t.calls[lt.ToolCallID] = it
			t.insert(it)
		}
		c := it.call
		if it.final {
			continue
		}
		if !c.running {
			c.running, c.began, c.color = true, t.cfg.Now(), lt.AgentColor
			it.changed()
		}
		if c.tail != lt.OutputTail {
			c.tail = lt.OutputTail
			it.changed()
		}
		if !sameSteps(c.process, lt.Process) {
			c.process = lt.Process
			it.changed()
		}
		t.running[lt.ToolCallID] = true
	}
	for id, seen := range t.running {
		if !seen {
			delete(t.running, id)
			if it := t.calls[id]; it != nil && it.call.running {
				it.call.running = false
				it.changed()
				if it.loose {
					t.remove(it)
					delete(t.calls, id)
				}
			}
			continue
		}
		t.running[id] = false
	}
}

// waiting marks the calls that wait for an answer of a person.
func (t *Transcript) waiting(l *protocol.Live) {
	var ids []string
	for _, p := range l.Permissions {
		ids = append(ids, p.ToolCallID)
	}
	for _, u := range l.UI {
		ids = append(ids, u.Data.ToolCallID)
	}
	set := func(id string, asking bool) {
		if it := t.calls[id]; it != nil && it.call.asking != asking {
			it.call.ask(asking, t.cfg.Now())
			it.changed()
		}
	}
	for _, id := range t.waits.asking {
		if !slices.Contains(ids, id) {
			set(id, false)
		}
	}
	for _, id := range ids {
		set(id, true)
	}
	t.waits.asking = ids
}

// ask notes that somebody is asked for the call, or is not any more.
func (c *call) ask(asking bool, now time.Time) {
	switch {
	case asking:
		c.since = now
	case c.running:
		c.waited += now.Sub(c.since)
	}
	c.asking = asking
}

// sameSteps compares lists that are replaced and never changed in place.
func sameSteps(a, b []protocol.ToolProcess) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (t *Transcript) retrying(r *protocol.Retry) {
	switch {
	case r == nil && t.retry != nil:
		t.remove(t.retry)
		t.retry = nil
	case r == nil:
	case t.retry == nil:
		t.retry = &item{kind: retry, id: "retry", body: protocol.NewEvent(r)}
		t.insert(t.retry)
	case t.retry.body.Body != protocol.Body(r):
		t.retry.body = protocol.NewEvent(r)
		t.retry.changed()
	}
}
