package progress

import (
	"fmt"
	"sync"
	"time"

	"scorel/protocol"
)

// Bounds of a call.
const (
	maxOperations = 64
	// maxReady bounds what waits to be taken, in events and in bytes. At the bound the
	// newest of each operation waits, and the rest is counted.
	maxReady      = 256
	maxReadyBytes = 1 << 20
	// fullDelay is how long is waited for room.
	fullDelay = 100 * time.Millisecond
)

// Info returns what reports.
type Info struct {
	CallID string
	Tool   string
	// Asked is the message with the call.
	Asked protocol.EventID
	// Result is the event that will carry the summary; it tells calls of the same id
	// apart.
	Result protocol.EventID
	// Operation is the id of what is reported without one; "" is that of the call.
	Operation string
	// Target and Source are those of what is reported without them; "" is a tool's.
	Target protocol.ProcessTarget
	Source protocol.ProcessSource
	// TaskID is that of what is reported without one.
	TaskID string
}

// Call follows one call, or one background command. A nil Call takes everything and
// keeps nothing.
type Call struct {
	r    *Recorder
	info Info
	wake func()

	mu         sync.Mutex // guards all below; Recorder.mu may be taken with it held
	label      string
	detached   bool         // the call has ended, and what it started goes on
	operations []*operation // in the order in which they began
	named      map[string]*operation
	ready      []protocol.ToolProcess
	bytes      int
	kept       kept
	unnamed    int64 // events of operations beyond the bound
	ended      bool
}

// OperationID is the id of what a call reports without one.
func OperationID(callID string) string { return "tool-" + callID }

// TaskOperationID is the id of the operation that a background command is.
func TaskOperationID(taskID string) string { return taskID }

// OnReady sets what is called when there is something to take, as for
// [Recorder.Begin], and calls it when there is something already.
func (c *Call) OnReady(wake func()) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wake = wake; len(c.ready) > 0 {
		wake()
	}
}

// Name returns the call a name for people: that of its skill or sub-agent.
func (c *Call) Name(label string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.label = cut(label, maxWord)
}

// Detach reports that the call has ended and that what it started goes on: events name it
// no more.
func (c *Call) Detach() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detached = true
}

// Update takes a report in. It never waits. After the call has ended it does nothing.
func (c *Call) Update(u protocol.ProcessUpdate) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	o := c.operation(u.OperationID)
	if o == nil {
		c.unnamed++
		return
	}
	if u.TargetType == "" {
		u.TargetType = c.info.Target
	}
	if u.Source == "" {
		u.Source = c.info.Source
	}
	if u.TaskID == "" {
		u.TaskID = c.info.TaskID
	}
	if p := c.named[cut(u.ParentOperationID, maxWord)]; p != nil {
		u.ParentOperationID = p.id
	}
	c.take(o, Normalise(u, c.r.cfg.Now()))
}

// Stderr keeps a line that a skill wrote to stderr and that is no event. It never
// waits.
func (c *Call) Stderr(line string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if o := c.operation(""); o != nil {
		c.r.write(o.log, func() []byte { return stderrLine(line) })
	}
}

// operation returns the operation of an id, "" for the call's own, and begins it when it
// is new; nil when there are too many. mu is held.
func (c *Call) operation(id string) *operation {
	id = cut(id, maxWord)
	if id == "" {
		id = c.info.Operation
	}
	if o := c.named[id]; o != nil {
		return o
	}
	if len(c.operations) >= maxOperations {
		return nil
	}
	o := &operation{}
	o.id, o.log = c.r.begin(id, c.info.Result)
	c.operations = append(c.operations, o)
	if c.named == nil {
		c.named = map[string]*operation{}
	}
	c.named[id] = o
	return o
}

// take lets an event into an operation. mu is held.
func (c *Call) take(o *operation, e protocol.ProcessEvent) {
	o.seq++
	e.OperationID, e.Sequence = o.id, o.seq
	o.last = e
	c.r.write(o.log, func() []byte { return eventLine(&e) })
	now := time.Now()
	o.put(e, now, c.send)
	c.arm(o, now)
}

// arm sees to it that what waits is sent. mu is held.
func (c *Call) arm(o *operation, now time.Time) {
	if !o.waits || c.ended {
		return
	}
	d := o.delay(now)
	if d == 0 {
		d = fullDelay
	}
	if o.timer == nil {
		o.timer = time.AfterFunc(d, c.r.cfg.timed(func() { c.due(o) }))
		return
	}
	o.timer.Reset(d)
}

// due is called by the timer of an operation.
func (c *Call) due(o *operation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	now := time.Now()
	o.due(now, c.send)
	c.arm(o, now)
}

// send makes what waits in an operation ready to be taken; false when there is no room.
// mu is held.
func (c *Call) send(o *operation) bool {
	if len(c.ready) >= maxReady || c.bytes >= maxReadyBytes {
		return false
	}
	c.push(o)
	return true
}

func (c *Call) push(o *operation) {
	e := o.counted()
	c.kept.add(e)
	p := protocol.ToolProcess{ToolName: c.info.Tool, ToolLabel: c.label, Event: e}
	if !c.detached {
		p.ToolCallID, p.AssistantEventID = c.info.CallID, c.info.Asked
	}
	c.ready = append(c.ready, p)
	c.bytes += size(&e)
	if c.wake != nil {
		c.wake()
	}
}

// Flush makes what waits for others like it ready to be taken.
func (c *Call) Flush() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.operations {
		c.flush(o)
	}
}

// Take returns what is to be sent now, each once, in its order.
func (c *Call) Take() []protocol.ToolProcess {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.ready
	c.ready, c.bytes = nil, 0
	return out
}

// Ending returns how a call ended. With a status that is not completed every operation
// that has not ended does, with that status and Why as its message.
type Ending struct {
	Status protocol.ProcessStatus
	Why    string
}

// End ends the call: all that waits is ready to be taken then, and nothing more is. It
// gives the summary for the result, nil when nothing was reported; a second time too.
func (c *Call) End(end Ending) *protocol.ProcessSummary {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	for _, o := range c.operations {
		if o.timer != nil {
			o.timer.Stop()
		}
		if o.seq > 0 && !o.last.Status.Terminal() && end.Status.Terminal() && end.Status != protocol.ProcessCompleted {
			c.flush(o)
			c.take(o, closing(&o.last, end, c.r.cfg.Now()))
		}
		c.flush(o)
		if o.timer != nil {
			o.timer.Stop()
		}
	}
	c.ended = true
	if len(c.operations) == 0 {
		return nil
	}
	if c.unnamed > 0 {
		c.r.note(c.operations[0].log, fmt.Sprintf("%d events of further operations were left out; a call keeps %d operations.", c.unnamed, maxOperations))
	}
	logs := make([]*log, len(c.operations))
	for i, o := range c.operations {
		logs[i] = o.log
	}
	c.r.end(logs)
	own := c.operations[0]
	if o := c.named[c.info.Operation]; o != nil {
		own = o
	}
	return c.kept.summary(&protocol.ProcessLogRef{Kind: protocol.ProcessLogKind, SessionID: c.r.cfg.Session,
		OperationID: own.id, ToolCallID: c.info.CallID})
}

// flush makes what waits in an operation ready, whatever its rate. mu is held.
func (c *Call) flush(o *operation) {
	if o.waits {
		c.push(o)
		o.waits, o.omitted = false, 0
	}
}

// closing is the event with which an operation ends that has not ended itself.
func closing(last *protocol.ProcessEvent, end Ending, now time.Time) protocol.ProcessEvent {
	level := protocol.ProcessError
	if end.Status != protocol.ProcessFailed {
		level = protocol.ProcessWarning
	}
	return Normalise(protocol.ProcessUpdate{ParentOperationID: last.ParentOperationID, TargetType: last.TargetType,
		Source: protocol.ProcessByRuntime, TaskID: last.TaskID, Stage: last.Stage, Status: end.Status, Level: level, Message: end.Why}, now)
}
