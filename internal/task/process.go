package task

import (
	"scorel/internal/process"
	"scorel/protocol"
)

// begin has a command that was started followed.
func (t *task) begin(processes *process.Recorder) {
	info := process.Info{CallID: t.call, Tool: "Bash", Operation: process.TaskOperationID(t.id),
		Target: protocol.ProcessOfTask, Source: protocol.ProcessByTool, TaskID: t.id}
	if t.agent != "" {
		info.Tool, info.Target, info.Source = "Task", protocol.ProcessOfSubagent, protocol.ProcessBySubagent
	}
	call := processes.Begin(info, nil)
	call.Name(t.title())
	call.Update(protocol.ProcessUpdate{Status: protocol.ProcessStarted, Message: t.title() + " was started in the background"})
	call.Flush()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.process = call
}

// endProcess says how the command ended, and keeps the summary. mu is held.
func (t *task) endProcess() {
	u := protocol.ProcessUpdate{Status: protocol.ProcessCompleted, Message: t.title() + " " + t.ending(), Source: protocol.ProcessByRuntime}
	switch {
	case t.state == protocol.TaskStopped:
		u.Status = protocol.ProcessCancelled
	case t.state == protocol.TaskTimedOut || t.exit.Err != nil || t.exit.Code != 0:
		u.Status, u.Level = protocol.ProcessFailed, protocol.ProcessError
	}
	t.process.Update(u)
	t.summary = t.process.End(process.Ending{Status: u.Status})
}

// tell tells people what is new of a command. No lock is held.
func (s *Set) tell(t *task) {
	t.mu.Lock()
	call := t.process
	t.mu.Unlock()
	for _, p := range call.Take() {
		if s.cfg.Tell != nil {
			s.cfg.Tell(p)
		}
	}
}
