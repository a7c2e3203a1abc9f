package extensions

import (
	"context"
	"slices"

	"scorel/internal/extension"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// spare is a process for the extensions of a session that is about to begin.
type spare struct {
	process *extension.Spare // nil for none
	ready   chan struct{}    // closed when process is set
}

// Prepare starts the process in which the extensions of a session will run that is about to
// begin in a folder, if there are any. It returns at once. What fails is said when a session
// needs the process. It is called once, and Shut ends what no session has taken.
func (xs *Extensions) Prepare(dir string) {
	s := &spare{ready: make(chan struct{})}
	xs.mu.Lock()
	xs.spare = s
	xs.mu.Unlock()
	go func() { // ends when the process is started
		defer close(s.ready)
		defer xs.guard.Rescue("starting a process for extensions")
		s.process = xs.startSpare(dir)
	}()
}

func (xs *Extensions) startSpare(dir string) *extension.Spare {
	root, _ := workspace.Root(dir, xs.settings.UserHome)
	found := xs.Find(context.Background(), root)
	if !slices.ContainsFunc(found.Extensions, func(e extension.Extension) bool {
		return e.Kind == extension.JavaScript && e.State == protocol.ExtensionFound
	}) {
		return nil
	}
	cfg, err := xs.settings.Load(root)
	if err != nil {
		return nil
	}
	p, err := extension.StartSpare(dir, xs.settings.ChildEnviron(cfg))
	if err != nil {
		return nil
	}
	return p
}

// takeSpare returns the process that was started for the next session, nil for none. It waits
// until that is started.
func (xs *Extensions) takeSpare() *extension.Spare {
	xs.mu.Lock()
	s := xs.spare
	xs.spare = nil
	xs.mu.Unlock()
	if s == nil {
		return nil
	}
	<-s.ready
	return s.process
}

// Shut ends a process that no session has taken.
func (xs *Extensions) Shut() { xs.takeSpare().Close() }
