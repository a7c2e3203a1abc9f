package simtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"scorel/protocol"
)

// Size bounds a schedule.
type Size struct {
	People   int // 1 to this many clients
	Sessions int // 1 to this many
	Things   int // that each person does, 1 to this many
	Blows    int // kills, failures and cuts, 0 to this many
}

// Small is the size of the schedules that CI plays; Large that of a soak.
func Small() Size { return Size{People: 3, Sessions: 2, Things: 7, Blows: 3} }

// Large is a size in which more can meet.
func Large() Size { return Size{People: 5, Sessions: 3, Things: 40, Blows: 12} }

// wiredOneIn is of how many schedules one has a host that listens: a WebSocket costs
// several times what an embedded connection does.
const wiredOneIn = 6

// Result counts what a schedule came to, so that one can see whether schedules try
// enough.
type Result struct {
	Events, Sends, Turns, Tools, Retries   int
	Kills, Crashes, Stops, Failures, Tears int
	Cuts, Lost, Repeats                    int
	Resumes, Fallbacks, Reloads            int
	Quiet, Asked                           int
}

// Add adds the counts of another schedule.
func (r *Result) Add(o Result) {
	for _, c := range []struct{ to, from *int }{{&r.Events, &o.Events}, {&r.Sends, &o.Sends}, {&r.Turns, &o.Turns}, {&r.Tools, &o.Tools},
		{&r.Retries, &o.Retries}, {&r.Kills, &o.Kills}, {&r.Crashes, &o.Crashes}, {&r.Stops, &o.Stops}, {&r.Failures, &o.Failures},
		{&r.Tears, &o.Tears}, {&r.Cuts, &o.Cuts}, {&r.Lost, &o.Lost}, {&r.Repeats, &o.Repeats}, {&r.Resumes, &o.Resumes},
		{&r.Fallbacks, &o.Fallbacks}, {&r.Reloads, &o.Reloads}, {&r.Quiet, &o.Quiet}, {&r.Asked, &o.Asked}} {
		*c.to += *c.from
	}
}

// Play plays the schedule of a seed. project is a folder with a file notes.txt, in
// which files out0.txt to out3.txt are written. It belongs into a bubble of
// testing/synctest, and leaves no goroutine in it.
func Play(seed uint64, size Size, project string) (Result, error) {
	w := newWorld(seed, project)
	w.wired = w.r.IntN(wiredOneIn) == 0
	p := &play{w: w, size: size}
	err := p.run()
	if fault := w.failed(); fault != nil {
		err = fault
	}
	return p.result, err
}

// play is a schedule that is being played.
type play struct {
	w        *world
	size     Size
	sessions []protocol.SessionID
	people   []*person
	result   Result
}

func (p *play) run() error {
	w := p.w
	if err := w.start(); err != nil {
		return err
	}
	defer func() { // also when something did not hold: nothing is left
		w.gate.mu.Lock()
		g := w.gate.open
		w.gate.mu.Unlock()
		select {
		case <-g:
		default:
			w.gate.lift()
		}
		for _, one := range p.people {
			one.connection.close()
		}
		if w.host != nil {
			_ = w.stop(false)
		}
		w.cutAll()
		w.closed.Wait()
	}()
	if err := p.prepare(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var busy sync.WaitGroup
	for _, one := range p.people {
		things := 1 + w.random(p.size.Things)
		busy.Go(func() { one.use(ctx, p.sessions, things) }) // ends with what it does
	}
	for range w.random(p.size.Blows + 1) {
		time.Sleep(time.Duration(10+w.random(150)) * time.Millisecond)
		if err := p.blow(); err != nil {
			cancel()
			busy.Wait()
			return err
		}
	}
	w.net.heal()
	busy.Wait()
	return p.settle()
}

// prepare makes the people and their sessions.
func (p *play) prepare() error {
	w := p.w
	w.net.heal()
	for n := range 1 + w.random(p.size.People) {
		p.people = append(p.people, newPerson(w, n))
	}
	ctx := context.Background()
	first := newPlain(w, protocol.ClientIDOf(fmt.Appendf(nil, "first of %d", w.seed)), w.rand(402))
	defer first.close()
	reply, err := first.act(ctx, protocol.Call{RequestID: protocol.NewRequestID(w), Request: &protocol.RegisterProject{WorkDir: w.project}})
	if err != nil || reply.Err != nil {
		return fmt.Errorf("register_project: %v %v", err, reply.Err)
	}
	project := reply.Data.(*protocol.Project).ProjectID
	for range 1 + w.random(p.size.Sessions) {
		id := protocol.NewSessionID(time.Now(), w)
		reply, err := first.act(ctx, protocol.Call{RequestID: protocol.NewRequestID(w), SessionID: id,
			Request: &protocol.CreateSession{ProjectID: project, Meta: protocol.Meta{WorkDir: w.project}}})
		if err != nil || reply.Err != nil {
			return fmt.Errorf("create_session: %v %v", err, reply.Err)
		}
		p.sessions = append(p.sessions, id)
	}
	for _, one := range p.people {
		one.connection.open(p.sessions[0], 0)
	}
	w.net.spoil()
	return nil
}

// blow is something that happens to the host.
func (p *play) blow() error {
	w := p.w
	switch w.random(8) {
	case 0, 1:
		p.result.Kills++
		if err := w.stop(true); err != nil {
			return err
		}
		return p.restart()
	case 2:
		p.result.Crashes++
		if err := w.stop(true); err != nil {
			return err
		}
		w.mem.Crash(crashes()[w.random(3)], w.seed)
		return p.restart()
	case 3:
		p.result.Stops++
		if err := w.stop(false); err != nil {
			return err
		}
		return p.restart()
	case 4:
		p.result.Failures++
		w.mu.Lock()
		w.proc.FailSyncs(1)
		w.mu.Unlock()
		if w.random(2) == 0 { // and again, while slow clients are still being told of the first
			time.Sleep(time.Duration(w.random(60)) * time.Millisecond)
			w.mu.Lock()
			w.proc.FailSyncs(1)
			w.mu.Unlock()
		}
	case 5:
		w.cutAll()
	default:
		return p.quiet()
	}
	return nil
}

// restart starts a host again, some time later.
func (p *play) restart() error {
	w := p.w
	if w.random(3) == 0 {
		p.result.Tears++
		w.tear(p.sessions[w.random(len(p.sessions))])
	}
	time.Sleep(time.Duration(w.random(100)) * time.Millisecond)
	return w.start()
}
