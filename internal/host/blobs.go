package host

import (
	"context"
	"io"
	"os"

	"scorel/protocol"
)

// Bounds of payloads on a connection.
const (
	maxBlobPart = 48 << 10 // bytes of one answer
	maxUpload   = 32 << 20 // bytes of one upload
	maxUploads  = 4        // at once on one connection
)

// maxReadable bounds the payloads of which a connection remembers that it may
// read them; beyond, it forgets all and asks the logs again.
const maxReadable = 256

// mayRead notes that a client may read what it has just made.
func (c *Conn) mayRead(ref *protocol.BlobRef, err error) (*protocol.BlobRef, error) {
	if err != nil {
		return ref, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ref.SHA256 != "" {
		c.remember(ref.SHA256)
	}
	for _, part := range ref.Parts {
		c.remember(part.SHA256)
	}
	return ref, err
}

// remember notes a payload as readable. mu is held.
func (c *Conn) remember(sha string) {
	if c.blobs == nil || len(c.blobs) >= maxReadable {
		c.blobs = map[string]bool{}
	}
	c.blobs[sha] = true
}

// readable says whether a client may read a payload: one that it made, or that
// the session names.
func (c *Conn) readable(ctx context.Context, id protocol.SessionID, sha string) error {
	c.mu.Lock()
	known := c.blobs[sha]
	c.mu.Unlock()
	if known {
		return nil
	}
	refused := protocol.Errorf(protocol.CodeForbidden, "The session names no payload %.64q.", sha)
	if id == "" || len(sha) != 64 {
		return refused
	}
	index, _, done, err := c.h.view(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	named, err := index.Names(ctx, sha)
	if err != nil {
		return err
	}
	if !named {
		return refused
	}
	// What a client gets it may act on.
	if err := c.h.store.Blobs().Check(ctx, sha); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(sha)
	return nil
}

// getBlob reads a part of a payload.
func (c *Conn) getBlob(ctx context.Context, id protocol.SessionID, r *protocol.GetBlob) (*protocol.BlobPart, error) {
	h := c.h
	if err := c.readable(ctx, id, r.SHA256); err != nil {
		return nil, err
	}
	if r.Offset < 0 || r.Length < 0 || r.Length > maxBlobPart {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "A part of a payload has at most %d bytes.", maxBlobPart)
	}
	f, size, err := h.store.Blobs().Open(r.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(r.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	data := make([]byte, min(int64(r.Length), max(0, size-r.Offset)))
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return &protocol.BlobPart{Data: data, Size: size}, nil
}

// upload is a payload that comes in parts, kept in an unnamed temporary file.
type upload struct {
	file *os.File
	size int64
}

// putBlob takes a part of a payload; the last one stores it.
func (c *Conn) putBlob(ctx context.Context, r *protocol.PutBlob) (*protocol.BlobRef, error) {
	c.mu.Lock()
	defer c.mu.Unlock() // parts of one connection come one at a time
	u := c.uploads[r.UploadID]
	if u == nil {
		if len(c.uploads) >= maxUploads {
			return nil, protocol.Errorf(protocol.CodeRateLimited, "At most %d payloads can be sent at once.", maxUploads)
		}
		f, err := os.CreateTemp("", "scorel-upload-")
		if err != nil {
			return nil, storageError("keep the payload", err)
		}
		_ = os.Remove(f.Name())
		if c.uploads == nil {
			c.uploads = map[string]*upload{}
		}
		u = &upload{file: f}
		c.uploads[r.UploadID] = u
	}
	switch {
	case r.Offset != u.size:
		if u.size == 0 {
			c.dropUpload(r.UploadID) // it has not begun
		}
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The payload goes on at %d, not at %d.", u.size, r.Offset)
	case u.size+int64(len(r.Data)) > maxUpload:
		c.dropUpload(r.UploadID)
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "A payload has at most %d bytes.", maxUpload)
	}
	if _, err := u.file.Write(r.Data); err != nil {
		c.dropUpload(r.UploadID)
		return nil, storageError("keep the payload", err)
	}
	u.size += int64(len(r.Data))
	if !r.Last {
		return &protocol.BlobRef{Size: u.size}, nil
	}
	defer c.dropUpload(r.UploadID)
	if _, err := u.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	sha, size, err := c.h.store.Blobs().Put(ctx, u.file)
	if err != nil {
		return nil, err
	}
	return &protocol.BlobRef{SHA256: sha, Size: size}, nil
}

// dropUpload forgets a payload. mu is held.
func (c *Conn) dropUpload(id string) {
	if u := c.uploads[id]; u != nil {
		_ = u.file.Close()
		delete(c.uploads, id)
	}
}
