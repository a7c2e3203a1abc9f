package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scorel/internal/engine/archive"
	"scorel/internal/ui/cli/bundle"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/protocol"
	"scorel/protocol/display"
)

// importPart is how much of an import goes into one payload, in bytes.
const importPart = 24 << 20

// importOptions are the flags of sessions import.
type importOptions struct {
	json  bool
	blobs string
	cwd   string
	leaf  string
}

func (a *app) importCommand() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{Use: "import FILE", Short: "Make a session from an export or from another home's log",
		Long: `Makes a new session from a file that scorel sessions export has written (bundle or
jsonl), or from a log of another home: with PATH/sessions/ses_….jsonl the payloads
come from PATH/blobs. What the session's rules allowed does not count here.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := follow.Interruptible(cmd.Context())
			defer stop()
			return exit.Interrupted(ctx, a.withSessions(ctx, func(l *link) error { return a.importFile(ctx, l, o, args[0]) }), "nothing was imported")
		}}
	f := cmd.Flags()
	f.StringVar(&o.blobs, "blobs", "", "the folder of the payloads of a .jsonl file")
	f.StringVar(&o.cwd, "cwd", "", "the folder in which the session works from now on")
	f.StringVar(&o.leaf, "leaf", "", "the event to continue from, where damage may have moved it")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) importFile(ctx context.Context, l *link, o importOptions, name string) error {
	if o.cwd != "" {
		dir, err := workDir("--cwd", o.cwd)
		if err != nil {
			return err
		}
		o.cwd = dir
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for who writes into a pipe
	if err != nil {
		return exit.Usagef("%s cannot be read: %w", name, errors.Unwrap(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return exit.Usagef("%s is not a file", name)
	}
	if info.Size() > archive.MaxUnpacked {
		return exit.Usagef("%s has more than %d GiB", name, int64(archive.MaxUnpacked)>>30)
	}
	parts, err := l.putAll(ctx, func(w io.Writer) error { return bundle.Pack(ctx, w, f, info.Size(), name, o.blobs) })
	if err != nil {
		return err
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	made, err := settled[*protocol.Imported](ctx, l, id, &protocol.ImportSession{Blobs: parts, WorkDir: o.cwd, LeafEventID: protocol.EventID(o.leaf)}, a.waits)
	if err = l.takeBack(ctx, err, id); err != nil {
		return err
	}
	if o.json {
		return a.printJSON(made)
	}
	for _, s := range made.Findings {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(s))
	}
	_, err = fmt.Fprintln(a.stdout, made.Summary.SessionID)
	return err
}

// putAll stores what write writes at the host, in parts, and returns their names.
func (l *link) putAll(ctx context.Context, write func(io.Writer) error) ([]string, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }() // ends when all has been read, or r is closed
	defer func() { _ = r.CloseWithError(io.ErrClosedPipe) }()
	var parts []string
	buf := make([]byte, importPart)
	for {
		n, err := io.ReadFull(r, buf)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		if n > 0 || len(parts) == 0 {
			ref, perr := l.PutForImport(ctx, bytes.NewReader(buf[:n]))
			if perr != nil {
				return nil, perr
			}
			parts = append(parts, ref.SHA256)
		}
		if err != nil {
			return parts, nil
		}
	}
}
