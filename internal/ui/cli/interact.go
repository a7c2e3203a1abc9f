package cli

import (
	"context"

	"scorel/client"
	"scorel/protocol"
)

// observed is an update of the session with the state behind it.
type observed struct {
	update client.Update
	live   protocol.Live
	err    error
}

// interaction is a run that takes requests while it goes on.
type interaction struct {
	link *link
	in   *input
	out  printer
	res  *result

	turn     protocol.TurnID // that runs; "": none
	ended    protocol.TurnID // that has ended last
	starting bool            // the message of a turn stands in the log, the turn's begin has not been seen
	seen     protocol.Seq    // the newest persistent event
	runs     int
	requests int
	cancel   bool           // what runs, or begins, is to be cancelled
	through  *protocol.Live // set when the input has ended: the state behind all that it brought
}

// interact sends the prompt, if there is one, and carries out the requests of
// stdin, printing events and answers as they come. It ends when the input has
// ended and no turn runs. An interrupt ends the input and cancels the turn, a
// second one ends the program.
func (a *app) interact(ctx context.Context, l *link, s *client.Session, prompt []protocol.Block, out *jsonPrinter, res *result) error {
	in, err := newInput(ctx, l, res.SessionID)
	if err != nil {
		return err
	}
	defer close(in.done)
	defer in.conn.Close()
	i := &interaction{link: l, in: in, out: out, res: res, seen: s.Live.PersistentLastSeq}
	updates := watch(ctx, s, in.done)
	if len(prompt) > 0 {
		i.requests++
		if r := in.carryOut(ctx, in.newCall(&protocol.SendMessage{Content: prompt, WhenBusy: "reject"})); r.Err != nil {
			return r.Err
		}
	}
	signals, stop := interrupts()
	defer stop()
	replies := in.replies
	go in.read(ctx, a.stdin) // ends with stdin or the program; nobody waits for it behind done
	interrupted := false
	for !i.over() {
		select {
		case n := <-updates:
			if err := i.take(ctx, n); err != nil {
				return err
			}
			if err := i.cancelTurn(ctx); err != nil {
				return err
			}
		case r, open := <-replies:
			if open {
				i.requests++
				if err := out.reply(r); err != nil {
					return err
				}
				continue
			}
			replies = nil
			if err := i.endInput(ctx); err != nil {
				return err
			}
		case <-signals:
			if interrupted {
				return context.Canceled
			}
			interrupted, replies = true, nil
			i.cancel = true // before the end of the input, which would answer an open question
			if err := i.cancelTurn(ctx); err != nil {
				return err
			}
			if err := i.endInput(ctx); err != nil {
				return err
			}
			if err := i.cancelTurn(ctx); err != nil {
				return err
			}
		}
	}
	switch {
	case interrupted && i.runs == 0:
		return context.Canceled
	case i.requests == 0:
		return empty()
	case i.runs == 0:
		res.Terminal = protocol.TerminalCompleted
	}
	return nil
}

// watch takes updates of a session until it fails, or nobody takes them.
func watch(ctx context.Context, s *client.Session, done <-chan struct{}) <-chan observed {
	updates := make(chan observed)
	go func() { // ends with the session or with done
		for {
			u, err := s.Next(ctx)
			select {
			case updates <- observed{u, s.Live, err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return updates
}

// over says that nothing is left to wait for.
func (i *interaction) over() bool {
	return i.through != nil && i.turn == "" && !i.starting && i.seen >= i.through.PersistentLastSeq
}

// endInput gives up the connection that could be asked, so that open questions are
// refused, and looks up to where the requests have led.
func (i *interaction) endInput(ctx context.Context) error {
	if err := i.in.conn.Close(); err != nil {
		return err
	}
	return i.look(ctx)
}

// look sees how the session stands now, on a connection of its own: all that has been
// asked for is in it.
func (i *interaction) look(ctx context.Context) error {
	conn, err := i.link.dial(ctx, false)
	if err != nil {
		return err
	}
	c := client.New(conn)
	defer c.Close()
	s, err := c.Open(ctx, i.res.SessionID, 0)
	if err != nil {
		return err
	}
	if _, err := s.Next(ctx); err != nil {
		return err
	}
	i.through = &s.Live
	if s.Live.Running && s.Live.TurnID != i.ended {
		i.turn = s.Live.TurnID
	}
	return nil
}

// cancelTurn cancels what runs, once an interrupt wants that.
func (i *interaction) cancelTurn(ctx context.Context) error {
	if !i.cancel || i.turn == "" {
		return nil
	}
	i.cancel = false
	_, err := client.Call[*protocol.Cancelled](ctx, i.link.Client, i.res.SessionID, &protocol.Cancel{TurnID: i.turn})
	return err
}

// take prints an update and follows where the session is.
func (i *interaction) take(ctx context.Context, n observed) error {
	if n.err != nil {
		return n.err
	}
	if n.update.Fresh {
		i.turn, i.seen, i.starting = n.live.TurnID, max(i.seen, n.live.PersistentLastSeq), false
		return nil
	}
	for _, e := range n.update.Events {
		if _, err := printEvent(ctx, i.link, i.out, i.res, e); err != nil {
			return err
		}
		i.follow(e)
	}
	return nil
}

func (i *interaction) follow(e protocol.Event) {
	if !e.IsTransient() {
		i.seen = max(i.seen, e.Seq)
	}
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		// A turn begins with its message; what steers stands inside one.
		if m := b.Message; m.Role == protocol.RoleUser && i.turn == "" {
			i.starting = true
		}
	case *protocol.RuntimeStart:
		i.turn, i.starting = e.TurnID, false
		i.runs++
	case *protocol.RuntimeEnd:
		i.turn, i.ended, i.starting = "", e.TurnID, false
	}
}
