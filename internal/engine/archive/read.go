package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"scorel/protocol"
)

// Bounds of a bundle.
const (
	MaxUnpacked = 2 << 30  // bytes, with what the archive itself takes
	MaxEntries  = 100_000  // the session and its payloads
	MaxBlob     = 64 << 20 // bytes of a payload
)

// ErrFormat is in the chain when the bytes are no bundle that a [Writer] makes,
// or exceed its bounds.
var ErrFormat = errors.New("this is not a bundle of a session")

// Is reports whether a file that begins with these bytes, at least two, is
// compressed as a bundle is.
func Is(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

// Entry is one part of a bundle: a payload, or with an empty SHA256 the session.
type Entry struct {
	SHA256 string
	Size   int64
	io.Reader
}

// Reader reads a bundle.
type Reader struct {
	unpacked *limited
	tar      *tar.Reader
	entries  int
}

// NewReader makes a reader. It fails with ErrFormat for what is not compressed.
func NewReader(r io.Reader) (*Reader, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	l := &limited{r: zip, left: MaxUnpacked}
	return &Reader{unpacked: l, tar: tar.NewReader(l)}, nil
}

// Next returns the next part, the session first; io.EOF after the last, when the
// whole bundle was read and its checksum is right. A part must be read before the
// next one is asked for.
func (r *Reader) Next() (Entry, error) {
	head, err := r.tar.Next()
	switch {
	case err == io.EOF:
		if r.entries == 0 {
			return Entry{}, fmt.Errorf("%w: it is empty", ErrFormat)
		}
		if _, err := io.Copy(io.Discard, r.unpacked); err != nil { // to the checksum
			return Entry{}, r.broken(err)
		}
		return Entry{}, io.EOF
	case err != nil:
		return Entry{}, r.broken(err)
	}
	if r.entries++; r.entries > MaxEntries {
		return Entry{}, fmt.Errorf("%w: it has more than %d parts", ErrFormat, MaxEntries)
	}
	if head.Typeflag != tar.TypeReg {
		return Entry{}, fmt.Errorf("%w: %.80q is not a plain file", ErrFormat, head.Name)
	}
	e := Entry{Size: head.Size, Reader: partReader{r}}
	switch sha, isBlob := strings.CutPrefix(head.Name, blobPrefix); {
	case r.entries == 1 && head.Name == sessionName:
	case r.entries == 1:
		return Entry{}, fmt.Errorf("%w: it begins with %.80q and not with %s", ErrFormat, head.Name, sessionName)
	case !isBlob || !protocol.IsPayload(sha):
		return Entry{}, fmt.Errorf("%w: it holds %.80q, which none does", ErrFormat, head.Name)
	case head.Size > MaxBlob:
		return Entry{}, fmt.Errorf("%w: the payload %s has more than %d MiB", ErrFormat, sha, MaxBlob>>20)
	default:
		e.SHA256 = sha
	}
	return e, nil
}

// partReader reads the present part.
type partReader struct{ r *Reader }

func (p partReader) Read(b []byte) (int, error) {
	n, err := p.r.tar.Read(b)
	if err != nil && err != io.EOF {
		err = p.r.broken(err)
	}
	return n, err
}

// broken returns why a bundle cannot be read on.
func (r *Reader) broken(err error) error {
	switch {
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is cut off", ErrFormat)
	}
	return fmt.Errorf("%w: it is damaged: %w", ErrFormat, err)
}

// limited ends with an error when more is read than a bundle may have.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("%w: it has more than %d GiB", ErrFormat, int64(MaxUnpacked)>>30)
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}
