package mcpservers

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"

	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// maxLogins is how many sign-ins there may be at once, also those that have ended and that
// nobody has been told of.
const maxLogins = 8

// logins are the sign-ins that people have begun with requests.
type logins struct {
	mu   sync.Mutex
	list []*login // oldest first
}

// login is one of them.
type login struct {
	id     string
	pasted chan string
	// foreign has why what was pasted last does not belong to the sign-in, which goes on.
	foreign chan error
	cancel  context.CancelFunc
	done    chan struct{} // closed when it has ended
	err     error         // why it has failed, when done is closed
}

// beginLogin begins a sign-in, and returns when its address is known.
func (s *Servers) beginLogin(l *lane.Lane, r *protocol.BeginMCPLogin) (*protocol.MCPLogin, error) {
	p, err := s.place(l, r.WorkDir)
	if err != nil {
		return nil, err
	}
	set := s.Configured(p.root, p.cfg, p.over)
	e, ok := set.Lookup(r.Name)
	if !ok {
		return nil, missing(set, r.Name)
	}
	reached, err := s.reach(e, set.Policy, p)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The MCP server %s cannot be used: %s.", e.Name, err)
	}
	person, err := NewLogin(e, reached, s.cfg.Settings.FS, s.cfg.Settings.CredentialsFile(), s.cfg.Settings.Version)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The MCP server %s cannot be used: %s.", e.Name, err)
	}
	if person == nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The MCP server %s has no sign-in: only servers of the types http and sse have one, and not those with a header Authorization in their entry.", e.Name)
	}
	ctx, cancel := context.WithCancel(context.Background()) // the sign-in outlives the request
	x := &login{id: rand.Text(), pasted: make(chan string), foreign: make(chan error, 1), cancel: cancel, done: make(chan struct{})}
	if !s.logins.add(x) {
		cancel()
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%d sign-ins wait already; end one of them first.", maxLogins)
	}
	shown := make(chan *protocol.MCPLogin, 1)
	go func() { // ends with the sign-in, after five minutes, or by cancel
		defer close(x.done)
		defer cancel()
		defer func() {
			if r := recover(); r != nil {
				x.err = errors.New("a fault inside Scorel has ended it")
				s.cfg.Guard.Caught("", "signing in to an MCP server", fault.Caught(r))
			}
		}()
		x.err = person.SignIn(ctx, func(at, host string) { shown <- &protocol.MCPLogin{LoginID: x.id, URL: at, Host: host} }, x.pasted, x.notOurs)
		if x.err == nil && p.id != "" {
			if u, err := s.usedBy(p.id, e.Name); err == nil {
				u.lease.Retry()
			}
		}
	}()
	select {
	case out := <-shown:
		return out, nil
	case <-x.done:
		s.logins.drop(x.id)
		return nil, x.failed()
	}
}

// notOurs keeps why what was pasted does not belong to the sign-in.
func (x *login) notOurs(err error) {
	select {
	case <-x.foreign:
	default:
	}
	x.foreign <- err
}

// failed returns why a sign-in that has ended did, nil when somebody has signed in.
func (x *login) failed() error {
	switch {
	case x.err == nil:
		return nil
	case errors.Is(x.err, context.Canceled):
		return protocol.Errorf(protocol.CodeConflict, "The sign-in was cancelled.")
	}
	return protocol.Errorf(protocol.CodeProviderError, "The sign-in has failed: %s.", failure.Sentence(x.err))
}

// add takes a sign-in in, in place of the oldest that has ended where there are too many.
func (ls *logins) add(x *login) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if len(ls.list) == maxLogins {
		i := slices.IndexFunc(ls.list, func(o *login) bool {
			select {
			case <-o.done:
				return true
			default:
				return false
			}
		})
		if i < 0 {
			return false
		}
		ls.list = slices.Delete(ls.list, i, i+1)
	}
	ls.list = append(ls.list, x)
	return true
}

func (ls *logins) find(id string) (*login, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, x := range ls.list {
		if x.id == id {
			return x, nil
		}
	}
	return nil, protocol.About("loginId", "", protocol.CodeNotFound, "There is no such sign-in; it has ended, or the host has been restarted.")
}

func (ls *logins) drop(id string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.list = slices.DeleteFunc(ls.list, func(x *login) bool { return x.id == id })
}

// await waits for the end of a sign-in.
func (ls *logins) await(ctx context.Context, r *protocol.AwaitMCPLogin) error {
	x, err := ls.find(r.LoginID)
	if err != nil {
		return err
	}
	var foreign <-chan error // of what is pasted here
	if r.Pasted != "" {
		select {
		case x.pasted <- r.Pasted:
			foreign = x.foreign
		case <-x.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case <-x.done:
		return x.failed()
	case err := <-foreign:
		return protocol.About("pasted", "", protocol.CodeInvalidRequest, "%s; the sign-in still waits.", failure.Sentence(err))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cancel ends a sign-in.
func (ls *logins) cancel(id string) error {
	x, err := ls.find(id)
	if err != nil {
		return err
	}
	x.cancel()
	<-x.done
	ls.drop(id)
	return nil
}

// close ends all sign-ins.
func (ls *logins) close() {
	ls.mu.Lock()
	list := ls.list
	ls.list = nil
	ls.mu.Unlock()
	for _, x := range list {
		x.cancel()
		<-x.done
	}
}
