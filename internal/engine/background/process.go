package background

import (
	"sync"

	"scorel/internal/engine/progress"
	"scorel/protocol"
)

// begin has a command that was started followed.
func (t *task) begin(processes *progress.Recorder, rescue func()) {
	info := progress.Info{CallID: t.call, Tool: t.tool, Operation: progress.TaskOperationID(t.id),
		Target: protocol.ProcessOfTask, Source: protocol.ProcessByTool, TaskID: t.id}
	if t.agent != "" {
		info.Target, info.Source = protocol.ProcessOfSubagent, protocol.ProcessBySubagent
	}
	call := processes.Begin(info, nil)
	call.Name(t.title())
	call.Update(protocol.ProcessUpdate{Status: protocol.ProcessStarted, Message: t.title() + " was started in the background"})
	call.Flush()
	t.mu.Lock()
	t.process = call
	t.mu.Unlock()
	if call == nil {
		return
	}
	t.follow.wake, t.follow.over = make(chan struct{}, 1), make(chan struct{})
	call.OnReady(func() {
		select {
		case t.follow.wake <- struct{}{}:
		default:
		}
	})
	go func() { // ended by the tell that follows the end of the command
		defer rescue()
		defer close(t.follow.over)
		for range t.follow.wake {
			t.tellNew()
		}
	}()
}

// follow has people told the state of a command as soon as it reports that.
type follow struct {
	tell  func(protocol.ToolProcess) // may be nil
	wake  chan struct{}              // capacity 1; closed when the command has ended
	close sync.Once                  // of wake
	over  chan struct{}              // closed when nobody is told any more
	mu    sync.Mutex                 // held while somebody is told, so that the order is kept
}

// endProcess returns how the command ended, and keeps the summary. mu is held.
func (t *task) endProcess() {
	u := protocol.ProcessUpdate{Status: protocol.ProcessCompleted, Message: t.title() + " " + t.ending(), Source: protocol.ProcessByRuntime}
	switch {
	case t.state == protocol.TaskStopped:
		u.Status = protocol.ProcessCancelled
	case t.state == protocol.TaskTimedOut || t.exit.Err != nil || t.exit.Code != 0:
		u.Status, u.Level = protocol.ProcessFailed, protocol.ProcessError
	}
	t.process.Update(u)
	t.summary = t.process.End(progress.Ending{Status: u.Status})
}

// tell tells people what is new of a command, and after its end the last of it. No lock
// is held.
func (s *Set) tell(t *task) {
	t.mu.Lock()
	call, ended := t.process, t.summary != nil
	t.mu.Unlock()
	if call == nil {
		return
	}
	if ended {
		t.unfollow()
		<-t.follow.over
	}
	t.tellNew()
}

// unfollow ends the goroutine that follows the command, if there is one.
func (t *task) unfollow() {
	if t.follow.wake != nil {
		t.follow.close.Do(func() { close(t.follow.wake) })
	}
}

func (t *task) tellNew() {
	t.follow.mu.Lock()
	defer t.follow.mu.Unlock()
	for _, p := range t.process.Take() {
		if t.follow.tell != nil {
			t.follow.tell(p)
		}
	}
}
