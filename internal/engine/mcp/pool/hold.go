package pool

import (
	"context"
	"slices"
	"time"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/platform/fault"
)

// listed is what a server offers besides tools.
type listed struct {
	lists  connect.Lists
	faults []string
	caught *fault.Panic
}

// hold reads the tools, then the other lists, and each again when it changes or when the
// time of the server for it has ended, until the connection ends or is not wanted any more;
// then it is closed. It reports whether somebody wants another one. The connection can be
// used while the other lists are read: nobody waits for a server that does not tell them.
func (c *connection) hold(ctx context.Context, server Server) (wanted bool) {
	ctx, cancel := context.WithCancel(ctx)
	got := make(chan listed, 1)
	reading := false
	read := func() {
		reading = true
		go func() { // ends with the connection or ctx; see below
			var l listed
			l.caught = fault.Attempt(func() {
				c.subscribe(ctx, server)
				l.lists, l.faults = server.Lists(ctx)
			})
			got <- l
		}()
	}
	defer func() {
		cancel()
		server.Close()
		if reading {
			<-got
		}
	}()
	s := Status{State: Connected, Title: server.Title(), Instructions: server.Instructions()}
	faults, ok := c.tools(ctx, server, &s)
	if !ok {
		return false
	}
	s.Faults = faults
	c.become(server, s)
	read()
	var others listed
	var toolsEnd, listsEnd <-chan time.Time // when they are read again
	toolTime, _ := server.Fresh()
	toolsEnd = after(toolTime)
	again := false // the other lists have changed while they were read
	for {
		tools := false
		select {
		case others = <-got:
			reading = false
			if others.caught != nil {
				panic(others.caught) // it is part of holding the connection
			}
			s.Lists, s.Listed = others.lists, true
			_, listTime := server.Fresh()
			listsEnd = after(listTime)
			if again {
				again = false
				read()
			}
		case <-c.retool:
			tools = true
		case <-toolsEnd:
			tools = true
		case <-c.relist:
			if again = reading; !reading {
				read()
			}
			continue
		case <-listsEnd:
			if listsEnd = nil; !reading {
				read()
			}
			continue
		case <-server.Done():
			return false
		case <-c.kick:
			return true
		case <-ctx.Done():
			return false
		}
		if tools {
			if faults, ok = c.tools(ctx, server, &s); !ok {
				return false
			}
			toolTime, _ := server.Fresh()
			toolsEnd = after(toolTime)
		}
		s.Faults = slices.Concat(faults, others.faults)
		c.offers(server, s)
	}
}

// tools reads the tools into a status. ok is false when the connection is not wanted any more.
func (c *connection) tools(ctx context.Context, server Server, s *Status) (faults []string, ok bool) {
	tools, faults, err := server.Tools(ctx)
	if err != nil {
		faults = append(faults, "its tools are not known: "+err.Error())
	}
	s.Tools = tools
	return faults, ctx.Err() == nil
}

// after returns what sends after some time; never for 0.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// Listed waits until the server has said what it offers besides tools, its connection has
// failed, or ctx has ended.
func (l *Lease) Listed(ctx context.Context) error {
	return l.until(ctx, func(s Status) bool {
		return s.Listed || s.State != Connected && (s.State != Pending || s.Problem != "")
	})
}
