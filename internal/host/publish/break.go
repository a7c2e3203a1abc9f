package publish

import (
	"scorel/protocol"
	"scorel/protocol/fold"
)

// Break gives the session up because of a fault inside Scorel: nothing that has not left
// leaves any more, who waits for it is told err, and so are clients, whose running turn
// ends and who then meet the end of the session, as [Publisher.Close] makes it. It returns
// when the writer has ended, after a commit that is on its way.
func (p *Publisher) Break(err *protocol.Error) {
	for _, n := range p.stop(err) {
		n.ticket.settle(err)
	}
	<-p.done
	p.sendShutdownNotice(err)
}

// stop lets the writer end, and returns what it is not to take any more.
func (p *Publisher) stop(err *protocol.Error) (left []entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = err
	}
	left, p.queue, p.bytes, p.closed = p.queue, nil, 0, true
	p.work.Broadcast()
	p.space.Broadcast()
	return left
}

// sendShutdownNotice tells clients why nothing comes any more.
func (p *Publisher) sendShutdownNotice(err *protocol.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.show.moved == nil {
		return // they have been told all
	}
	running, turn := p.live.Running, p.live.TurnID
	p.newEpoch()
	told := []protocol.Event{p.own(&protocol.Notice{Level: "error", Text: err.Message}, "")}
	if running {
		told = append(told, p.own(&protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalInternalError, Error: err}, turn))
	}
	for _, e := range told {
		fold.Apply(&p.live, e)
		p.ring.add(e, Size(e))
	}
	p.end()
}

// rescue ends the writer when it panics: who waits for what it had taken is not to wait
// for ever.
func (p *Publisher) rescue() {
	r := recover()
	if r == nil {
		return
	}
	if p.cfg.Panicked == nil {
		panic(r)
	}
	p.cfg.Panicked(r)
	err := protocol.Errorf(protocol.CodeInternalError, "A fault inside Scorel interrupted this request; look at the session before you repeat it.")
	for _, n := range p.taken() {
		if n.ticket == nil {
			continue
		}
		select {
		case <-n.ticket.done:
		default:
			n.ticket.settle(err)
		}
	}
}

func (p *Publisher) taken() []entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flying
}

// timed is the root of what a timer calls.
func (p *Publisher) timed(f func()) func() {
	return func() {
		defer func() {
			if r := recover(); r != nil {
				if p.cfg.Panicked == nil {
					panic(r)
				}
				p.cfg.Panicked(r)
			}
		}()
		f()
	}
}
