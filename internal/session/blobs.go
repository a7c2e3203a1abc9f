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

	"scorel/internal/bundle"
	"scorel/internal/disk"
)

// MaxBlob is the largest blob in bytes.
const MaxBlob = bundle.MaxBlob

const hexSHA = 2 * sha256.Size // characters of a name

var errBlobDamaged = errors.New("the blob has other content than its name says")

// Blobs are large payloads, named by the lower-case hex SHA-256 of their bytes
// and shared by all sessions.
type Blobs struct{ store *Store }

// Blobs gives the blobs of the store.
func (s *Store) Blobs() *Blobs { return &Blobs{s} }

func (b *Blobs) dir() string            { return filepath.Join(b.store.cfg.Dir, "blobs") }
func (b *Blobs) path(sha string) string { return filepath.Join(b.dir(), sha) }

// Put stores what r gives. The blob and its name are durable when it returns, so
// an event may name it. A blob that is there already is replaced by the same
// bytes: that makes it young again for Prune, and whole if it was damaged. More
// than MaxBlob bytes give ErrTooLarge, a failing disk ErrStorage; errors of r are
// returned. In all of these nothing is stored.
func (b *Blobs) Put(ctx context.Context, r io.Reader) (sha string, size int64, err error) {
	if err := b.store.makeDir(b.dir()); err != nil {
		return "", 0, fmt.Errorf("store a blob: %w: %w", ErrStorage, err)
	}
	f, tmp, err := disk.Temp(b.store.fs, b.path("blob"))
	if err != nil {
		return "", 0, fmt.Errorf("store a blob: %w: %w", ErrStorage, err)
	}
	sha, size, err = fill(ctx, f, r)
	if err == nil {
		err = b.publish(ctx, f, tmp, sha)
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("%w: %w", ErrStorage, cerr)
	}
	if err != nil {
		_ = b.store.fs.Remove(tmp) // gone already when only the last steps failed
		return "", 0, fmt.Errorf("store a blob: %w", err)
	}
	return sha, size, nil
}

// fill writes r into f and gives its hash and size.
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
				return "", 0, fmt.Errorf("%w: %w", ErrStorage, werr)
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

// publish makes the file durable under its name.
func (b *Blobs) publish(ctx context.Context, f disk.File, tmp, sha string) error {
	select {
	case b.store.syncs <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-b.store.syncs }()
	err := f.Sync()
	if err == nil {
		err = b.store.fs.Rename(tmp, b.path(sha))
	}
	if err == nil {
		err = b.store.fs.SyncDir(b.dir())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	return nil
}

// Has says whether there is a blob of that name.
func (b *Blobs) Has(sha string) bool {
	if !bundle.IsSHA256(sha) {
		return false
	}
	_, err := b.store.fs.Stat(b.path(sha))
	return err == nil
}

// Open opens a blob for reading and gives its size. The caller closes it. A name
// that is none, or has no blob, gives ErrNotFound.
func (b *Blobs) Open(sha string) (io.ReadSeekCloser, int64, error) {
	if !bundle.IsSHA256(sha) {
		return nil, 0, fmt.Errorf("blob %.80q: %w", sha, ErrNotFound)
	}
	f, err := b.store.fs.Open(b.path(sha), disk.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("blob %s: %w", sha, ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open blob %s: %w", sha, err)
	}
	size, err := f.Size()
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("open blob %s: %w", sha, err)
	}
	return &blobReader{io.NewSectionReader(f, 0, size), f}, size, nil
}

type blobReader struct {
	*io.SectionReader
	file disk.File
}

func (r *blobReader) Close() error { return r.file.Close() }

// check reads a blob and compares its hash.
func (b *Blobs) check(ctx context.Context, sha string) error {
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
		return errBlobDamaged
	}
	return nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
