package host

import (
	"context"
	"io"

	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/host/transfer"
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
	return ref, err
}

// remember notes a payload as readable. mu is held.
func (c *Conn) remember(sha string) {
	if c.blobs == nil || len(c.blobs) >= maxReadable {
		c.blobs = map[string]bool{}
	}
	c.blobs[sha] = true
}

// Readable reports whether a client may read a payload: one that it made, or that
// the session names.
func (c *Conn) Readable(ctx context.Context, id protocol.SessionID, sha string) error {
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
	index, _, done, err := c.h.sessions.View(ctx, id)
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

// keepNamed keeps the payloads that a message names from being removed while its event is
// on its way: a session that named them too may be deleted meanwhile. One that is not there
// is told of when it is read.
func (h *Host) keepNamed(req protocol.Request) {
	var contents [][]protocol.Block
	switch r := req.(type) {
	case *protocol.SendMessage:
		contents = append(contents, r.Content)
	case *protocol.Steer:
		contents = append(contents, r.Content)
	case *protocol.FollowUp:
		contents = append(contents, r.Content)
	case *protocol.RewriteQueue:
		for _, i := range r.Items {
			contents = append(contents, i.Content)
		}
	}
	for _, content := range contents {
		for i := range content {
			if sha := content[i].Blob; sha != "" {
				_ = h.store.Blobs().Keep(sha) // see above
			}
		}
	}
}

// getBlob reads a part of a payload.
func (c *Conn) getBlob(ctx context.Context, id protocol.SessionID, r *protocol.GetBlob) (*protocol.BlobPart, error) {
	h := c.h
	if r.Offset < 0 || r.Length < 0 || r.Length > maxBlobPart { // [protocol.Call.Check] has refused what is negative
		return nil, protocol.About("length", "", protocol.CodeInvalidRequest, "A part of a payload has at most %d bytes.", maxBlobPart)
	}
	if part, err := h.rooms.transfers.ReadTransfer(c.client, r); part != nil || err != nil {
		return part, err
	}
	if err := c.Readable(ctx, id, r.SHA256); err != nil {
		return nil, err
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

// upload is a payload that comes in parts.
type upload struct {
	*transfer.Spool
	forImport bool
}

// putBlob takes a part of a payload; the last one stores it.
func (c *Conn) putBlob(ctx context.Context, r *protocol.PutBlob) (*protocol.BlobRef, error) {
	c.uploading.Lock()
	defer c.uploading.Unlock()
	if c.ctx.Err() != nil { // Close has dropped the uploads, or is about to
		return nil, io.ErrClosedPipe
	}
	u := c.uploads[r.UploadID]
	if u == nil {
		if len(c.uploads) >= maxUploads {
			return nil, protocol.Errorf(protocol.CodeRateLimited, "At most %d payloads can be sent at once.", maxUploads)
		}
		s, err := c.h.rooms.transfers.NewSpool()
		if err != nil {
			return nil, failure.Storage("keep the payload", err)
		}
		if c.uploads == nil {
			c.uploads = map[string]*upload{}
		}
		u = &upload{s, r.ForImport}
		c.uploads[r.UploadID] = u
	}
	switch {
	case r.Offset != u.Size:
		if u.Size == 0 {
			c.dropUpload(r.UploadID) // it has not begun
		}
		return nil, protocol.About("offset", "", protocol.CodeInvalidRequest, "The payload continues at %d, not at %d.", u.Size, r.Offset)
	case u.Size+int64(len(r.Data)) > maxUpload:
		c.dropUpload(r.UploadID)
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "A payload has at most %d bytes.", maxUpload)
	}
	if _, err := u.Write(r.Data); err != nil {
		c.dropUpload(r.UploadID)
		return nil, err
	}
	if !r.Last {
		return &protocol.BlobRef{Size: u.Size}, nil
	}
	if u.forImport {
		delete(c.uploads, r.UploadID)
		return u.Keep(c.client, false)
	}
	defer c.dropUpload(r.UploadID)
	sha, size, err := c.h.store.Blobs().Put(ctx, u.Reader())
	if err != nil {
		return nil, err
	}
	return &protocol.BlobRef{SHA256: sha, Size: size}, nil
}

// dropUploads forgets all payloads of a connection that has ended.
func (c *Conn) dropUploads() {
	c.uploading.Lock()
	defer c.uploading.Unlock()
	for id := range c.uploads {
		c.dropUpload(id)
	}
}

// dropUpload forgets a payload. uploading is held.
func (c *Conn) dropUpload(id string) {
	if u := c.uploads[id]; u != nil {
		u.Discard()
		delete(c.uploads, id)
	}
}

// handleBlobs registers the handlers of this file's requests.
func (h *Host) handleBlobs(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetBlob) (protocol.Response, error) {
		return connOf(at).getBlob(ctx, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.PutBlob) (protocol.Response, error) {
		if r.ForImport {
			return connOf(at).putBlob(ctx, r)
		}
		return connOf(at).mayRead(connOf(at).putBlob(ctx, r))
	})
}
