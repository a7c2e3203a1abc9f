package webpush

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"scorel/internal/engine/fetch"
	"scorel/internal/host/clients"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// errEndpoint says what an endpoint has to be.
var errEndpoint = errors.New("the address of a push service is an https URL without a user name and without a fragment")

// get returns the key and how the subscription of a client stands.
func (p *Pushes) get(id protocol.ClientID) (*protocol.Push, error) {
	if err := p.able(); err != nil {
		return nil, err
	}
	key, err := p.signingKey()
	if err != nil {
		return nil, failure.Storage("make the key for pushes", err)
	}
	out := &protocol.Push{PublicKey: publicKey(key)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.targets[id]; t != nil {
		out.State, out.Status = t.State, t.Status
	}
	return out, nil
}

// able returns why this host pushes nothing, if so.
func (p *Pushes) able() error {
	if !p.cfg.Serving {
		return protocol.Errorf(protocol.CodeForbidden, "This host is part of another program and pushes nothing; start one that stays with scorel host serve --detach.")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return protocol.Errorf(protocol.CodeStorageError, "%s.", failure.Sentence(p.broken))
	}
	return nil
}

// set keeps the subscription of a client. It returns when it is durable.
func (p *Pushes) set(id protocol.ClientID, r *protocol.SetPush) (*protocol.Push, error) {
	now, err := p.get(id)
	if err != nil {
		return nil, err
	}
	if r.Key != now.PublicKey {
		return nil, protocol.About("key", "", protocol.CodeConflict, "The browser has subscribed under another key than this host's; ask for the key with get_push and subscribe again.")
	}
	if err := p.judge(r.Endpoint); err != nil {
		return nil, protocol.About("endpoint", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	all, err := p.cfg.Entries.List()
	if err != nil {
		return nil, failure.Storage("read the list of clients", err)
	}
	i := slices.IndexFunc(all, func(e clients.Entry) bool { return e.ClientID == id })
	if i < 0 || !all[i].Granted().Allows(protocol.GrantAnswer) {
		return nil, protocol.Errorf(protocol.CodeForbidden, "Only a client with a key of its own that may answer questions is pushed to; scorel clients list shows them.")
	}
	sub := subscription{ClientID: id, Added: all[i].AddedAt, Endpoint: r.Endpoint, Key: r.Key, Contact: contact(r.Origin), State: protocol.PushOn}
	changed, err := p.put(sub, all)
	if err != nil {
		return nil, failure.Storage("keep the push subscription", err)
	}
	if changed {
		p.cfg.Watcher.EntriesChanged()
	}
	return p.get(id)
}

// put stores a subscription and takes it over. One that is there already stays as it is, with
// what became of its last push.
func (p *Pushes) put(sub subscription, all []clients.Entry) (changed bool, err error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if old := p.target(sub.ClientID); old != nil && old.Endpoint == sub.Endpoint && old.Added == sub.Added && old.Contact == sub.Contact {
		return false, nil
	}
	if err := p.store.change(sub.ClientID, all, func(*subscription) *subscription { return &sub }); err != nil {
		return false, err
	}
	open := p.cfg.Sessions.States()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.targets) == 0 { // what is known of sessions is from before: nobody wanted to be told
		clear(p.waits)
	}
	t := p.targets[sub.ClientID]
	if t == nil {
		t = &target{told: map[protocol.SessionID]bool{}}
		p.targets[sub.ClientID] = t
		for _, st := range open { // the page that subscribes shows what waits
			if st.Asking && p.waits[st.SessionID] == nil {
				p.known(st.SessionID, &waiting{waits: true, asking: true})
			}
		}
		for s, w := range p.waits {
			if w.waits {
				t.told[s] = true
			}
		}
	}
	t.subscription, t.failures = sub, 0
	return true, nil
}

// target returns what is kept of a client, nil for nothing.
func (p *Pushes) target(id protocol.ClientID) *subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.targets[id]; t != nil {
		sub := t.subscription
		return &sub
	}
	return nil
}

// judge returns why nothing is sent to an endpoint, if so. What its name leads to is judged
// at each push.
func (p *Pushes) judge(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" || strings.Contains(endpoint, "#") {
		return errEndpoint
	}
	if slices.Contains(p.cfg.Services(), strings.ToLower(u.Scheme+"://"+u.Host)) {
		return nil
	}
	const named = "; if it is a push service of yours, name its origin in host.pushServices"
	t, err := fetch.ParseTarget(endpoint)
	if err != nil {
		return errors.New(strings.Replace(err.Error(), "is not fetched", "is not pushed to", 1) + named)
	}
	if t.Local() {
		return errors.New(t.Host() + " is not pushed to: it is this machine" + named)
	}
	return nil
}

// contact returns what push services are told as the contact.
func contact(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" || !strings.Contains(u.Hostname(), ".") || u.Scheme+"://"+u.Host != origin {
		return noContact
	}
	return origin
}

func (p *Pushes) delete(id protocol.ClientID) error {
	if err := p.able(); err != nil {
		return err
	}
	if p.Of(id) == "" {
		return nil
	}
	if err := p.remove(id); err != nil {
		return failure.Storage("remove the push subscription", err)
	}
	p.cfg.Watcher.EntriesChanged()
	return nil
}

// Handle enters the handlers of this package's requests.
func (p *Pushes) Handle(t request.Table) {
	request.On(t, func(_ context.Context, at *request.Target, _ *protocol.GetPush) (protocol.Response, error) {
		return p.get(at.By.Client)
	})
	request.On(t, func(_ context.Context, at *request.Target, r *protocol.SetPush) (protocol.Response, error) {
		return p.set(at.By.Client, r)
	})
	request.On(t, func(_ context.Context, at *request.Target, _ *protocol.DeletePush) (protocol.Response, error) {
		return &protocol.Done{}, p.delete(at.By.Client)
	})
	request.On(t, func(_ context.Context, at *request.Target, r *protocol.NotePushed) (protocol.Response, error) {
		p.noteShown(at.By.Client, r.SessionIDs)
		return &protocol.Done{}, nil
	})
}
