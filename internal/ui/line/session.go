package line

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"scorel/client"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/fold"
)

// Tail is how many events of the path are shown at first.
const Tail = 24

// Config is what line mode needs.
type Config struct {
	Client  *client.Client
	Session *client.Session // opened with client.DefaultWindow events, as the terminal UI does; nobody else takes its updates
	ID      protocol.SessionID
	States  <-chan client.Change // of the connection
	// Dir is what the names of files in messages are relative to; Scorel is the user's
	// Scorel folder, whose files are never sent.
	Dir, Scorel string
	Keys        *keymap.Map // nil: the default
	In          io.Reader
	Out, Stderr io.Writer
	Dumb        bool // the terminal knows no control sequences
	NoColor     bool
}

// Session is a session that a person watches and steers. It belongs to the goroutine of
// its follower.
type Session struct {
	cfg      Config
	ctx      context.Context // of Run
	follower *follow.Follower
	id       protocol.SessionID
	live     protocol.Live // as of the newest update that was shown
	away     fold.Absence  // what ran by itself while nobody was here
	fresh    bool          // the state was shown once
	load     load
	screen   screen
	term     *termScreen // nil when piped
	view     *view
	ask      *asker
	jobs     jobs
	outage   follow.Outage // of the connection
	way      *wayIn        // for a phone, nil for none

	typedFor openQuestion // that was open when the line on the terminal was begun
	armed    bool         // a further Ctrl-C detaches
	ended    bool         // nothing more is typed: it detaches when all is handled
	warned   bool         // why it has not detached was told since the connection broke
	detached bool
}

// load is what has come of the path of a session that is being loaded.
type load struct {
	runs   bool
	newest []protocol.Event // the last ones, which are to be shown
}

// Run shows a session and sends what is typed until the person detaches, the input ends,
// or the subscription does for good, whose error it returns. The turn that runs goes on.
func Run(ctx context.Context, cfg Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	v := &Session{cfg: cfg, ctx: ctx, id: cfg.ID, jobs: newJobs()}
	signals, quiet := follow.Interrupts()
	defer quiet()
	v.follower = follow.New(follow.Config{Session: cfg.Session, View: v, Signals: signals})
	read, restore, err := v.openScreen()
	if err != nil {
		return err
	}
	defer restore()
	v.showOpened()
	if err := v.screen.flush(); err != nil {
		return err
	}
	// These end with ctx, with the connection, or with the input.
	go read(ctx, func(t typed) bool { return v.post(func() { v.input(t) }) })
	go v.watchDevice()
	go v.watchStates()
	go v.watchSize()
	go v.runJobs()
	err = v.follower.Run(ctx)
	running := v.live.Running
	restore()
	if err != nil {
		return err
	}
	for _, text := range append(v.jobs.unconfirmed, v.jobs.early...) {
		fmt.Fprintln(cfg.Stderr, "scorel: the host has not confirmed: "+display.Line(text))
	}
	if running {
		fmt.Fprintf(cfg.Stderr, "scorel: detached; the turn continues. Show it with: scorel attach %s\n", v.id)
	} else {
		fmt.Fprintf(cfg.Stderr, "scorel: detached. Resume with: scorel attach %s\n", v.id)
	}
	return nil
}

// showOpened shows which session it is, and what is wrong with it.
func (v *Session) showOpened() {
	opened := &v.cfg.Session.Opened
	if v.term != nil {
		v.notify("session " + string(v.id) + titled(opened.Summary) + "; /help lists the commands")
	}
	for _, f := range plain.Findings(opened.Findings) {
		v.screen.line(alertStyle, f)
	}
	if opened.ReadOnly != "" {
		text := "the session is read-only: " + opened.ReadOnly
		if opened.NeedsLeaf {
			text += ": scorel sessions repair " + string(v.id) + " --leaf EVENT"
		}
		v.screen.line(alertStyle, text)
	}
	if opened.Interrupted != "" {
		v.screen.line(alertStyle, opened.Interrupted)
	}
	for _, text := range opened.Holds {
		v.notify(display.Line(text))
	}
}

// titled returns the title of a session to follow its id, if there is one.
func titled(s protocol.SessionSummary) string {
	if t := display.Line(s.Title()); t != "" {
		return " (" + t + ")"
	}
	return ""
}

// post has something done by the goroutine of the follower. It reports false when that has
// ended.
func (v *Session) post(do func()) bool {
	return v.follower.Post(v.ctx, func() error {
		do()
		return v.settle()
	})
}

// settle shows what has been done, and ends the run when the person detaches.
func (v *Session) settle() error {
	if v.ended && !v.unsent() && (v.fresh || v.outage.Lost()) {
		v.detached = true
	}
	v.setPrompt()
	if err := v.screen.flush(); err != nil {
		return err
	}
	if v.detached {
		return follow.ErrStop
	}
	return nil
}

// setPrompt sets what is before the input.
func (v *Session) setPrompt() {
	switch {
	case v.ask.asked().id() != "":
		v.screen.ask("? ")
	case v.live.Running:
		v.screen.ask("… ")
	default:
		v.screen.ask("> ")
	}
}

// Update shows what came.
func (v *Session) Update(u *client.Update) error {
	switch {
	case u.Resync == protocol.FullReload:
		v.load = load{runs: true}
		v.away = fold.Absence{Seen: v.live.PersistentLastSeq}
	case u.Resync != "":
		v.away.Left(v.live.PersistentLastSeq)
	}
	v.view.resync(u.Resync)
	u.Fold(&v.live, func(e protocol.Event) {
		v.away.Take(e)
		if !v.load.runs {
			v.view.event(e, &v.live)
			return
		}
		if v.load.newest = append(v.load.newest, e); len(v.load.newest) > Tail {
			v.load.newest = v.load.newest[1:]
		}
	})
	if u.Fresh {
		for _, e := range v.load.newest {
			v.view.event(e, &v.live)
		}
		v.load = load{}
		v.view.state(&v.live)
		if text := v.away.Text(); text != "" {
			v.notify(text)
		}
	}
	v.ask.sync(&v.live)
	if u.Fresh && !v.fresh {
		v.fresh = true
		for _, text := range v.jobs.early {
			v.handle(text)
		}
		v.jobs.early = nil
	}
	return v.settle()
}

// Interrupt handles a signal: Ctrl-C as [Session.interrupt], any other detaches.
func (v *Session) Interrupt(sig os.Signal) error {
	if sig == os.Interrupt {
		v.interrupt()
	} else {
		v.detached = true
	}
	return v.settle()
}

// watchStates reports when the connection breaks, and when it is back.
func (v *Session) watchStates() {
	for {
		select {
		case c := <-v.cfg.States:
			v.post(func() { v.state(c) })
		case <-v.ctx.Done():
			return
		}
	}
}

func (v *Session) state(c client.Change) {
	if text := v.outage.Notice(c, "trying again, and what you type is kept"); text != "" {
		v.notify(display.Line(text))
	}
	v.warned = v.warned && v.outage.Lost()
	v.warn()
}

// watchDevice reports what happens on the device.
func (v *Session) watchDevice() {
	for {
		c, err := v.cfg.Client.NextDevice(v.ctx)
		if err != nil {
			return
		}
		v.post(func() { v.device(c) })
	}
}

// device reports who else comes and goes, and that the host ends.
func (v *Session) device(c client.DeviceChanges) {
	for _, other := range c.Clients {
		if !other.Interactive {
			continue // a script, which comes and goes with every request
		}
		what := "is here too"
		if other.Left {
			what = "has left"
		}
		v.notify(display.Line(other.ClientName) + " " + what)
	}
	if c.Stopping != nil {
		what := "the host is stopping"
		if v.live.Running {
			what += "; the turn ends at its next step"
		}
		v.notify(what)
	}
}

// watchSize keeps the rows as wide as the terminal.
func (v *Session) watchSize() {
	if v.term == nil {
		return
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	for {
		select {
		case <-resized:
			v.post(func() {
				if columns, _, err := term.GetSize(int(v.cfg.Out.(*os.File).Fd())); err == nil {
					v.term.resize(columns)
				}
			})
		case <-v.ctx.Done():
			return
		}
	}
}

// notify tells something beside what happens in the session.
func (v *Session) notify(text string) {
	v.screen.endStream()
	v.screen.line(dimStyle, "── "+text)
}

// fail reports an error.
func (v *Session) fail(err error) {
	if v.term == nil {
		_ = v.screen.flush()
		fmt.Fprintln(v.cfg.Stderr, "scorel: "+display.Text(err.Error()))
		return
	}
	v.screen.endStream()
	v.screen.line(alertStyle, "scorel: "+err.Error())
}
