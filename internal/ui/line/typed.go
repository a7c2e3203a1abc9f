package line

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"scorel/internal/ui/headless"
	"scorel/protocol"
)

// typed is what came from the keyboard or the pipe: bytes of a terminal, or a line.
type typed struct {
	bytes []byte
	line  string
	end   bool
	err   error
}

// reader hands on what is typed until the input ends, or put reports false.
type reader func(ctx context.Context, put func(typed) bool)

// openScreen makes the terminal ready, or takes lines. restore may be called twice.
func (v *Session) openScreen() (read reader, restore func(), err error) {
	in, inTerm := terminal(v.cfg.In)
	out, outTerm := terminal(v.cfg.Out)
	if !inTerm || !outTerm || v.cfg.Dumb {
		v.show(&pipeScreen{out: v.cfg.Out})
		return func(_ context.Context, put func(typed) bool) { readLines(v.cfg.In, put) }, func() {}, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, nil, fmt.Errorf("use the terminal: %w", err)
	}
	columns, _, _ := term.GetSize(int(out.Fd()))
	v.term = newTermScreen(out, columns)
	v.term.edit.keys = v.cfg.Keys
	v.term.plain = v.cfg.NoColor
	v.show(v.term)
	done := false
	return func(_ context.Context, put func(typed) bool) { readKeys(in, put) }, func() {
		if !done {
			done = true
			v.screen.close()
			_ = term.Restore(int(in.Fd()), before)
		}
	}, nil
}

// show shows the session on a screen.
func (v *Session) show(s screen) {
	v.screen, v.view, v.ask = s, newView(s), &asker{screen: s}
	v.view.mine = func(id protocol.PermissionID) bool { return v.ask.told[id] }
}

// terminal returns the file of a terminal.
func terminal(f any) (*os.File, bool) {
	file, ok := f.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// readKeys hands on the bytes of a terminal.
func readKeys(r io.Reader, put func(typed) bool) {
	for {
		buf := make([]byte, 4096)
		n, err := r.Read(buf)
		if n > 0 && !put(typed{bytes: buf[:n]}) {
			return
		}
		if err != nil {
			put(typed{end: true})
			return
		}
	}
}

// readLines hands on the lines of a pipe.
func readLines(r io.Reader, put func(typed) bool) {
	if r == nil {
		put(typed{end: true})
		return
	}
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, long, err := headless.ReadLine(lines)
		switch {
		case long:
			if !put(typed{err: fmt.Errorf("a line has more than %d bytes; put it in a file and name it with @", protocol.MaxMessage)}) {
				return
			}
		case err == nil || len(line) > 0:
			if !put(typed{line: strings.TrimRight(string(line), "\r\n")}) {
				return
			}
		}
		if err != nil {
			put(typed{end: true})
			return
		}
	}
}

// input takes what was typed.
func (v *Session) input(t typed) {
	switch {
	case t.err != nil:
		v.fail(t.err)
	case t.end:
		v.quit()
	case t.bytes == nil:
		v.armed = false
		if strings.TrimSpace(t.line) != "" || v.ask.edits() || v.ask.fills() { // an empty line says something in a text or a form alone
			v.take(t.line)
		}
	}
	v.keys(t.bytes)
}

// keys takes the bytes of a terminal.
func (v *Session) keys(b []byte) {
	for len(b) > 0 && !v.detached {
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
				v.take(text)
			}
		case keyInterrupt:
			v.interrupt()
		case keyEnd:
			v.quit()
		case keyTab:
			v.completeLine()
		case keyRefused:
			v.notify(text)
		}
	}
	if v.term != nil && v.term.edit.left > 0 && !v.term.edit.pasting {
		v.fail(fmt.Errorf("the line is full at %d characters, and %d more were not taken; put the text into a file and name it with @", maxInputLine, v.term.edit.left))
		v.term.edit.left = 0
	}
}

// take handles a line, or keeps it until the session is shown as it is: what it is about
// may not be there yet.
func (v *Session) take(text string) {
	switch {
	case v.fresh:
		v.handle(text)
	case len(v.jobs.early) >= maxJobs:
		v.fail(fmt.Errorf("%d lines are queued already; wait until they are sent", maxJobs))
	default:
		v.jobs.early = append(v.jobs.early, text)
	}
}

// quit detaches as soon as what was typed has reached the host.
func (v *Session) quit() {
	v.ended = true
	v.warn()
}

// warn says why a person who wants to leave is still here, once an outage.
func (v *Session) warn() {
	if v.ended && !v.warned && v.outage.Lost() && v.unsent() {
		v.warned = true
		v.notify("what you typed is not sent yet; Ctrl-C twice quits without it")
	}
}

// unsent reports whether something that was typed has not reached the host.
func (v *Session) unsent() bool { return v.jobs.pending() || len(v.jobs.early) > 0 }

// overtaken reports whether a line was begun for another question than the one that is open
// now, or for none, and gives it back: nobody answers what they have not read.
func (v *Session) overtaken(text string) bool {
	now := v.ask.asked()
	if now.id() == v.typedFor.id() || !now.takes(text) && !v.typedFor.takes(text) {
		return false
	}
	if now.id() == "" {
		v.notify("the question was answered elsewhere; Enter sends this as a message")
	} else {
		v.notify("this question came while you typed; Enter answers it")
	}
	v.typedFor = now
	v.term.edit.set(text)
	return true
}

// interrupt is Ctrl-C: it drops what is typed, cancels the turn, or detaches.
func (v *Session) interrupt() {
	switch {
	case v.armed:
		v.detached = true
	case v.term != nil && len(v.term.edit.line) > 0:
		v.term.edit.set("")
	case v.live.Running:
		v.armed = true
		v.notify("cancelling; Ctrl-C again detaches")
		v.cancel("")
	default:
		v.armed = true
		v.notify("Ctrl-C again detaches")
	}
}

// handle handles a line: a command, the answer to a question, or a message.
func (v *Session) handle(text string) {
	name, args, isCommand := commandOf(text)
	if req, handled := v.answer(text, isCommand); handled {
		if req != nil {
			v.sendNow(req)
		}
		return
	}
	if isCommand {
		v.command(name, args)
		return
	}
	if scope, note, ok := noteLine(text); ok {
		v.note(text, scope, note)
		return
	}
	v.send(unescaped(text))
}

// answer takes a line as the answer to the question that is open, when it is one.
func (v *Session) answer(text string, isCommand bool) (protocol.Request, bool) {
	if isCommand && strings.TrimSpace(text) != "/skip" && !v.ask.edits() {
		return nil, false
	}
	return v.ask.answer(text)
}
