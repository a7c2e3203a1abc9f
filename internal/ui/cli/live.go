package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	liveTail    = 24 // events of the path that are shown at first
	maxLiveWork = 64 // typed lines that wait for those before them
)

// liveSession is a session that a person watches and steers.
type liveSession struct {
	app    *app
	link   *link
	s      *client.Session
	id     protocol.SessionID
	live   protocol.Live // as of the newest update that was shown
	dir    string
	screen screen
	term   *termScreen // nil when piped
	view   *liveView
	ask    *asker

	typedFor question // that was open when the line on the terminal was begun

	work    chan liveJob // in order
	results chan func()  // what is to be done with the outcome of a request
	waiting int          // jobs that have not ended
	armed   bool         // a further Ctrl-C detaches
	sending []string     // what was typed and has not reached the host, at most maxLiveWork
	leaving bool         // the input has ended
	left    error        // why it ends; errLeft is in order
	outage  outage       // of the connection
}

// liveJob is a request on its way; it gives what to do with its outcome.
type liveJob func(ctx context.Context) func()

func (v *liveSession) begin() {
	v.view = newLiveView(v.screen)
	v.ask = &asker{screen: v.screen}
	v.view.mine = func(id protocol.PermissionID) bool { return v.ask.told[id] }
}

// run shows and sends until the person leaves or the connection ends for good.
func (v *liveSession) run(ctx context.Context, input <-chan typed, states <-chan client.Change) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals, quiet := interrupts()
	defer quiet()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	updates := v.updates(ctx)
	device := v.changes(ctx)
	go v.carryOut(ctx) // ends with ctx
	for v.left == nil {
		select {
		case u := <-updates:
			v.update(u)
		case t := <-input:
			v.input(ctx, t)
		case f := <-v.results:
			v.waiting--
			f()
		case c := <-states:
			v.state(c)
		case c := <-device:
			v.device(c)
		case sig := <-signals:
			if sig == os.Interrupt {
				v.interrupt(ctx)
			} else {
				v.left = errLeft
			}
		case <-resized:
			if v.term != nil {
				if columns, _, err := term.GetSize(int(v.app.stdout.(*os.File).Fd())); err == nil {
					v.term.resize(columns)
				}
			}
		}
		if v.leaving && v.waiting == 0 && v.left == nil {
			v.left = errLeft
		}
		v.ready()
		if err := v.screen.flush(); err != nil {
			return err
		}
	}
	return v.left
}

// updates gives what comes of the session. With a fresh state it gives a copy: the
// session's own changes as soon as the next update is waited for.
func (v *liveSession) updates(ctx context.Context) <-chan observed {
	updates := make(chan observed)
	go func() { // ends with ctx or the session
		for {
			u, err := v.s.Next(ctx)
			o := observed{update: u, err: err}
			if u.Fresh {
				o.live = v.s.Live.Clone()
			}
			select {
			case updates <- o:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return updates
}

// fold takes an update into the state that the person sees, and shows it.
func (v *liveSession) fold(u client.Update, fresh protocol.Live, show func(e protocol.Event)) {
	switch u.Resync {
	case protocol.FullReload:
		v.live = protocol.Live{}
	case protocol.PersistentFallback:
		v.live = protocol.Live{Meta: v.live.Meta, Running: v.live.Running, TurnID: v.live.TurnID, Queues: v.live.Queues, LeafID: v.live.LeafID}
	}
	for _, e := range u.Events {
		v.live.Apply(e)
		show(e)
	}
	if u.Fresh {
		v.live = fresh
	}
}

// changes gives what happens on the device.
func (v *liveSession) changes(ctx context.Context) <-chan client.DeviceChanges {
	ch := make(chan client.DeviceChanges)
	go func() { // ends with ctx or the connection
		for {
			c, err := v.link.NextDevice(ctx)
			if err != nil {
				return
			}
			select {
			case ch <- c:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ch
}

// state tells when the connection breaks, and when it is back.
func (v *liveSession) state(c client.Change) {
	if text := v.outage.told(c, "trying again, and what you type is kept"); text != "" {
		v.say(display.Line(text))
	}
}

// device tells who else comes and goes, and that the host ends.
func (v *liveSession) device(c client.DeviceChanges) {
	for _, other := range c.Clients {
		if !other.Interactive {
			continue // a script, which comes and goes with every request
		}
		what := "is here too"
		if other.Left {
			what = "has left"
		}
		v.say(display.Line(other.ClientName) + " " + what)
	}
	if c.Stopping != nil {
		what := "the host is stopping"
		if v.live.Running {
			what += "; the turn ends at its next step"
		}
		v.say(what)
	}
}

// update shows what came.
func (v *liveSession) update(o observed) {
	if o.err != nil {
		v.left = o.err
		return
	}
	v.view.resync(o.update.Resync)
	was := v.live.TurnID
	v.fold(o.update, o.live, func(e protocol.Event) { v.view.event(e, &v.live) })
	if o.update.Fresh {
		if end := v.live.Ended; end != nil && end.TurnID == was { // its end came while nobody told us
			v.view.end(&end.RuntimeEnd)
		}
		v.view.state(&v.live)
	}
	v.ask.sync(&v.live)
}

// ready sets the prompt.
func (v *liveSession) ready() {
	switch {
	case v.ask.asked().id() != "":
		v.screen.ask("? ")
	case v.live.Running:
		v.screen.ask("… ")
	default:
		v.screen.ask("> ")
	}
}

// input takes what was typed.
func (v *liveSession) input(ctx context.Context, t typed) {
	switch {
	case t.err != nil:
		v.fail(t.err)
	case t.end:
		v.leave()
	case t.bytes == nil:
		v.armed = false
		if strings.TrimSpace(t.line) != "" || v.ask.edits() || v.ask.fills() { // an empty line says something in a text or a form alone
			v.typed(ctx, t.line)
		}
	}
	for b := t.bytes; len(b) > 0 && v.left == nil; {
		if len(v.term.edit.line) == 0 {
			v.typedFor = v.ask.asked()
		}
		var k key
		var text string
		k, text, b = v.term.edit.feed(b)
		switch k {
		case keyEnter:
			v.armed = false
			if (strings.TrimSpace(text) != "" || v.ask.edits()) && !v.overtaken(text) {
				v.typed(ctx, text)
			}
		case keyInterrupt:
			v.interrupt(ctx)
		case keyEnd:
			v.leave()
		case keyTab:
			v.completeLine()
		}
	}
	if v.term != nil && v.term.edit.left > 0 && !v.term.edit.pasting {
		v.fail(fmt.Errorf("the line is full at %d characters, and %d more were not taken; put the text into a file and name it with @", maxInputLine, v.term.edit.left))
		v.term.edit.left = 0
	}
}

// leave ends the program as soon as what was typed has reached the host.
func (v *liveSession) leave() {
	v.leaving = true
	if v.waiting > 0 && v.outage.lost {
		v.say("what you typed waits for the host; Ctrl-C twice leaves without it")
	}
}

// overtaken says that a line was begun for another question than the one that is open
// now, or for none, and gives it back: nobody answers what they have not read.
func (v *liveSession) overtaken(text string) bool {
	now := v.ask.asked()
	if now.id() == v.typedFor.id() || !now.takes(text) && !v.typedFor.takes(text) {
		return false
	}
	if now.id() == "" {
		v.say("the question was answered elsewhere; Enter sends this as a message")
	} else {
		v.say("this question came while you typed; Enter answers it")
	}
	v.typedFor = now
	v.term.edit.set(text)
	return true
}

// interrupt is Ctrl-C: it drops what is typed, cancels the turn, or detaches.
func (v *liveSession) interrupt(ctx context.Context) {
	switch {
	case v.armed:
		v.left = errLeft
	case v.term != nil && len(v.term.edit.line) > 0:
		v.term.edit.set("")
	case v.live.Running:
		v.armed = true
		v.say("cancelling; Ctrl-C again detaches")
		v.cancel(ctx)
	default:
		v.armed = true
		v.say("Ctrl-C again detaches")
	}
}

func (v *liveSession) say(text string) {
	v.screen.endStream()
	v.screen.line(dimStyle, "── "+text)
}

// fail tells of an error.
func (v *liveSession) fail(err error) {
	if v.term == nil {
		_ = v.screen.flush()
		fmt.Fprintln(v.app.stderr, "scorel: "+display.Text(err.Error()))
		return
	}
	v.screen.endStream()
	v.screen.line(alertStyle, "scorel: "+err.Error())
}

// typed carries out a line: a command, the answer to a question, or a message.
func (v *liveSession) typed(ctx context.Context, text string) {
	name, rest, isCommand := liveCommand(text)
	if req, handled := v.answer(text, isCommand); handled {
		if req != nil {
			v.beside(ctx, req)
		}
		return
	}
	if isCommand {
		v.command(ctx, name, rest)
		return
	}
	if scope, note, ok := noteLine(text); ok {
		v.note(text, scope, note)
		return
	}
	v.send(unescaped(text))
}

func (v *liveSession) answer(text string, isCommand bool) (protocol.Request, bool) {
	if isCommand && strings.TrimSpace(text) != "/skip" && !v.ask.edits() {
		return nil, false
	}
	return v.ask.answer(text)
}

// beside carries out an answer or cancel at once: those that wait do not hold it up.
func (v *liveSession) beside(ctx context.Context, req protocol.Request) {
	v.waiting++
	id := v.id
	go func() { // ends with the request
		f := v.asked(ctx, id, req)
		select {
		case v.results <- f:
		case <-ctx.Done():
		}
	}()
}

func (v *liveSession) asked(ctx context.Context, id protocol.SessionID, req protocol.Request) func() {
	var err error
	switch r := req.(type) {
	case *protocol.Cancel:
		_, err = client.Call[*protocol.Cancelled](ctx, v.link.Client, id, r)
	default:
		_, err = client.Call[*protocol.Done](ctx, v.link.Client, id, r)
	}
	return func() {
		var pe *protocol.Error
		switch {
		case err == nil:
		case errors.As(err, &pe) && pe.Code == protocol.CodeConflict:
			v.say(strings.TrimSuffix(err.Error(), "."))
		default:
			v.fail(err)
			v.ask.again(req)
			v.ask.sync(&v.live)
		}
	}
}

// queueJob has a request carried out behind those before it.
func (v *liveSession) queueJob(j liveJob) bool {
	select {
	case v.work <- j:
		v.waiting++
		return true
	default:
		v.fail(fmt.Errorf("%d lines wait already; wait until they are through", maxLiveWork))
		return false
	}
}

// carryOut does the work, in order.
func (v *liveSession) carryOut(ctx context.Context) {
	for {
		select {
		case j := <-v.work:
			f := j(ctx)
			select {
			case v.results <- f:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
