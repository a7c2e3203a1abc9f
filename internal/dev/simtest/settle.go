package simtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"scorel/client"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

func crashes() [3]disktest.Crash {
	return [3]disktest.Crash{disktest.Drop, disktest.Reorder, disktest.Half512}
}

// longEnough is how long it takes at most until every client is connected, and has
// everything, when nothing goes wrong any more.
const longEnough = 20 * time.Second

// quiet lets the world stand still, in the middle of whatever runs, until every
// client must have everything: then all of them show the same, and so does one that
// joins only now.
func (p *play) quiet() error {
	p.result.Quiet++
	w := p.w
	w.gate.shut()
	w.net.heal()
	time.Sleep(longEnough)
	err := p.compare()
	w.net.spoil()
	w.gate.lift()
	return err
}

// compare compares all clients with one that joins now.
func (p *play) compare() error {
	w := p.w
	late := newPlain(w, protocol.ClientIDOf(fmt.Appendf(nil, "late of %d", w.random(1<<30))), w.rand(300))
	defer late.close()
	for _, id := range p.sessions {
		late.open(id, 2000)
	}
	time.Sleep(time.Second)
	for _, id := range p.sessions {
		want, ok := late.live(id)
		if !ok {
			return fmt.Errorf("a client that joins gets no state of %s", id)
		}
		for _, one := range p.people {
			if !one.connection.notes().isOpen(id) {
				continue
			}
			got, ok := one.connection.notes().live(id)
			if !ok {
				return fmt.Errorf("%s has no state of %s, though nothing goes wrong", one.id, id)
			}
			if err := sameLive(got, want); err != nil {
				return fmt.Errorf("%s and a client that joins: %w", one.id, err)
			}
			if err := p.sameScreen(one.connection.notes(), late, id); err != nil {
				return fmt.Errorf("what %s shows of %s: %w", one.id, id, err)
			}
		}
	}
	return nil
}

// sameScreen compares what a client has shown all the time with what one shows that
// joins. Only the client library shows anything.
func (p *play) sameScreen(b *book, late *plain, id protocol.SessionID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.sessions[id]
	if v == nil || v.show == nil {
		return nil
	}
	late.mu.Lock()
	h := &late.sessions[id].holding
	fresh := client.NewProjection()
	fresh.Apply(client.Update{Resync: protocol.FullReload, Events: h.tail, Fresh: true}, &h.live)
	late.mu.Unlock()
	old, err := late.screen(v.show, id)
	if err != nil {
		return err
	}
	now, err := late.screen(fresh, id)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, now) {
		return fmt.Errorf("it is\n%s\nand for one that joins\n%s", old, now)
	}
	return nil
}

// screen asks for what a projection misses and returns what it shows then.
func (s *plain) screen(p *client.Projection, id protocol.SessionID) ([]byte, error) {
	for asked := p.Missing(); asked != nil; asked = p.Missing() {
		reply, err := s.act(s.ctx, protocol.Call{RequestID: protocol.NewRequestID(s.w), SessionID: id, Request: asked})
		if err != nil || reply.Err != nil {
			return nil, fmt.Errorf("get_path: %v %v", err, reply.Err)
		}
		p.Fill(asked, reply.Data.(*protocol.Events))
	}
	return json.Marshal(p.Screen())
}

// settle brings everything to its end and compares it with the log.
func (p *play) settle() error {
	w := p.w
	ctx := context.Background()
	judge := &person{w: w, id: p.people[0].id, r: w.rand(400)}
	own := newPlain(w, protocol.ClientIDOf(fmt.Appendf(nil, "judge of %d", w.seed)), w.rand(401))
	defer own.close()
	judge.connection = own
	w.proc.FailSyncs(0)
	for _, id := range p.sessions {
		judge.connection.open(id, 0)
	}
	if err := p.await(judge); err != nil {
		return err
	}
	if err := p.nothingIsForgotten(judge); err != nil {
		return err
	}
	if err := p.stillWorks(judge); err != nil {
		return err
	}
	time.Sleep(longEnough)
	if err := p.compare(); err != nil {
		return err
	}
	for _, id := range p.sessions {
		log, damaged := logOf(w.mem.Bytes(w.logFile(id)))
		if damaged > 0 && p.result.Crashes == 0 {
			return fmt.Errorf("%d lines of the log of %s are none, though there was no power cut", damaged, id)
		}
		p.result.Events += len(log)
		for _, one := range p.people {
			if err := one.connection.notes().holds(id, func(h *holding) error { return h.agrees(log) }); err != nil {
				return fmt.Errorf("%s in %s: %w", one.id, id, err)
			}
		}
		l, _ := judge.connection.notes().live(id)
		if err := p.once(id, log, l.Queues); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		reply, err := judge.connection.act(ctx, protocol.Call{RequestID: protocol.NewRequestID(w), SessionID: id, Request: &protocol.VerifySession{}})
		if err != nil || reply.Err != nil {
			return fmt.Errorf("verify_session: %v %v", err, reply.Err)
		}
		if r := reply.Data.(*protocol.SessionReport); !r.Sound && damaged == 0 {
			return fmt.Errorf("the log of %s is not sound: %v", id, r.Findings)
		}
	}
	p.count()
	return nil
}

// await returns when no turn runs any more; the judge answers what is asked.
func (p *play) await(judge *person) error {
	w, ctx := p.w, context.Background()
	for tries := 0; ; tries++ {
		time.Sleep(2 * time.Second)
		busy := false
		for _, id := range p.sessions {
			l, ok := judge.connection.notes().live(id)
			if !ok || l.Running {
				busy = true
			}
			p.result.Asked += len(l.Permissions) + len(l.UI)
			judge.answer(ctx, id, l)
		}
		if !busy {
			return nil
		}
		if err := w.failed(); err != nil {
			return err
		}
		if tries > 500 {
			return fmt.Errorf("a turn does not end: %s", p.states(judge))
		}
	}
}

// nothingIsForgotten reports that what waits while nothing runs waits for a person: what
// does not is begun by the turn before it, or by the next host. Where the disk has failed,
// the pause may have been what could not be stored.
func (p *play) nothingIsForgotten(judge *person) error {
	for _, id := range p.sessions {
		l, _ := judge.connection.notes().live(id)
		for _, q := range l.Queues {
			if len(q.Items) > 0 && !q.Paused && p.result.Failures == 0 {
				return fmt.Errorf("%d messages wait in %s of %s, which is not paused, and nothing runs", len(q.Items), q.Queue, id)
			}
		}
	}
	return nil
}

// stillWorks sends a message to every session: whatever has happened, it is taken and
// begins a turn.
func (p *play) stillWorks(judge *person) error {
	for _, id := range p.sessions {
		judge.say(context.Background(), id, func(c []protocol.Block) protocol.Request { return &protocol.SendMessage{Content: c} })
		p.w.mu.Lock()
		d := p.w.deeds[len(p.w.deeds)-1]
		p.w.mu.Unlock()
		// Damage may have moved the leaf, or the disk failed when it was to be repaired.
		readOnly := p.result.Crashes+p.result.Failures > 0 && d.refused != nil && strings.Contains(d.refused.Message, "read-only")
		if d.answer == nil && !readOnly {
			return fmt.Errorf("%s takes no message any more: %v", id, d.refused)
		}
	}
	return p.await(judge)
}

// states is what a person sees of all sessions.
func (p *play) states(one *person) string {
	var s strings.Builder
	for _, id := range p.sessions {
		l, ok := one.connection.notes().live(id)
		data, _ := json.Marshal(l) // for people
		fmt.Fprintf(&s, "\n%s (%v): %s", id, ok, data)
	}
	b := one.connection.notes()
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(&s, "\nrefused: %v", b.refused)
	return s.String()
}

// once checks that each request acted once, or not at all when nobody was told that
// it did.
func (p *play) once(id protocol.SessionID, log []protocol.Event, waiting []protocol.LiveQueue) error {
	texts, causes := map[string]int{}, map[protocol.RequestID]int{}
	for i, e := range log {
		if i > 0 && e.Seq <= log[i-1].Seq {
			return fmt.Errorf("the seq %d is stored behind %d", e.Seq, log[i-1].Seq)
		}
		if e.Cause != nil {
			causes[e.Cause.RequestID]++
		}
		if m, ok := e.Message(); ok && m.Role == protocol.RoleUser {
			texts[m.PlainText()]++
		}
	}
	for _, q := range waiting {
		for _, it := range q.Items {
			for _, b := range it.Content {
				texts[b.Text]++
			}
		}
	}
	for _, d := range p.w.deeds {
		if d.session != id {
			continue
		}
		if n := causes[d.request]; d.request != "" && n > 1 {
			return fmt.Errorf("the request %s %s stands in the log %d times", d.name, d.request, n)
		}
		if d.mark == "" {
			if d.answer != nil && d.request != "" && causes[d.request] == 0 && leavesCause(d.name) {
				return fmt.Errorf("the request %s %s was answered with %+v and is not in the log", d.name, d.request, d.answer)
			}
			continue
		}
		p.result.Sends++
		n := texts[d.mark]
		switch {
		case n > 1:
			return fmt.Errorf("the message %s (%s) is there %d times", d.mark, d.name, n)
		case d.answer != nil && n == 0:
			return fmt.Errorf("the message %s (%s) was acknowledged with %+v and is nowhere", d.mark, d.name, d.answer)
		case d.refused != nil && n > 0 && (final(d.refused.Code) || d.refused.Code == protocol.CodeStorageError && !d.lost):
			return fmt.Errorf("the message %s (%s) was refused with %v and is there", d.mark, d.name, d.refused)
		}
	}
	return nil
}

// leavesCause reports whether a request that was carried out is in the log.
func leavesCause(name string) bool {
	return slices.Contains([]string{"rewind", "branch", "update_info", "set_label", "rewrite_queue"}, name)
}

// final reports whether a refusal means that nothing was done.
func final(c protocol.Code) bool {
	return slices.Contains([]protocol.Code{protocol.CodeConflict, protocol.CodeRuntimeBusy, protocol.CodeInvalidRequest, protocol.CodeInvalidEventID,
		protocol.CodeRateLimited, protocol.CodeForbidden}, c)
}

func (p *play) count() {
	w := p.w
	w.model.mu.Lock()
	p.result.Tools, p.result.Retries, p.result.Turns = w.model.tools, w.model.fails, w.model.calls
	w.model.mu.Unlock()
	w.net.mu.Lock()
	p.result.Cuts = w.net.cuts
	w.net.mu.Unlock()
	for _, one := range p.people {
		p.result.Lost += one.lost
		p.result.Repeats += one.twice
		b := one.connection.notes()
		b.mu.Lock()
		p.result.Resumes += b.modes[protocol.StreamResume]
		p.result.Fallbacks += b.modes[protocol.PersistentFallback]
		p.result.Reloads += b.modes[protocol.FullReload]
		b.mu.Unlock()
	}
}
