package transfer

import (
	"io"
	"slices"
	"sync"
	"time"

	"scorel/internal/host/failure"
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
	transferLife     = 10 * time.Minute   // after its last use
	freeInterval     = 16 << 20           // bytes after which the disk is looked at again
)

// shelf has the files on their way. They belong to the client that asked for them or
// sent them, also over several connections. They have no name on the disk: nothing is left
// of them, however the host ends. The zero value is empty.
type shelf struct {
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
func (x *shelf) reserve(n int64) error {
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

func (x *shelf) unreserve(n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bytes -= n
}

// add takes a file whose bytes were reserved. It owns the file from then on.
func (x *shelf) add(t *transfer) error {
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
func (x *shelf) wake() {
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
func (x *shelf) expire() {
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
func (x *shelf) drop(t *transfer) {
	x.list = slices.DeleteFunc(x.list, func(o *transfer) bool { return o == t })
	t.gone = true
	x.bytes -= t.size
	if t.users == 0 {
		_ = t.file.Close() // nothing is to be kept of it
	}
}

// take returns a file of a client for reading, nil when there is none; done ends that.
func (x *shelf) take(client protocol.ClientID, sha string) (t *transfer, done func()) {
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

// dropImported forgets parts of an import that has been handled. An export that was
// imported again stays.
func (x *shelf) dropImported(client protocol.ClientID, shas []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range slices.Clone(x.list) {
		if t.client == client && !t.export && slices.Contains(shas, t.sha) {
			x.drop(t)
		}
	}
}

// close drops all.
func (x *shelf) close() {
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

// ReadTransfer returns a part of a file on its way, nil when the client has none of that name.
func (ts *Transfers) ReadTransfer(client protocol.ClientID, r *protocol.GetBlob) (*protocol.BlobPart, error) {
	t, done := ts.shelf.take(client, r.SHA256)
	if t == nil {
		return nil, nil
	}
	defer done()
	data := make([]byte, min(int64(r.Length), max(0, t.size-r.Offset)))
	if len(data) > 0 {
		if _, err := io.ReadFull(io.NewSectionReader(t.file, r.Offset, int64(len(data))), data); err != nil {
			return nil, failure.Storage("read what is on its way", err)
		}
	}
	return &protocol.BlobPart{Data: data, Size: t.size}, nil
}
