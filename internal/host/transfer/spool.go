package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"scorel/internal/host/failure"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Spool writes a file on its way: what is written is counted, hashed and held against the
// disk. It is no longer used after keep or discard.
type Spool struct {
	ts   *Transfers
	file disk.File
	Size int64
	sum  hashSum
	look int64 // when the disk is looked at again
}

// hashSum is what spool needs of a hash.
type hashSum interface {
	io.Writer
	Sum(b []byte) []byte
}

func (ts *Transfers) NewSpool() (*Spool, error) {
	f, err := ts.store.Blobs().Scratch()
	if err != nil {
		return nil, err
	}
	return &Spool{ts: ts, file: f, sum: sha256.New()}, nil
}

// Write implements [io.Writer].
func (s *Spool) Write(p []byte) (int, error) {
	n := int64(len(p))
	if s.Size+n > s.look {
		free, err := s.ts.settings.FS.Free(s.ts.settings.StoreDir)
		if err == nil && free < uint64(minTransferFree+n) {
			return 0, protocol.Errorf(protocol.CodeStorageError, "Less than %d MiB would be free on the disk of %s. Free some space and try again.", minTransferFree>>20, s.ts.settings.StoreDir)
		}
		s.look = s.Size + n + freeInterval
	}
	if err := s.ts.shelf.reserve(n); err != nil {
		return 0, err
	}
	if _, err := s.file.WriteAt(p, s.Size); err != nil {
		s.ts.shelf.unreserve(n)
		return 0, failure.Storage("keep what is on its way", err)
	}
	s.Size += n
	_, _ = s.sum.Write(p)
	return len(p), nil
}

// Keep hands the file over to the transfers, and names it.
func (s *Spool) Keep(client protocol.ClientID, export bool) (*protocol.BlobRef, error) {
	t := &transfer{client: client, sha: hex.EncodeToString(s.sum.Sum(nil)), size: s.Size, export: export, file: s.file}
	if err := s.ts.shelf.add(t); err != nil {
		return nil, err
	}
	return &protocol.BlobRef{SHA256: t.sha, Size: t.size}, nil
}

func (s *Spool) Discard() {
	s.ts.shelf.unreserve(s.Size)
	_ = s.file.Close()
}

// Reader reads what was written.
func (s *Spool) Reader() io.Reader { return io.NewSectionReader(s.file, 0, s.Size) }
