package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/line"
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
	f.IntVarP(&o.events, "lines", "n", 20, "start with the last N events of the path")
	f.BoolVarP(&o.follow, "follow", "f", true, "keep printing new events; --follow=false stops after the stored ones")
	o.remote.register(cmd)
	return cmd
}

func (a *app) tail(ctx context.Context, o tailOptions, name string) error {
	if o.events < 0 || o.events > maxTailEvents {
		return exit.Usagef("-n takes 0 to %d events; scorel sessions export has all of them", maxTailEvents)
	}
	defer follow.SurvivePipe()()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := a.reach(ctx, reachOptions{remote: o.remote, start: true, name: "scorel tail", lasting: true, onState: a.notifyOutages(nil)})
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
	signals, quiet := follow.Interrupts()
	defer quiet()
	v := &tailView{once: !o.follow}
	if v.print = (&frames{out: a.stdout, id: id}).update; !o.json {
		v.print = line.NewTailer(a.stdout, display.Line(s.Opened.Summary.Title())).Update
	}
	return follow.New(follow.Config{Session: s, View: v, Signals: signals}).Run(ctx)
}

// tailView prints updates until it is interrupted.
type tailView struct {
	print func(*client.Update) error
	once  bool // it ends after what was there
}

// Update prints an update.
func (v *tailView) Update(u *client.Update) error {
	err := v.print(u)
	if err == nil && u.Fresh && v.once {
		return follow.ErrStop
	}
	return err
}

// Interrupt ends it.
func (v *tailView) Interrupt(os.Signal) error { return follow.ErrStop }

// frames prints updates as JSON: events as the protocol has them, and frames between them.
type frames struct {
	out io.Writer
	id  protocol.SessionID
	buf []byte
}

func (f *frames) update(u *client.Update) error {
	if u.Resync != "" {
		if err := f.frame(&protocol.ResyncFrame{SessionID: f.id, Mode: u.Resync}); err != nil {
			return err
		}
	}
	for _, e := range u.Events {
		var err error
		if f.buf, err = e.AppendLine(f.buf[:0]); err != nil {
			return err
		}
		if _, err := f.out.Write(append(f.buf, '\n')); err != nil {
			return err
		}
	}
	if u.Fresh {
		return f.frame(&protocol.LiveFrame{SessionID: f.id, Live: *u.Live})
	}
	return nil
}

// frame prints a frame.
func (f *frames) frame(frame protocol.Frame) error {
	data, err := protocol.MarshalFrame(frame)
	if err != nil {
		return err
	}
	_, err = f.out.Write(append(data, '\n'))
	return err
}
