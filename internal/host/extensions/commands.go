package extensions

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"scorel/internal/extension"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// maxQueuedCommands bounds the commands of extensions that wait for a step boundary
// after the answer to their request.
const maxQueuedCommands = 16

// queue counts the commands that run after the answer to their request.
type queue struct {
	ctx     context.Context // of them; ends with the session
	end     context.CancelFunc
	wg      sync.WaitGroup
	waiting int // guarded by Session.mu
}

// Commands returns the commands of the extensions, which it starts: only they know their
// commands. A session without extensions, which is nil, has none. People are told once of
// commands that have another name than their extension gave them.
func (x *Session) Commands(ctx context.Context) ([]extension.Command, error) {
	if x == nil {
		return nil, nil
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	all := x.set.Commands()
	owner := map[string]string{}
	for _, c := range all {
		first, several := owner[c.Plain]
		if !several {
			owner[c.Plain] = c.Origin
		} else if !strings.HasPrefix(c.Plain, protocol.ShortcutPrefix) { // of keys, clients tell
			x.tellOnce(fmt.Sprintf("The extensions %s and %s both have a command /%s: /%[3]s runs that of %[1]s, and /%[4]s that of %[2]s.", first, c.Origin, c.Plain, c.Name))
		}
	}
	return all, nil
}

// Queue runs a command at the next step boundary, and tells people what came of it.
func (x *Session) Queue(k extension.Command, run func(context.Context) (status string, err error)) error {
	if !x.enqueue() {
		return protocol.Errorf(protocol.CodeRateLimited, "%d commands wait already for the running turn.", maxQueuedCommands)
	}
	go func() { // ends with the command, or the session
		defer x.queue.wg.Done()
		defer func() {
			if r := recover(); r != nil {
				x.lane.Panicked(r)
			}
		}()
		err := x.lane.RunCommand(x.queue.ctx, k.Name, func(ctx context.Context) error {
			status, err := run(ctx)
			if err == nil && status != "" {
				x.lane.Notices().Notify(k.Origin, "info", status)
			}
			return err
		})
		x.dequeue()
		if err != nil && x.queue.ctx.Err() == nil {
			x.lane.Notices().Notify(k.Origin, "error", fmt.Sprintf("/%s: %s", k.Name, failure.Sentence(err)))
		}
	}()
	return nil
}

// enqueue reports whether a command may wait; then it counts it.
func (x *Session) enqueue() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.queue.waiting >= maxQueuedCommands || x.queue.ctx.Err() != nil {
		return false
	}
	x.queue.waiting++
	x.queue.wg.Add(1)
	return true
}

func (x *Session) dequeue() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.queue.waiting--
}

// compact compacts the conversation. For a command that asks for it and does not wait,
// which later says, that is done when the command has ended.
func (x *Session) compact(ctx context.Context, instructions string, later bool) error {
	if later && x.lane.Working() && !x.lane.Conversing() {
		after, cancel := context.WithCancel(x.queue.ctx) // without what makes it part of the command
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		if err := x.lane.AtBoundary(after, func(context.Context) error { return nil }); err != nil {
			return err
		}
		ctx = after
	}
	_, err := x.lane.Compact(ctx, x.caller(), instructions, lane.Move{})
	return err
}

// reloadLater has the extensions loaded again when the command that asks for it has ended.
func (x *Session) reloadLater() error {
	if !x.enqueue() {
		return fmt.Errorf("%d commands wait already for the running turn", maxQueuedCommands)
	}
	go func() { // ends with the reload, or the session
		defer x.queue.wg.Done()
		defer func() {
			if r := recover(); r != nil {
				x.lane.Panicked(r)
			}
		}()
		loaded, problems, err := x.Reload(x.queue.ctx)
		x.dequeue()
		switch {
		case x.queue.ctx.Err() != nil:
		case err != nil:
			x.Notify("error", "Extensions were not loaded again: "+failure.Sentence(err)+".")
		default:
			x.Notify("info", fmt.Sprintf("Loaded %d extensions again.", loaded))
			for _, p := range problems {
				x.Notify("warning", p)
			}
		}
	}()
	return nil
}

// Reload looks for the extensions of the session again and starts them again, at a step
// boundary. It returns how many were loaded, and what was wrong with others.
func (x *Session) Reload(ctx context.Context) (loaded int, problems []string, err error) {
	err = x.lane.RunCommand(ctx, "reload", func(ctx context.Context) error {
		before := x.hide()
		x.forget()
		list := x.set.Reload(ctx)
		x.tellClosed(before, list)
		problems = list.Problems
		for _, e := range list.Extensions {
			switch e.State {
			case protocol.ExtensionLoaded:
				loaded++
			case protocol.ExtensionFailed, protocol.ExtensionUntrusted:
				problems = append(problems, fmt.Sprintf("%s: %s", e.ID, e.Problem))
			}
		}
		return nil
	})
	return loaded, problems, err
}
