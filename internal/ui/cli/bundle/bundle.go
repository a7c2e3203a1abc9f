package bundle

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"scorel/internal/engine/archive"
	"scorel/internal/ui/exit"
	"scorel/protocol"
)

// Pack writes a file as it is sent: a bundle unchanged, a log as a bundle with the
// payloads that it names and that are there.
func Pack(ctx context.Context, w io.Writer, f *os.File, size int64, name, blobs string) error {
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
	dir := filepath.Join(filepath.Dir(filepath.Dir(abs)), "blobs")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
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
