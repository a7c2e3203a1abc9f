package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/engine/archive"
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
			return a.withSessions(ctx, func(l *link) error { return a.importFile(ctx, l, o, args[0]) })
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
	parts, err := l.putAll(ctx, func(w io.Writer) error { return pack(ctx, w, f, info.Size(), name, o.blobs) })
	if err != nil {
		return err
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	made, err := client.Call[*protocol.Imported](ctx, l.Client, id, &protocol.ImportSession{Blobs: parts, WorkDir: o.cwd, LeafEventID: protocol.EventID(o.leaf)})
	if err != nil {
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

// pack returns a file as it is sent: a bundle unchanged, a log as a bundle with the
// payloads that it names and that are there.
func pack(ctx context.Context, w io.Writer, f *os.File, size int64, name, blobs string) error {
	var head [2]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if archive.Is(head[:n]) {
		if blobs != "" {
			return exit.Usagef("%s is a bundle, which holds its payloads; leave --blobs out", name)
		}
		_, err := io.Copy(w, f)
		return err
	}
	if blobs == "" {
		blobs = blobsBeside(name)
	} else if info, err := os.Stat(blobs); err != nil || !info.IsDir() {
		return exit.Usagef("--blobs %s is not a folder", blobs)
	}
	out := archive.NewWriter(w)
	if err := out.Session(f, size); err != nil {
		return err
	}
	if blobs != "" {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := packBlobs(ctx, out, f, blobs); err != nil {
			return err
		}
	}
	return out.Close()
}

// blobsBeside returns the folder of payloads of the home that a log lies in, "" when
// it lies in none.
func blobsBeside(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil || filepath.Base(filepath.Dir(abs)) != "sessions" {
		return ""
	}
	dir, _ := workDir("", filepath.Join(filepath.Dir(filepath.Dir(abs)), "blobs"))
	return dir
}

// packBlobs adds the payloads that the lines of a log name, each once, as far as
// they are in the folder. The host says which are missing.
func packBlobs(ctx context.Context, out *archive.Writer, log io.Reader, dir string) error {
	root, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	seen := map[string]bool{} // bounded by the parts of a bundle
	lines := bufio.NewReaderSize(log, 64<<10)
	var line []byte
	for {
		piece, err := lines.ReadSlice('\n')
		if line = append(line, piece...); len(line) > protocol.MaxLine+2 {
			line = line[len(line)-256:] // damaged; the host says so
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		for _, sha := range namedBy(bytes.TrimSpace(line)) {
			if seen[sha] || len(seen) >= archive.MaxEntries-1 {
				continue
			}
			seen[sha] = true
			if err := packBlob(ctx, out, root, sha); err != nil {
				return err
			}
		}
		line = line[:0]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// namedBy returns the payloads that a line of a log names; of one that is damaged, all
// that it may name: the host takes those of what it can read.
func namedBy(line []byte) []string {
	ev, err := protocol.ParseEvent(line)
	if err == nil {
		return ev.Payloads()
	}
	return protocol.PayloadsMentioned(line)
}

func packBlob(ctx context.Context, out *archive.Writer, root *os.Root, sha string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := root.OpenFile(sha, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > archive.MaxBlob {
		return exit.Usagef("%s is not a payload of at most %d MiB", f.Name(), archive.MaxBlob>>20)
	}
	return out.Blob(sha, f, info.Size())
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
