package pairing

import (
	"context"
	"time"

	"scorel/internal/host/clients"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// create makes a code.
func (p *Pairings) create(r *protocol.CreatePairing) (*protocol.Pairing, error) {
	grant := protocol.Grant(r.Grant)
	switch {
	case r.LAN && grant == protocol.GrantControl:
		return nil, protocol.About("grant", "", protocol.CodeInvalidRequest,
			"A client that comes over the network has answer at most when it is confirmed; give it control afterwards, with set_grant.")
	case grant == "" && r.LAN:
		grant = protocol.GrantAnswer
	case grant == "":
		grant = protocol.GrantControl
	}
	var addresses []string
	if p.cfg.Listener != nil {
		addresses = p.cfg.Listener.WebAddresses(r.LAN)
	}
	if len(addresses) == 0 {
		return nil, protocol.Errorf(protocol.CodeConflict, "The host does not listen where a browser could come; ask for open_web first, as scorel web does.")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return nil, protocol.Errorf(protocol.CodeRuntimeBusy, "The host is stopping.")
	}
	if p.open() >= maxOpen {
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%d codes have not been used yet, which is all that can be open; wait %d s, or cancel one.", maxOpen, int(CodeTime.Seconds()))
	}
	id, text := protocol.NewPairingCode(p.cfg.Rand)
	_, secret, _ := protocol.SplitPairingCode(text)
	c := &code{secret: secret, grant: grant, lan: r.LAN, ends: p.cfg.Now().Add(CodeTime), done: make(chan struct{})}
	c.timer = time.AfterFunc(CodeTime, func() { p.expire(id) })
	p.codes[id] = c
	return &protocol.Pairing{PairingID: id, Code: text, ExpiresAt: c.ends.UnixMilli(), Addresses: addresses}, nil
}

// expire ends a code whose time has passed. It is called by the code's timer.
func (p *Pairings) expire(id protocol.PairingID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.codes[id]; c != nil && c.outcome == "" {
		p.end(id, c, protocol.PairingExpired)
	}
}

// await waits for the end of a code.
func (p *Pairings) await(ctx context.Context, id protocol.PairingID) (*protocol.PairingEnd, error) {
	p.mu.Lock()
	c := p.codes[id]
	p.mu.Unlock()
	if c == nil {
		return nil, unknown(id)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	outcome, e := c.outcome, c.entry
	p.mu.Unlock()
	end := &protocol.PairingEnd{Outcome: outcome}
	if e != nil {
		entry := e.Listed()
		end.Entry = &entry
	}
	return end, nil
}

// cancel ends a code that is not used.
func (p *Pairings) cancel(id protocol.PairingID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.codes[id]
	if c == nil {
		return unknown(id)
	}
	if c.outcome == "" {
		p.end(id, c, protocol.PairingCancelled)
	}
	return nil
}

func unknown(id protocol.PairingID) error {
	return protocol.About("pairingId", "", protocol.CodeNotFound, "There is no pairing %q here; its code has ended long ago.", clients.CleanLabel(string(id)))
}

func (p *Pairings) openWeb(r *protocol.OpenWeb) (*protocol.WebOpened, error) {
	if p.cfg.Listener == nil {
		return nil, noListener()
	}
	return p.cfg.Listener.OpenWeb(r.LAN)
}

func (p *Pairings) closeWeb() error {
	if p.cfg.Listener == nil {
		return noListener()
	}
	return p.cfg.Listener.CloseWeb()
}

func noListener() error {
	return protocol.Errorf(protocol.CodeForbidden, "This host is part of another program, and no browser can reach it; start one with scorel host serve --detach.")
}

// Handle enters the handlers of this package's requests.
func (p *Pairings) Handle(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.OpenWeb) (protocol.Response, error) {
		return p.openWeb(r)
	})
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.CloseWeb) (protocol.Response, error) {
		return &protocol.Done{}, p.closeWeb()
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.CreatePairing) (protocol.Response, error) {
		return p.create(r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.AwaitPairing) (protocol.Response, error) {
		return p.await(ctx, r.PairingID)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.CancelPairing) (protocol.Response, error) {
		return &protocol.Done{}, p.cancel(r.PairingID)
	})
}
