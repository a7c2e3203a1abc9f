package cli

import (
	"context"

	"github.com/spf13/cobra"

	"scorel/protocol"
	"scorel/protocol/display"
)

// maxTailEvents bounds what scorel tail shows of what was before.
const maxTailEvents = 2000

// tailOptions are the flags of scorel tail.
type tailOptions struct {
	remote remoteOptions
	json   bool
	follow bool
	events int
}

func (a *app) tailCommand() *cobra.Command {
	var o tailOptions
	cmd := &cobra.Command{Use: "tail SESSION", Short: "Follow what happens in a session, as text or as JSON", Args: args(cobra.ExactArgs(1)),
		Long: `Prints the newest events of a session and then everything as it comes. With --json
each line is an object: an event as the protocol has it, or a resync or live frame,
which says that what was running before is void or how the session stands.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.tail(cmd.Context(), o, args[0]) }}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "one JSON object a line")
	f.IntVarP(&o.events, "lines", "n", 20, "begin with so many of the newest events of the path")
	f.BoolVarP(&o.follow, "follow", "f", true, "go on with what comes; --follow=false ends behind what is there")
	o.remote.register(cmd)
	return cmd
}

func (a *app) tail(ctx context.Context, o tailOptions, name string) error {
	if o.events < 0 || o.events > maxTailEvents {
		return usagef("-n takes 0 to %d events; scorel sessions export has all of them", maxTailEvents)
	}
	defer survivePipe()()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := a.reach(ctx, reachOptions{remote: o.remote, start: true, name: "scorel tail", lasting: true, onState: a.tellOutages(nil)})
	if err != nil {
		return err
	}
	defer l.Close()
	id, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	s, err := l.Open(ctx, id, o.events)
	if err != nil {
		return err
	}
	signals, quiet := interrupts()
	defer quiet()
	out := &tailPrinter{app: a, json: o.json, id: id}
	if !o.json {
		screen := &pipeScreen{out: a.stdout}
		out.view, out.ask = newLiveView(screen), &asker{screen: screen}
		out.screen = screen
		if title := display.Line(s.Opened.Summary.Title()); title != "" {
			screen.line(dimStyle, "── "+title)
		}
	}
	v := &liveSession{s: s}
	updates := v.updates(ctx)
	for {
		select {
		case n := <-updates:
			if n.err != nil {
				return n.err
			}
			if err := out.update(n, v); err != nil {
				return err
			}
			if n.update.Fresh && !o.follow {
				return nil
			}
		case <-signals:
			return nil
		}
	}
}

// tailPrinter prints updates as lines.
type tailPrinter struct {
	app    *app
	json   bool
	id     protocol.SessionID
	view   *liveView
	ask    *asker
	screen screen
	buf    []byte
}

func (t *tailPrinter) update(n observed, v *liveSession) error {
	u := n.update
	if !t.json {
		t.view.resync(u.Resync)
		v.fold(u, n.live, func(e protocol.Event) { t.view.event(e, &v.live) })
		if u.Fresh {
			t.view.state(&v.live)
		}
		t.ask.sync(&v.live)
		return t.screen.flush()
	}
	if u.Resync != "" {
		if err := t.frame(&protocol.ResyncFrame{SessionID: t.id, Mode: u.Resync}); err != nil {
			return err
		}
	}
	for _, e := range u.Events {
		var err error
		if t.buf, err = e.AppendLine(t.buf[:0]); err != nil {
			return err
		}
		if _, err := t.app.stdout.Write(append(t.buf, '\n')); err != nil {
			return err
		}
	}
	if u.Fresh {
		return t.frame(&protocol.LiveFrame{SessionID: t.id, Live: n.live})
	}
	return nil
}

// frame prints a frame.
func (t *tailPrinter) frame(f protocol.Frame) error {
	data, err := protocol.MarshalFrame(f)
	if err != nil {
		return err
	}
	_, err = t.app.stdout.Write(append(data, '\n'))
	return err
}
