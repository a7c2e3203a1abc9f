package queue

import (
	"sync"

	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// File marks a session in which messages wait; a host that starts opens the sessions that
// have one. Calls do not overlap.
type File interface {
	// Keep makes the file, which is durable on return. Where there is one it costs
	// nothing.
	Keep() error
	// Drop removes the file.
	Drop() error
}

// Pending guards the [File] of a session. The file is durable before a message that waits
// can be, and goes when none waits in what is stored: at a kill it may be there without a
// queue, never the other way round.
type Pending struct {
	j      *journal.Journal
	queues *Queues
	others func() int // counts what waits beside the queues; called with the journal locked
	file   File       // nil for none

	mu    sync.Mutex // held over the file; never taken with the journal locked
	kept  bool       // the file may be there
	users int        // requests that are about to queue something
}

// NewPending returns the guard of a file, which may be nil, as the queues are now, and what
// others counts.
func NewPending(j *journal.Journal, queues *Queues, others func() int, file File) *Pending {
	return &Pending{j: j, queues: queues, others: others, file: file, kept: queues.Count()+others() > 0}
}

// Keep makes the file for a request that may queue something, or let a queue continue.
// release is called when what it did is durable, or has failed. The journal is not locked.
func (p *Pending) Keep() (release func(), err error) {
	if p.file == nil {
		return func() {}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = true
	if err := p.file.Keep(); err != nil {
		return nil, protocol.Errorf(protocol.CodeStorageError, "The message cannot be queued, because a file cannot be written: %v.", err)
	}
	p.users++
	return func() {
		p.mu.Lock()
		p.users--
		p.mu.Unlock()
		p.Clear()
	}, nil
}

// Clear removes the file when nothing waits in what is stored. The journal is not locked.
func (p *Pending) Clear() {
	p.j.Lock()
	waiting := p.queues.Count() + p.others()
	p.j.Unlock()
	if waiting > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.kept || p.users > 0 {
		return
	}
	for _, q := range p.j.Publisher().Live().Queues {
		if len(q.Items) > 0 {
			return // taken, and not yet durably so
		}
	}
	p.kept = false
	if err := p.file.Drop(); err != nil {
		p.j.Report("remove the mark of a queue: " + err.Error())
	}
}
