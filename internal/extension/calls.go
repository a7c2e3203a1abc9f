package extension

import (
	"context"
	"encoding/json"
	"fmt"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// Bounds of what an extension says.
const (
	maxFailures = 32      // events of an extension whose failed handlers people are told of
	maxLog      = 8 << 10 // bytes of a line for the diagnostics
)

// which returns the extension of a process that something is from: a program is one, the
// child names it.
func (c *child) which(params json.RawMessage) *member {
	var p struct {
		Ext string `json:"ext"`
	}
	_ = json.Unmarshal(params, &p)
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	if c.kind == Process {
		if c.loading != nil {
			return c.loading
		}
		if len(c.slots) > 0 {
			return c.slots[0]
		}
		return nil
	}
	for _, m := range c.slots {
		if m.ID == p.Ext {
			return m
		}
	}
	return nil
}

// serve carries out a request of an extension.
func (c *child) serve(ctx context.Context, method string, params json.RawMessage) (any, error) {
	m := c.which(params)
	if m == nil {
		return nil, &RemoteError{Code: rpc.ErrParams, Message: "the request names no extension of this process in \"ext\""}
	}
	ctx = context.WithValue(ctx, servedKey{}, m)
	c.set.mu.Lock()
	loading := m.loading
	if m.command != nil {
		ctx = withValues{ctx, m.command}
	}
	c.set.mu.Unlock()
	m.clock.begin()
	defer m.clock.end()
	switch method {
	case rpc.CallRegister:
		var r rpc.Registration
		if err := json.Unmarshal(params, &r); err != nil {
			return nil, &RemoteError{Code: rpc.ErrParams, Message: "the registration is not valid: " + err.Error()}
		}
		if m.Kind == JavaScript { // what its files name was said when it was loaded
			c.set.mu.Lock()
			r.EntryTypes = m.registered.EntryTypes
			c.set.mu.Unlock()
		}
		c.set.register(m, r)
		return nil, nil
	case rpc.CallExec:
		var x rpc.Exec
		if err := json.Unmarshal(params, &x); err != nil {
			return nil, &RemoteError{Code: rpc.ErrParams, Message: err.Error()}
		}
		return c.set.exec(ctx, x)
	case rpc.CallBuiltin:
		return c.set.runBuiltin(ctx, m, params)
	case rpc.CallConfig, rpc.CallModels, rpc.CallNotify, rpc.CallUIState:
	default:
		if loading {
			return nil, fmt.Errorf("%s cannot be asked for while the extension is being loaded; ask when session_start is told", method)
		}
	}
	return c.set.cfg.Host.Call(ctx, m.who(), method, params)
}

// note takes a notification of a process. It runs in the reader and does not wait.
func (c *child) note(method string, params json.RawMessage) {
	m := c.which(params)
	if m == nil {
		return
	}
	s := c.set
	switch method {
	case rpc.NoteLog:
		var p struct{ Level, Message string }
		if json.Unmarshal(params, &p) == nil {
			s.cfg.Report("extension "+m.ID+": "+clip(p.Level, 20), []byte(clip(s.cfg.Clean(p.Message), maxLog)))
		}
	case rpc.NoteToolUpdate:
		var p rpc.ToolUpdate
		if r := m.runs(params, &p, &p.ToolCallID); r != nil && r.update != nil {
			r.update(p.Text)
		}
	case rpc.NoteProcess:
		var p rpc.ToolProcess
		if r := m.runs(params, &p, &p.ToolCallID); r != nil && r.process != nil {
			p.Update.Message = s.cfg.Clean(p.Update.Message)
			r.process(p.Update)
		}
	case rpc.NoteHandlerFailed:
		var p struct{ Event, Error, Stack string }
		if json.Unmarshal(params, &p) == nil {
			p.Error, p.Stack = s.cfg.Clean(p.Error), s.cfg.Clean(p.Stack)
			s.cfg.Report(fmt.Sprintf("extension %s: the handler of %s failed: %s", m.ID, clip(p.Event, 100), clip(p.Error, 500)), []byte(clip(p.Stack, maxLog)))
			why := clip(p.Error, 500)
			if at := placeIn(p.Stack, why); at != "" {
				why += " at " + at
			}
			s.tellFailure(m, clip(p.Event, 100), why)
		}
	case rpc.NoteFrame:
		var f rpc.Frame
		if s.cfg.Frame != nil && json.Unmarshal(params, &f) == nil {
			s.cfg.Frame(m.who(), f)
		}
	case rpc.NoteBus:
		line, err := encode(frame{Method: rpc.NoteBus, Params: params})
		if err != nil {
			return
		}
		s.mu.Lock()
		others := append([]*child(nil), s.children...)
		s.mu.Unlock()
		for _, o := range others {
			if o != c {
				o.peer.tell(line)
			}
		}
	}
}

// Input brings an extension what is for a component of it. It does not wait: the error is a
// sentence for who looks at the component.
func (s *Set) Input(in rpc.Input) error {
	m := s.find(in.Ext)
	if m == nil {
		return fmt.Errorf("there is no extension %s", in.Ext)
	}
	s.mu.Lock()
	c := m.child
	s.mu.Unlock()
	if c == nil {
		return fmt.Errorf("the extension %s does not run", m.ID)
	}
	line, err := notification(rpc.NoteInput, in)
	if err != nil {
		return err
	}
	if c.peer.drops(line) {
		return fmt.Errorf("the extension %s does not read what it is sent, so these keys are lost", m.ID)
	}
	c.peer.tell(line)
	return nil
}

// tellFailure tells people that a handler has failed, once for each event.
func (s *Set) tellFailure(m *member, event, why string) {
	s.mu.Lock()
	told := len(m.failures) >= maxFailures
	for _, f := range m.failures {
		told = told || f == event
	}
	if !told {
		m.failures = append(m.failures, event)
	}
	s.mu.Unlock()
	if !told { // it must not wait for the session in the reader
		s.spawn(func() {
			s.cfg.Host.Notify("warning", fmt.Sprintf("The extension %s failed at %s: %s", m.ID, event, why))
		})
	}
}

// running is a tool that runs.
type running struct {
	update  func(string)
	process func(protocol.ProcessUpdate)
	builtin *delegate // of a tool that replaces a built-in one
}

// runs returns the running tool that a notification is about.
func (m *member) runs(params json.RawMessage, to any, id *string) *running {
	if json.Unmarshal(params, to) != nil {
		return nil
	}
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	return m.running[*id]
}
