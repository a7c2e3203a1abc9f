package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"scorel/protocol"
)

// typed is what came from the keyboard or the pipe: bytes of a terminal, or a line.
type typed struct {
	bytes []byte
	line  string
	end   bool
	err   error
}

// openScreen makes the terminal ready, or takes lines. restore may be called twice.
func (v *liveSession) openScreen(ctx context.Context) (input <-chan typed, restore func(), err error) {
	in, inTerm := v.app.stdin.(*os.File)
	out, outTerm := v.app.stdout.(*os.File)
	inTerm = inTerm && term.IsTerminal(int(in.Fd()))
	outTerm = outTerm && term.IsTerminal(int(out.Fd()))
	ch := make(chan typed)
	if !inTerm || !outTerm || v.app.dumb() {
		v.screen = &pipeScreen{out: v.app.stdout}
		v.begin()
		go readTyped(ctx, v.app.stdin, false, ch) // ends with the input or the program
		return ch, func() {}, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, nil, fmt.Errorf("use the terminal: %w", err)
	}
	columns, _, _ := term.GetSize(int(out.Fd()))
	v.term = newTermScreen(out, columns)
	v.term.plain = v.app.noColor()
	v.screen = v.term
	v.begin()
	go readTyped(ctx, in, true, ch) // ends with the input or the program
	done := false
	return ch, func() {
		if !done {
			done = true
			v.screen.close()
			_ = term.Restore(int(in.Fd()), before)
		}
	}, nil
}

// readTyped hands on what is typed.
func readTyped(ctx context.Context, r io.Reader, raw bool, to chan<- typed) {
	send := func(t typed) bool {
		select {
		case to <- t:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if r == nil {
		send(typed{end: true})
		return
	}
	if raw {
		for {
			buf := make([]byte, 4096)
			n, err := r.Read(buf)
			if n > 0 && !send(typed{bytes: buf[:n]}) {
				return
			}
			if err != nil {
				send(typed{end: true})
				return
			}
		}
	}
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, long, err := readLine(lines)
		switch {
		case long:
			if !send(typed{err: fmt.Errorf("a line has more than %d bytes; put it in a file and name it with @", protocol.MaxMessage)}) {
				return
			}
		case err == nil || len(line) > 0:
			if !send(typed{line: strings.TrimRight(string(line), "\r\n")}) {
				return
			}
		}
		if err != nil {
			send(typed{end: true})
			return
		}
	}
}
