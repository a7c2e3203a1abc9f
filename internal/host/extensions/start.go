package extensions

import (
	"context"
	"fmt"

	"scorel/internal/host/failure"
	"scorel/protocol"
)

// Start starts the extensions of a session, and returns its meta with what they have
// changed of it at the start of the session, for the turn that is being prepared. An error
// is that of ctx: no turn begins without the extensions that are to judge it.
func (xs *Extensions) Start(ctx context.Context, id protocol.SessionID, meta protocol.Meta) (protocol.Meta, error) {
	x := xs.Of(id)
	if x == nil {
		return meta, nil
	}
	before := x.lane.Meta()
	if err := x.load(ctx); err != nil {
		return meta, err
	}
	after := x.lane.Meta()
	if after.Model != before.Model {
		meta.Model = after.Model
	}
	if after.ThinkingLevel != before.ThinkingLevel {
		meta.ThinkingLevel = after.ThinkingLevel
	}
	return meta, nil
}

// Load starts the extensions of a session, when they do not run; a session without
// extensions, which is nil, has none. The error is that of ctx.
func (x *Session) Load(ctx context.Context) error {
	if x == nil {
		return nil
	}
	return x.load(ctx)
}

// load starts the extensions of a session, when they do not run, and tells people once
// which entries of the conversation no extension understands. The error is that of ctx.
func (x *Session) load(ctx context.Context) error {
	if err := x.start(ctx); err != nil {
		return err
	}
	loaded := x.set.Loaded()
	x.mu.Lock()
	looked := x.looked
	x.looked = true
	if loaded && x.unwatch == nil {
		x.unwatch = x.lane.Listeners().Watch(x.watch)
	}
	x.mu.Unlock()
	if looked {
		return nil
	}
	x.set.Warn(ctx)
	return nil
}

// beganKey is the key of what [Session.ready] sets: that extensions start.
type beganKey struct{}

// start starts the extensions that do not run.
func (x *Session) start(ctx context.Context) error {
	began := false
	err := x.set.Load(context.WithValue(ctx, beganKey{}, &began))
	if began {
		x.mu.Lock()
		close(x.starting)
		x.starting = nil
		x.mu.Unlock()
	}
	return err
}

// ready notes what extensions see of the session before they are told that it starts: the
// model, the tools, the commands and the prompt of the turn to come. What cannot be known
// they see when a turn runs.
func (x *Session) ready(ctx context.Context) {
	if began, ok := ctx.Value(beganKey{}).(*bool); ok {
		x.mu.Lock()
		*began, x.starting = true, make(chan struct{})
		x.mu.Unlock()
	}
	turn, instructions, ok := x.exts.upper.Foresee(ctx, x.lane)
	if !ok {
		return
	}
	x.follow(ctx, turn)
	if instructions == nil || x.storedPrompt() != "" {
		return
	}
	if text, err := instructions(); err == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.turn.draft = text
	}
}

// later handles what an extension asks for when the start of the session is over: what
// a person sends comes first then. false: the session is not starting.
func (x *Session) later(what string, do func(context.Context) error) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	started := x.starting
	if started == nil || x.queue.ctx.Err() != nil {
		return false
	}
	x.queue.wg.Go(func() { // ends with what is done, or the session
		defer func() {
			if r := recover(); r != nil {
				x.lane.Panicked(r)
			}
		}()
		select {
		case <-started:
		case <-x.queue.ctx.Done():
			return
		}
		if err := do(x.queue.ctx); err != nil && x.queue.ctx.Err() == nil {
			x.Notify("error", fmt.Sprintf("%s: %s", what, failure.Sentence(err)))
		}
	})
	return true
}
