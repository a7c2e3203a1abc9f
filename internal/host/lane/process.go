package lane

import "scorel/protocol"

// FlushProcesses has the lines of process logs written that wait for it.
func (l *Lane) FlushProcesses() { l.cfg.Processes.Flush() }

// tellProcess sends a process event of a background command.
func (l *Lane) tellProcess(p protocol.ToolProcess) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.tell(&p); err != nil {
		l.cfg.Report("tell how a background command stands: "+err.Error(), nil)
	}
}
