package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"sync"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of what is on its way between this host and its clients: exports, until they are
// fetched, and parts of files that are to be imported.
const (
	maxExports       = 4                  // of a client; the one not used for longest goes
	maxImportUploads = 2 * maxImportParts // parts that a client has put and not imported
	maxTransferBytes = 8 << 30            // of all clients; more is refused
	minTransferFree  = 256 << 20          // bytes that stay free on the disk
	transferLife     = 10 * time.Minute   // behind its last use
	freeInterval     = 16 << 20           // bytes after which the disk is looked at again
)

// transfers are the files on their way. They belong to the client that asked for them or
// sent them, also over several connections. They have no name on the disk: nothing is left
// of them, however the host ends. The zero value is empty.
type transfers struct {
	mu     sync.Mutex // guards all below; no I/O under it
	list   []*transfer
	bytes  int64 // of all, and of what is being written
	timer  *time.Timer
	closed bool
}

// transfer is one file. It is not changed.
type transfer struct {
	client protocol.ClientID
	sha    string
	size   int64
	export bool
	file   disk.File

	// Guarded by transfers.mu.
	used  time.Time
	users int  // who reads it now
	gone  bool // it is no longer in the list, and closed by its last user
}

// reserve counts bytes that are about to be written, and refuses them when there are too
// many.
func (x *transfers) reserve(n int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
	}
	if x.bytes+n > maxTransferBytes {
		return protocol.Errorf(protocol.CodeRateLimited, "Exports and imports of this host take %d GiB already; try again when some are done.", x.bytes>>30)
	}
	x.bytes += n
	return nil
}

func (x *transfers) unreserve(n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bytes -= n
}

// add takes a file whose bytes were reserved. It owns the file from then on.
func (x *transfers) add(t *transfer) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		x.bytes -= t.size
		_ = t.file.Close()
		return protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
	}
	for { // an equal one is replaced
		i := slices.IndexFunc(x.list, func(o *transfer) bool { return o.client == t.client && o.sha == t.sha })
		if i < 0 {
			break
		}
		x.drop(x.list[i])
	}
	same := 0
	var oldest *transfer
	for _, o := range x.list {
		if o.client != t.client || o.export != t.export {
			continue
		}
		if same++; oldest == nil || o.used.Before(oldest.used) {
			oldest = o
		}
	}
	if t.export && same >= maxExports || !t.export && same >= maxImportUploads {
		x.drop(oldest)
	}
	t.used = time.Now()
	x.list = append(x.list, t)
	x.wake()
	return nil
}

// wake sets the timer to the end of the life of the oldest that nobody reads. mu is held.
func (x *transfers) wake() {
	var first *transfer
	for _, t := range x.list {
		if t.users == 0 && (first == nil || t.used.Before(first.used)) {
			first = t
		}
	}
	if first == nil || x.closed {
		return
	}
	wait := time.Until(first.used.Add(transferLife)) + time.Second
	if x.timer == nil {
		x.timer = time.AfterFunc(wait, x.expire)
		return
	}
	x.timer.Reset(wait)
}

// expire drops what has not been used for long. The timer calls it.
func (x *transfers) expire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range slices.Clone(x.list) {
		if t.users == 0 && time.Since(t.used) >= transferLife {
			x.drop(t)
		}
	}
	x.wake()
}

// drop forgets a file. mu is held.
func (x *transfers) drop(t *transfer) {
	x.list = slices.DeleteFunc(x.list, func(o *transfer) bool { return o == t })
	t.gone = true
	x.bytes -= t.size
	if t.users == 0 {
		_ = t.file.Close() // nothing is to be kept of it
	}
}

// take gives a file of a client for reading, nil when there is none; done ends that.
func (x *transfers) take(client protocol.ClientID, sha string) (t *transfer, done func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.list, func(o *transfer) bool { return o.client == client && o.sha == sha })
	if i < 0 {
		return nil, nil
	}
	t = x.list[i]
	t.used = time.Now()
	t.users++
	return t, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		t.used = time.Now()
		if t.users--; t.users > 0 {
			return
		}
		if t.gone {
			_ = t.file.Close()
		}
		x.wake()
	}
}

// dropImported forgets parts of an import that has been carried out. An export that was
// imported again stays.
func (x *transfers) dropImported(client protocol.ClientID, shas []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range slices.Clone(x.list) {
		if t.client == client && !t.export && slices.Contains(shas, t.sha) {
			x.drop(t)
		}
	}
}

// close drops all.
func (x *transfers) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, t := range slices.Clone(x.list) {
		x.drop(t)
	}
	if x.timer != nil {
		x.timer.Stop()
	}
}

// spool writes a file on its way: what is written is counted, hashed and held against the
// disk. It is no longer used after keep or discard.
type spool struct {
	h    *Host
	file disk.File
	size int64
	sum  hashSum
	look int64 // when the disk is looked at again
}

// hashSum is what spool needs of a hash.
type hashSum interface {
	io.Writer
	Sum(b []byte) []byte
}

func (h *Host) newSpool() (*spool, error) {
	f, err := h.store.Blobs().Scratch()
	if err != nil {
		return nil, err
	}
	return &spool{h: h, file: f, sum: sha256.New()}, nil
}

// Write implements [io.Writer].
func (s *spool) Write(p []byte) (int, error) {
	n := int64(len(p))
	if s.size+n > s.look {
		free, err := s.h.cfg.FS.Free(s.h.cfg.StoreDir)
		if err == nil && free < uint64(minTransferFree+n) {
			return 0, protocol.Errorf(protocol.CodeStorageError, "Less than %d MiB would be free on the disk of %s. Free some space and try again.", minTransferFree>>20, s.h.cfg.StoreDir)
		}
		s.look = s.size + n + freeInterval
	}
	if err := s.h.transfers.reserve(n); err != nil {
		return 0, err
	}
	if _, err := s.file.WriteAt(p, s.size); err != nil {
		s.h.transfers.unreserve(n)
		return 0, storageError("keep what is on its way", err)
	}
	s.size += n
	_, _ = s.sum.Write(p)
	return len(p), nil
}

// keep hands the file over to the transfers, and names it.
func (s *spool) keep(client protocol.ClientID, export bool) (*protocol.BlobRef, error) {
	t := &transfer{client: client, sha: hex.EncodeToString(s.sum.Sum(nil)), size: s.size, export: export, file: s.file}
	if err := s.h.transfers.add(t); err != nil {
		return nil, err
	}
	return &protocol.BlobRef{SHA256: t.sha, Size: t.size}, nil
}

func (s *spool) discard() {
	s.h.transfers.unreserve(s.size)
	_ = s.file.Close()
}

// reader reads what was written.
func (s *spool) reader() io.Reader { return io.NewSectionReader(s.file, 0, s.size) }

// readTransfer gives a part of a file on its way, nil when the client has none of that name.
func (h *Host) readTransfer(client protocol.ClientID, r *protocol.GetBlob) (*protocol.BlobPart, error) {
	t, done := h.transfers.take(client, r.SHA256)
	if t == nil {
		return nil, nil
	}
	defer done()
	data := make([]byte, min(int64(r.Length), max(0, t.size-r.Offset)))
	if len(data) > 0 {
		if _, err := io.ReadFull(io.NewSectionReader(t.file, r.Offset, int64(len(data))), data); err != nil {
			return nil, storageError("read what is on its way", err)
		}
	}
	return &protocol.BlobPart{Data: data, Size: t.size}, nil
}

// partsReader reads the parts of an import one behind the other: files on their way, or
// payloads.
type partsReader struct {
	ctx    context.Context
	h      *Host
	client protocol.ClientID
	rest   []string
	open   io.Reader
	done   func() // of open
}

func (p *partsReader) Read(b []byte) (int, error) {
	for {
		if p.open == nil {
			if len(p.rest) == 0 {
				return 0, io.EOF
			}
			if err := p.next(); err != nil {
				return 0, err
			}
		}
		n, err := p.open.Read(b)
		if err == io.EOF {
			p.close()
			if n == 0 {
				continue
			}
			err = nil
		}
		return n, err
	}
}

// next opens the next part.
func (p *partsReader) next() error {
	sha := p.rest[0]
	if t, done := p.h.transfers.take(p.client, sha); t != nil {
		p.open, p.done, p.rest = io.NewSectionReader(t.file, 0, t.size), done, p.rest[1:]
		return nil
	}
	blobs := p.h.store.Blobs()
	if err := blobs.Check(p.ctx, sha); err != nil {
		return err
	}
	f, _, err := blobs.Open(sha)
	if err != nil {
		return err
	}
	p.open, p.done, p.rest = f, func() { _ = f.Close() }, p.rest[1:]
	return nil
}

func (p *partsReader) close() {
	if p.open != nil {
		p.done()
		p.open, p.done = nil, nil
	}
}

// releaseParts drops the parts of an import. Those that were put as if for a conversation go
// when nobody names them.
func (h *Host) releaseParts(ctx context.Context, client protocol.ClientID, parts []string) {
	h.transfers.dropImported(client, parts)
	var names []string
	for _, sha := range parts {
		if h.store.Blobs().Has(sha) {
			names = append(names, sha)
		}
	}
	if len(names) == 0 {
		return
	}
	if _, err := h.store.Release(context.WithoutCancel(ctx), names); err != nil {
		h.note("release the parts of an import: " + err.Error())
	}
}
