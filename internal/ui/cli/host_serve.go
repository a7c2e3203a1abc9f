package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
	"scorel/protocol"
	"scorel/protocol/display"
)

// takeOver is how long a host that is asked to end has before the one that takes its
// place returns up: more than what a turn gets to come to a boundary.
const takeOver = 25 * time.Second

// serveOptions are the flags of scorel host serve.
type serveOptions struct {
	listen    []string
	cert, key string
	replace   bool
	detach    bool
	stdio     bool
	supervise bool
	// supervised is a host that a supervisor or systemd starts again when it fails.
	supervised bool
	untilIdle  bool
	readyFD    int
}

// registerAddresses registers the flags that say where a host listens.
func (o *serveOptions) registerAddresses(f *pflag.FlagSet) {
	f.StringArrayVar(&o.listen, "listen", nil, "a further address, HOST:PORT; port 0 is any that is free; repeat for more")
	f.StringVar(&o.cert, "tls-cert", "", "the certificate (PEM) for addresses that are not on this machine alone")
	f.StringVar(&o.key, "tls-key", "", "its key (PEM)")
}

func (a *app) hostServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{Use: "serve", Short: "Run the host of this machine until it is stopped", Args: args(cobra.NoArgs),
		Long: `Runs the host: it owns the sessions of this machine, and terminals, browsers and
scripts come and go. It listens on ~/.scorel/host.sock, and on what --listen
names: plain on this machine, with TLS elsewhere. Without --tls-cert it makes a
certificate for itself, whose fingerprint clients pin.

With --supervise the host runs in a process of its own that is started again when it fails:
after 2 s, then after twice as long each time, at most 120 s. After 5 ends in a row within
10 s of the start, and when the configuration is wrong, it is not started again.

The first SIGINT or SIGTERM lets each turn finish its step and ends the host; a
second one ends it at once.

    scorel host serve --detach
    scorel host serve --listen 127.0.0.1:4444
    scorel host serve --listen 0.0.0.0:4444 --detach

With --stdio the process that starts it talks to it over stdin and stdout, one
JSON message per line, without a handshake; the end of stdin ends the host.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.detach && o.stdio:
				return exit.Usagef("--detach and --stdio exclude each other: a host in the background has no stdin")
			case o.supervise && o.stdio:
				return exit.Usagef("--supervise and --stdio exclude each other: a host that is started again has no stdin")
			case o.detach:
				return a.detach(cmd.Context(), o)
			case o.supervise:
				return a.supervise(cmd.Context(), o)
			}
			return a.serve(cmd.Context(), o)
		}}
	f := cmd.Flags()
	f.SortFlags = false
	o.registerAddresses(f)
	f.BoolVar(&o.replace, "replace", false, "replace a running host")
	f.BoolVar(&o.detach, "detach", false, "run in the background, and return when clients can come")
	f.BoolVar(&o.stdio, "stdio", false, "speak the protocol over stdin and stdout, too, one JSON message per line")
	f.BoolVar(&o.supervise, "supervise", false, "start the host again when it fails")
	f.BoolVar(&o.supervised, "supervised", false, "exit with code 78 where another start would not help")
	f.BoolVar(&o.untilIdle, "until-idle", false, "end after 10 minutes without anything to do")
	f.IntVar(&o.readyFD, "ready-fd", 0, "write to this descriptor when the host is ready")
	for _, name := range []string{"supervised", "until-idle", "ready-fd"} { // for hosts that were started by a command
		_ = f.MarkHidden(name)
	}
	return cmd
}

// serveArgs are the arguments of a host in the background.
func serveArgs(more ...string) []string {
	return append([]string{"host", "serve", "--ready-fd", strconv.Itoa(daemon.ReadyFD)}, more...)
}

// detach starts the host in the background.
func (a *app) detach(ctx context.Context, o serveOptions) error {
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	more, err := o.addresses()
	if err != nil {
		return err
	}
	if o.replace {
		more = append(more, "--replace")
	}
	if o.supervise {
		more = append(more, "--supervise")
	}
	info, err := daemon.Start(ctx, dir, serveArgs(more...))
	if err != nil {
		return err
	}
	return a.announce(info)
}

// announce says where the host can be reached.
func (a *app) announce(info daemon.Info) error {
	line := fmt.Sprintf("pid %d listens on %s", info.PID, strings.Join(info.Addresses, ", "))
	if info.Fingerprint != "" {
		line += "; fingerprint " + info.Fingerprint
	}
	_, err := fmt.Fprintln(a.stdout, line)
	return err
}

// serve runs the host in this process.
func (a *app) serve(ctx context.Context, o serveOptions) error {
	ready := daemon.OpenReady(o.readyFD)
	err := a.runHost(ctx, o, ready)
	if err != nil {
		ready.Tell(daemon.Info{}, err)
	}
	switch {
	case errors.Is(err, daemon.ErrKilled):
		a.code = exit.Cancelled
	case o.supervised && daemon.Permanent(err):
		fmt.Fprintln(a.stderr, "scorel: "+oneLine(display.Text(err.Error())))
		a.code = daemon.PermanentExit
		return nil
	}
	return err
}

// supervise runs the host in a process of its own, and again when that fails.
func (a *app) supervise(ctx context.Context, o serveOptions) error {
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	args, err := o.addresses()
	if err != nil {
		return err
	}
	args = append([]string{"host", "serve", "--supervised"}, args...)
	if o.replace {
		args = append(args, "--replace")
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program file: %w", err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	cfg := daemon.Supervision{Dir: dir, Program: program, Args: args, Environ: a.environ, Signals: signals, Now: time.Now}
	if o.readyFD > 0 {
		cfg.Ready = os.NewFile(uintptr(o.readyFD), "ready")
		cfg.Args = append(cfg.Args, "--ready-fd", strconv.Itoa(daemon.ReadyFD))
	} else {
		cfg.Echo = a.stderr
	}
	err = daemon.Supervise(ctx, cfg)
	if errors.Is(err, daemon.ErrKilled) {
		a.code = exit.Cancelled
	}
	return err
}

func (a *app) runHost(ctx context.Context, o serveOptions, ready *daemon.Ready) error {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return err
	}
	if err := a.refuseReserved(); err != nil {
		return daemon.PermanentError{Err: err}
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	refreshed := make(chan os.Signal, 1)
	signal.Notify(refreshed, daemon.TokenSignal)
	defer signal.Stop(refreshed)
	dir := filepath.Join(home, ".scorel")
	cfg := daemon.Config{Host: host.Config{Dir: dir, UserHome: home, Environ: a.environ, Now: time.Now, Rand: rand.Reader, Demo: a.demoModel, Version: Version},
		Listen: o.listen, TLSCert: o.cert, TLSKey: o.key, UntilIdle: o.untilIdle, Signals: signals, Refreshed: refreshed}
	if o.readyFD == 0 {
		cfg.Echo = a.stderr
	}
	if o.stdio {
		cfg.In, cfg.Out = a.stdin, a.stdout
	}
	var said error
	cfg.Ready = func(info daemon.Info) {
		ready.Tell(info, nil)
		if o.readyFD == 0 && !o.stdio {
			said = a.announce(info)
		}
	}
	if o.replace {
		if err := a.askToEnd(ctx); err != nil && !noHost(err) {
			return err
		}
		cfg.TakeOver = takeOver
	}
	if err := daemon.Run(ctx, cfg); err != nil {
		return err
	}
	return said
}

// askToEnd asks the host that runs to make room.
func (a *app) askToEnd(ctx context.Context) error {
	_, info, err := a.running()
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, statusTimeout)
	defer stop()
	l, err := a.reach(ctx, reachOptions{name: "scorel host serve --replace", onOther: func(string) {}})
	if err == nil {
		defer l.Close()
		_, err = client.Call[*protocol.Done](ctx, l.Client, "", &protocol.StopHost{Restarting: true})
	}
	if err != nil && !noHost(err) {
		return fmt.Errorf("%v does not answer (%w); end it with scorel host stop --now", info, err)
	}
	return nil
}
