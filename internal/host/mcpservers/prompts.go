package mcpservers

import (
	"context"
	"slices"
	"time"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/mcptool"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// listsTime is how long somebody who names a prompt or a resource waits for its server to
// say what it has.
const listsTime = 30 * time.Second

// completeLimit is how long the completion of an argument may take in all.
const completeLimit = 2 * time.Second

// Prompt is a prompt of a server.
type Prompt struct {
	connect.Prompt
	Server string // as it is configured
	used   *used
}

// Begun returns the offer of a session whose servers have been begun, nil for another.
func (s *Servers) Begun(id protocol.SessionID, timeout time.Duration) *Offer {
	s.mu.Lock()
	x := s.open[id]
	s.mu.Unlock()
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.begun || x.closed {
		return nil
	}
	return &Offer{s, x, id, timeout}
}

// Prompts returns the prompts of servers that are connected, sorted by server.
func (o *Offer) Prompts() (out []Prompt) {
	for _, u := range o.servers() {
		if s := u.lease.Status(); s.State == pool.Connected {
			for _, p := range s.Lists.Prompts {
				out = append(out, Prompt{p, u.entry.Name, u})
			}
		}
	}
	return out
}

// AwaitListed waits until the servers that can have a prompt of this name have said what
// they have, at most 30 s.
func (o *Offer) AwaitListed(ctx context.Context, name string) error {
	return o.awaitListed(ctx, func(u *used) bool { return u.mayHave(name) })
}

// AwaitAllListed waits until all servers have said what they have.
func (o *Offer) AwaitAllListed(ctx context.Context) error {
	return o.awaitListed(ctx, func(*used) bool { return true })
}

func (o *Offer) awaitListed(ctx context.Context, which func(*used) bool) error {
	limited, cancel := context.WithTimeout(ctx, listsTime)
	defer cancel()
	list := slices.DeleteFunc(slices.Clone(o.servers()), func(u *used) bool { return !which(u) })
	if o.await(limited, list) == nil {
		for _, u := range list {
			if u.lease.Listed(limited) != nil {
				break
			}
		}
	}
	return ctx.Err() // what is known by then counts
}

// AsSkills returns the prompts of the servers of the session as a model uses them, those that
// takes. The prompts of a server whose connection has ended stay, as its tools do.
func (o *Offer) AsSkills(takes func(name, server string) bool) tool.Prompts {
	return &mcptool.Prompts{From: o.prompting, Await: o.awaitPrompt, Takes: takes, People: o.people(), Blobs: payloads{o.s.cfg.Blobs}}
}

// awaitPrompt waits for the servers that can have a prompt of a name, and takes in what they
// have.
func (o *Offer) awaitPrompt(ctx context.Context, name string) {
	if o.AwaitListed(ctx, name) != nil {
		return // what is known by then counts
	}
	for _, u := range o.servers() {
		if u.mayHave(name) {
			o.changed(u)
		}
	}
}

// prompting returns the servers that have prompts, as they are known.
func (o *Offer) prompting() (out []mcptool.Prompting) {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	for _, u := range o.x.used {
		if len(u.prompts) > 0 {
			out = append(out, mcptool.Prompting{Name: u.entry.Name, Prompts: u.prompts, Fill: u.lease.Prompt})
		}
	}
	return out
}

// Filled is a prompt with its arguments in their places, fit for a message.
type Filled struct {
	Text     string // not marked as that of a server
	Pictures []protocol.Block
}

// Fill fills a prompt in. An error is a sentence without a subject.
func (o *Offer) Fill(ctx context.Context, p Prompt, arguments map[string]string) (*Filled, error) {
	said, err := p.used.lease.Prompt(ctx, o.call(p.Server, p.Own), arguments)
	if err != nil {
		return nil, err
	}
	text, pictures, err := mcptool.Said(ctx, said, payloads{o.s.cfg.Blobs})
	return &Filled{text, pictures}, err
}

// completePause is how long an argument stays as it is before its server is asked what it may
// be: who types on is not asked about.
const completePause = 150 * time.Millisecond

// Complete returns values that an argument of a prompt may have, none where its server is not
// connected. Each call of a session ends the one before, because somebody has typed on.
func (o *Offer) Complete(ctx context.Context, p Prompt, argument, typed string, before map[string]string) []string {
	ctx, cancel := context.WithTimeout(ctx, completeLimit)
	defer cancel()
	o.x.mu.Lock()
	if o.x.typed != nil {
		o.x.typed()
	}
	o.x.typed = cancel
	o.x.mu.Unlock()
	pause := time.NewTimer(completePause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-pause.C:
	}
	if p.used.lease.Status().State != pool.Connected {
		return nil
	}
	return p.used.lease.Complete(ctx, connect.Partial{Prompt: p.Own, Argument: argument, Typed: typed, Before: before})
}

// call is a request of the person's, in the course of which the server may ask them.
func (o *Offer) call(server, what string) connect.Call {
	people := o.people()
	return connect.Call{Tool: what, Session: string(o.id), Ask: func(ctx context.Context, q connect.Question) connect.Reply {
		return people.Answer(ctx, server, "", q)
	}, Sample: people.Sampler(server, "")}
}
