package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"scorel/internal/ui/attachment"
	"scorel/internal/ui/exit"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxStdin bounds what is piped in, in bytes.
const maxStdin = 10 << 20

// stdinTimeout is how long nothing is said while what is piped in has no end: a
// script that left its pipe open would hang without a word.
const stdinTimeout = 3 * time.Second

// withStdin appends what is piped in, at most 10 MiB, after the prompt.
func (a *app) withStdin(text string) (string, error) {
	f, ok := a.stdin.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) {
		return text, nil
	}
	if ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return text, nil // /dev/null and the like
		}
	}
	if a.stdin == nil {
		return text, nil
	}
	slow := time.AfterFunc(stdinTimeout, func() {
		fmt.Fprintln(a.stderr, "scorel: reading stdin until it ends; without input, use </dev/null")
	})
	data, err := io.ReadAll(io.LimitReader(a.stdin, maxStdin+1))
	slow.Stop()
	switch {
	case err != nil:
		return "", fmt.Errorf("read stdin: %w", err)
	case len(data) > maxStdin:
		return "", exit.Usagef("stdin has more than %d MiB; put it in a file and name it in the prompt", maxStdin>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return text, nil
	case !utf8.Valid(data):
		return "", exit.Usagef("stdin is not text; put it in a file and attach it with @file")
	case text == "":
		return string(data), nil
	}
	return text + "\n\n" + string(data), nil
}

// attach makes the content of a message: the text, and the files that its words
// beginning with @ name, as far as the rules let them be read: those of the files, and
// those given. A word that names no file stays text.
func (a *app) attach(ctx context.Context, l *link, dir, text string, allow, deny []string) ([]protocol.Block, error) {
	closed, err := a.scorelDir()
	if err != nil {
		return nil, err
	}
	from := attachment.From{Dir: dir, Scorel: closed, Allow: allow, Deny: deny, Means: attachment.ByRule}
	blocks, notices, err := attachment.Content(ctx, l.Client, from, text)
	for _, n := range notices {
		fmt.Fprintln(a.stderr, display.Line("scorel: "+n))
	}
	if errors.Is(err, attachment.ErrTooMany) {
		err = exit.AsUsage(err)
	}
	return blocks, err
}
