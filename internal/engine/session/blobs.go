package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"scorel/internal/engine/archive"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// MaxBlob is the largest blob in bytes.
const MaxBlob = archive.MaxBlob

const hexSHA = 2 * sha256.Size // characters of a name

// Blobs are large payloads, named by the lower-case hex SHA-256 of their bytes
// and shared by all sessions.
type Blobs struct{ store *Store }

// Blobs returns the blobs of the store.
func (s *Store) Blobs() *Blobs { return &Blobs{s} }

func (b *Blobs) dir() string            { return filepath.Join(b.store.cfg.Dir, "blobs") }
func (b *Blobs) path(sha string) string { return filepath.Join(b.dir(), sha) }

// Put stores what r gives. The blob and its name are durable when it returns, so
// an event may name it. A blob that is there already is replaced by the same
// bytes: that makes it young again for Prune, and whole if it was damaged. More
// than MaxBlob bytes give ErrTooLarge, a failing disk ErrStorage; errors of r are
// returned. In all of these nothing is stored.
func (b *Blobs) Put(ctx context.Context, r io.Reader) (sha string, size int64, err error) {
	st, err := b.stage(ctx, r)
	if err == nil {
		err = b.publish(ctx, st)
	}
	if err != nil {
		return "", 0, fmt.Errorf("store a blob: %w", err)
	}
	return st.sha, st.size, nil
}

// staged is a blob that is durable and has no name yet: publish or discard follows. A
// crash leaves its file, which is removed when it is a day old.
type staged struct {
	tmp  string
	sha  string
	size int64
}

// stage stores what r gives without its name.
func (b *Blobs) stage(ctx context.Context, r io.Reader) (staged, error) {
	if err := b.store.makeDir(b.dir()); err != nil {
		return staged{}, fmt.Errorf("%w: %w", errUnstored, err)
	}
	f, tmp, err := disk.Temp(b.store.fs, b.path("blob"))
	if err != nil {
		return staged{}, fmt.Errorf("%w: %w", errUnstored, err)
	}
	st := staged{tmp: tmp}
	if st.sha, st.size, err = fill(ctx, f, r); err == nil {
		err = b.store.syncing(ctx, f.Sync)
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("%w: %w", errUnstored, cerr)
	}
	if err != nil {
		b.discard(st)
		return staged{}, err
	}
	return st, nil
}

// publish returns a blob its name, durably. When it fails the file is gone.
func (b *Blobs) publish(ctx context.Context, st staged) error {
	err := b.store.syncing(ctx, func() error {
		if err := b.store.fs.Rename(st.tmp, b.path(st.sha)); err != nil {
			return err
		}
		return b.store.fs.SyncDir(b.dir())
	})
	if err != nil {
		b.discard(st) // gone already when only the last step failed
	}
	return err
}

func (b *Blobs) discard(st staged) { _ = b.store.fs.Remove(st.tmp) }

// fill writes r into f and returns its hash and size.
func fill(ctx context.Context, f disk.File, r io.Reader) (string, int64, error) {
	h := sha256.New()
	buf := make([]byte, 256<<10)
	size := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		n, err := io.ReadFull(r, buf)
		if size+int64(n) > MaxBlob {
			return "", 0, fmt.Errorf("more than %d bytes: %w", MaxBlob, ErrTooLarge)
		}
		if n > 0 {
			h.Write(buf[:n])
			if _, werr := f.WriteAt(buf[:n], size); werr != nil {
				return "", 0, fmt.Errorf("%w: %w", errUnstored, werr)
			}
			size += int64(n)
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return hex.EncodeToString(h.Sum(nil)), size, nil
		case err != nil:
			return "", 0, err
		}
	}
}

// Scratch makes a file without a name, for what is on its way: nothing is left of it when
// it is closed, or when the process ends in whatever way. A crash at the moment at which it
// is made leaves an empty file, which is removed when it is a day old.
func (b *Blobs) Scratch() (disk.File, error) {
	if err := b.store.makeDir(b.dir()); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnstored, err)
	}
	f, tmp, err := disk.Temp(b.store.fs, b.path("scratch"))
	if err == nil {
		if err = b.store.fs.Remove(tmp); err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnstored, err)
	}
	return f, nil
}

// Has reports whether there is a blob of that name.
func (b *Blobs) Has(sha string) bool {
	if !protocol.IsPayload(sha) {
		return false
	}
	_, err := b.store.fs.Stat(b.path(sha))
	return err == nil
}

// Keep makes a blob young again, as Put does, for an event that is to name it: what
// removes blobs leaves it alone for a day. Without such a blob it gives ErrNoBlob.
func (b *Blobs) Keep(sha string) error {
	if !protocol.IsPayload(sha) {
		return &BlobError{sha, ErrNoBlob}
	}
	err := b.store.fs.Touch(b.path(sha))
	if errors.Is(err, fs.ErrNotExist) {
		return &BlobError{sha, ErrNoBlob}
	}
	if err != nil {
		return &BlobError{sha, fmt.Errorf("%w: %w", errUnstored, err)}
	}
	return nil
}

// Open opens a blob for reading and returns its size. The caller closes it. What it
// reads may be damaged: who acts on it uses Read, or calls Check before. A name that
// is none, or has no blob, gives ErrNoBlob.
func (b *Blobs) Open(sha string) (io.ReadSeekCloser, int64, error) {
	if !protocol.IsPayload(sha) {
		return nil, 0, &BlobError{sha, ErrNoBlob}
	}
	f, err := b.store.fs.Open(b.path(sha), disk.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, &BlobError{sha, ErrNoBlob}
	}
	if err != nil {
		return nil, 0, &BlobError{sha, err}
	}
	size, err := f.Size()
	if err != nil {
		_ = f.Close()
		return nil, 0, &BlobError{sha, err}
	}
	return &blobReader{io.NewSectionReader(f, 0, size), f}, size, nil
}

// Read returns the bytes of a blob, which have the hash that its name says. Otherwise it
// gives ErrDamagedBlob, for more than limit bytes ErrTooLarge, and without a blob
// ErrNoBlob.
func (b *Blobs) Read(ctx context.Context, sha string, limit int64) ([]byte, error) {
	r, size, err := b.Open(sha)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if size > limit {
		return nil, &BlobError{sha, fmt.Errorf("%d bytes are more than %d: %w", size, limit, ErrTooLarge)}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, &BlobError{sha, err}
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, &BlobError{sha, ErrDamagedBlob}
	}
	return data, nil
}

type blobReader struct {
	*io.SectionReader
	file disk.File
}

func (r *blobReader) Close() error { return r.file.Close() }

// Check reads a blob and compares its hash: another one gives ErrDamagedBlob, and a
// blob that is not there ErrNoBlob.
func (b *Blobs) Check(ctx context.Context, sha string) error {
	r, _, err := b.Open(sha)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != sha {
		return &BlobError{sha, ErrDamagedBlob}
	}
	return nil
}

// Whole opens a blob whose hash was compared; errors are those of Check.
func (b *Blobs) Whole(ctx context.Context, sha string) (io.ReadCloser, int64, error) {
	if err := b.Check(ctx, sha); err != nil {
		return nil, 0, err
	}
	return b.Open(sha)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
