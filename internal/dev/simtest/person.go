package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"scorel/protocol"
)

// person uses the sessions of a device through a connection.
type person struct {
	w          *world
	n          int
	id         protocol.ClientID
	r          *rand.Rand
	connection connection
	lost       int // answers that never came
	twice      int // requests that were repeated though they had been answered
}

func newPerson(w *world, n int) *person {
	id := protocol.ClientIDOf(fmt.Appendf(nil, "person %d of %d", n, w.seed))
	p := &person{w: w, n: n, id: id, r: w.rand(uint64(100 + n))}
	switch r := w.rand(uint64(200 + n)); {
	case w.wired && p.r.IntN(3) > 0:
		p.connection = w.newLibrary(id, r, true)
	case p.r.IntN(2) == 0:
		p.connection = w.newLibrary(id, r, false)
	default:
		p.connection = newPlain(w, id, r)
	}
	return p
}

// use does a number of things, one after the other.
func (p *person) use(ctx context.Context, sessions []protocol.SessionID, things int) {
	for range things {
		p.rest(ctx)
		if p.w.gate.pass(ctx) != nil {
			return
		}
		p.something(ctx, sessions[p.r.IntN(len(sessions))])
	}
}

func (p *person) rest(ctx context.Context) {
	t := time.NewTimer(time.Duration(p.r.IntN(40)) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// something is one thing that people do.
func (p *person) something(ctx context.Context, id protocol.SessionID) {
	l, sees := p.connection.notes().live(id)
	switch n := p.r.IntN(24); {
	case n < 3:
		p.connection.open(id, p.r.IntN(3)*2)
	case n == 3:
		p.connection.shut(id)
	case n == 4:
		p.connection.abort()
	case n < 10:
		busy := [...]string{"", "followUp", "steer", "reject"}[p.r.IntN(4)]
		p.say(ctx, id, func(c []protocol.Block) protocol.Request { return &protocol.SendMessage{Content: c, WhenBusy: busy} })
	case n == 10:
		p.say(ctx, id, func(c []protocol.Block) protocol.Request { return &protocol.FollowUp{Content: c} })
	case n == 11:
		p.say(ctx, id, func(c []protocol.Block) protocol.Request { return &protocol.Steer{TurnID: l.TurnID, Content: c} })
	case !sees:
	case n < 16:
		p.answer(ctx, id, l)
	case n == 16 && l.TurnID != "":
		p.act(ctx, id, &protocol.Cancel{TurnID: l.TurnID}, "")
	case n < 19:
		p.move(ctx, id, l)
	case n == 19:
		p.rearrange(ctx, id, l)
	case n == 20:
		p.act(ctx, id, &protocol.ResumeQueue{}, "")
	case n == 21:
		name := p.w.newMark()
		p.act(ctx, id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}, "")
	case n == 22 && l.LeafID != "":
		label := p.w.newMark()
		p.act(ctx, id, &protocol.SetLabel{TargetEventID: l.LeafID, Label: &label}, "")
	}
}

// say sends a text that nobody else sends.
func (p *person) say(ctx context.Context, id protocol.SessionID, request func([]protocol.Block) protocol.Request) {
	mark := p.w.newMark()
	p.act(ctx, id, request([]protocol.Block{protocol.Text(mark)}), mark)
}

// answer answers what is asked.
func (p *person) answer(ctx context.Context, id protocol.SessionID, l protocol.Live) {
	for _, q := range l.Permissions {
		p.act(ctx, id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: p.r.IntN(2) - 1}, "")
	}
	for _, u := range l.UI {
		value := json.RawMessage(`["this"]`)
		if p.r.IntN(3) == 0 {
			value = json.RawMessage("null")
		}
		p.act(ctx, id, &protocol.AnswerUI{UIID: u.UIID, Value: value}, "")
	}
}

// move rewinds or branches to what the client has seen.
func (p *person) move(ctx context.Context, id protocol.SessionID, l protocol.Live) {
	var targets []protocol.EventID
	_ = p.connection.notes().holds(id, func(h *holding) error {
		for _, e := range h.events {
			if m, ok := e.Message(); ok && m.Role != protocol.RoleToolResult && len(m.Calls()) == 0 {
				targets = append(targets, e.ID)
			}
		}
		return nil
	})
	var target *protocol.EventID
	if n := p.r.IntN(len(targets) + 1); n < len(targets) {
		target = &targets[n]
	}
	var first protocol.TurnID
	if p.r.IntN(2) == 0 {
		first = l.TurnID
	}
	if target != nil && p.r.IntN(3) == 0 {
		p.act(ctx, id, &protocol.BranchTo{LeafEventID: *target, ExpectedLeafID: &l.LeafID, CancelFirst: first}, "")
		return
	}
	p.act(ctx, id, &protocol.RewindTo{TargetEventID: target, ExpectedLeafID: &l.LeafID, CancelFirst: first}, "")
}

// rearrange puts a queue into another order.
func (p *person) rearrange(ctx context.Context, id protocol.SessionID, l protocol.Live) {
	for _, q := range l.Queues {
		items := slices.Clone(q.Items)
		p.r.Shuffle(len(items), func(i, k int) { items[i], items[k] = items[k], items[i] })
		p.act(ctx, id, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items}, "")
	}
}

// act makes a request that acts. When its answer is lost it is repeated, until
// there is one or the person loses patience; some are repeated after their answer.
func (p *person) act(ctx context.Context, id protocol.SessionID, req protocol.Request, mark string) {
	d := &deed{client: p.id, session: id, request: protocol.NewRequestID(p.w), name: req.Spec().Name, mark: mark}
	p.w.did(d)
	call := protocol.Call{RequestID: d.request, SessionID: id, Request: req}
	for ctx.Err() == nil {
		reply, err := p.connection.act(ctx, call)
		if err == nil && reply.Err != nil && reply.Err.Code == protocol.CodeInternalError {
			err = reply.Err // the host was closing: nobody knows
		}
		if err == nil {
			p.w.mu.Lock()
			d.answer, d.refused = reply.Data, reply.Err
			p.w.mu.Unlock()
			break
		}
		p.lost++
		p.w.mu.Lock()
		d.lost = true
		p.w.mu.Unlock()
		if !p.connection.once() {
			d.request = "" // it has drawn its own, and given up
			return
		}
		if p.r.IntN(8) == 0 {
			return // it stays unknown
		}
		call.Repeat = true
		if p.r.IntN(2) == 0 { // else it meets the first one, which is still being carried out
			p.rest(ctx)
		}
	}
	if !p.connection.once() {
		p.w.mu.Lock()
		d.request, d.lost = "", true // it may have repeated it itself
		p.w.mu.Unlock()
		return
	}
	if d.answer == nil || p.r.IntN(3) > 0 {
		return
	}
	call.Repeat = true
	for range 2 {
		p.rest(ctx)
		reply, err := p.connection.act(ctx, call)
		if err != nil {
			continue
		}
		p.twice++
		if err := sameAnswer(d.answer, reply); err != nil {
			p.w.fault(fmt.Errorf("the repeated %s of %s: %w", d.name, p.id, err))
		}
	}
}

// sameAnswer compares the answer to a request with that to its repeat.
func sameAnswer(first protocol.Response, again protocol.Reply) error {
	if again.Err != nil {
		switch again.Err.Code {
		case protocol.CodeStorageError, protocol.CodeInternalError, protocol.CodeSessionNotFound:
			return nil // the disk failed, or the host is closing
		}
	}
	switch a := first.(type) {
	case *protocol.Sent:
		b, ok := again.Data.(*protocol.Sent)
		if !ok || a.EventID != b.EventID || a.ItemID != b.ItemID {
			return fmt.Errorf("first %+v, then %+v %v", a, again.Data, again.Err)
		}
	case *protocol.Moved:
		b, ok := again.Data.(*protocol.Moved)
		if !ok || a.LeafID != b.LeafID {
			return fmt.Errorf("first %+v, then %+v %v", a, again.Data, again.Err)
		}
	}
	return nil
}
