package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"scorel/protocol"
)

// Sizes of the parts in which payloads travel, in bytes: what fits into a message
// of protocol.MaxMessage as base64, and what a host gives at a time.
const (
	putPart = 512 << 10
	getPart = 48 << 10
)

// maxWhole bounds a payload that [Client.Whole] puts into a message, in bytes.
const maxWhole = 16 << 20

// maxUploads is how often an upload begins again because its connection broke.
const maxUploads = 5

// ErrUploadLost reports that the connection of an upload broke: what was sent of it
// is gone, and it has to begin again.
var ErrUploadLost = errors.New("the connection broke in the middle of the upload; send it again")

// partial reports whether a request means something only on the connection of those
// before it.
func partial(r protocol.Request) bool {
	p, ok := r.(*protocol.PutBlob)
	return ok && p.Offset > 0
}

// Put stores a payload at the host and names it. Who may read it is the connection that
// is there at its end, until a request names it. An upload whose connection breaks
// begins again, at most 5 times.
func (c *Client) Put(ctx context.Context, r io.ReadSeeker) (*protocol.BlobRef, error) {
	return c.put(ctx, r, false)
}

// PutForImport is Put for a part of a file that an import_session names: the host keeps it
// no longer than until that has been carried out.
func (c *Client) PutForImport(ctx context.Context, r io.ReadSeeker) (*protocol.BlobRef, error) {
	return c.put(ctx, r, true)
}

func (c *Client) put(ctx context.Context, r io.ReadSeeker, forImport bool) (*protocol.BlobRef, error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("read what is to be uploaded: %w", err)
	}
	var lost *link
	for tries := 1; ; tries++ {
		l, err := c.await(ctx, lost)
		if err != nil {
			return nil, err
		}
		ref, broken, err := c.putOn(ctx, l, r, forImport)
		switch {
		case err == nil:
			return ref, nil
		case !broken || c.single || ctx.Err() != nil || errors.Is(err, ErrClosed):
			return nil, err
		case tries == maxUploads:
			return nil, fmt.Errorf("%w: %w", ErrUploadLost, err)
		}
		lost = l
		if _, err := r.Seek(start, io.SeekStart); err != nil {
			return nil, fmt.Errorf("read what is to be uploaded again: %w", err)
		}
	}
}

// putOn uploads over one connection; broken says that it was that which failed.
func (c *Client) putOn(ctx context.Context, l *link, r io.Reader, forImport bool) (ref *protocol.BlobRef, broken bool, err error) {
	in := bufio.NewReaderSize(r, putPart)
	id := string(protocol.NewRequestID(c.cfg.Rand))
	part := make([]byte, putPart)
	for off := int64(0); ; {
		n, err := io.ReadFull(in, part)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, false, fmt.Errorf("read what is to be uploaded: %w", err)
		}
		_, next := in.Peek(1)
		call := protocol.Call{RequestID: protocol.NewRequestID(c.cfg.Rand),
			Request: &protocol.PutBlob{UploadID: id, Offset: off, Data: part[:n:n], Last: next == io.EOF, ForImport: forImport}}
		reply, err := c.callOn(ctx, l, call)
		if err != nil {
			return nil, true, err
		}
		ref, err = answer[*protocol.BlobRef](call, reply)
		if err != nil || next == io.EOF {
			return ref, false, err
		}
		off += int64(n)
	}
}

// ErrDamaged reports that the bytes of a payload that came are not those that its name says.
var ErrDamaged = errors.New("the payload came damaged: its bytes are not those that its name says")

// Fetch copies a payload that the session names, or that an export made on this
// connection, to w, in one part or several. What it has copied is right when it returns
// without an error; ErrDamaged says that it is not.
func (c *Client) Fetch(ctx context.Context, session protocol.SessionID, ref *protocol.BlobRef, w io.Writer) error {
	for i := range ref.Parts {
		if err := c.Fetch(ctx, session, &ref.Parts[i], w); err != nil {
			return err
		}
	}
	if len(ref.Parts) > 0 {
		return nil
	}
	sum, size := sha256.New(), int64(-1)
	for off := int64(0); off < ref.Size; {
		p, err := Call[*protocol.BlobPart](ctx, c, session, &protocol.GetBlob{SHA256: ref.SHA256, Offset: off, Length: getPart})
		switch {
		case err != nil:
			return err
		case len(p.Data) == 0:
			return io.ErrUnexpectedEOF
		}
		sum.Write(p.Data)
		size = p.Size
		if _, err := w.Write(p.Data); err != nil {
			return err
		}
		off += int64(len(p.Data))
	}
	if size == ref.Size && hex.EncodeToString(sum.Sum(nil)) != ref.SHA256 { // else it is a beginning
		return fmt.Errorf("payload %.64s: %w", ref.SHA256, ErrDamaged)
	}
	return nil
}

// Whole returns a message with the whole of each text, thinking and input of a call that
// the log has cut, as the session's host keeps it, of at most 16 MiB each. With an error
// what could not be fetched is cut as before.
func (c *Client) Whole(ctx context.Context, session protocol.SessionID, m protocol.Message) (protocol.Message, error) {
	return m.Whole(func(sha string) ([]byte, error) {
		ref := &protocol.BlobRef{SHA256: sha}
		part, err := Call[*protocol.BlobPart](ctx, c, session, &protocol.GetBlob{SHA256: sha})
		if err != nil {
			return nil, err
		}
		if ref.Size = part.Size; ref.Size > maxWhole {
			return nil, fmt.Errorf("the payload %s has more than %d MiB", sha, maxWhole>>20)
		}
		var data bytes.Buffer
		data.Grow(int(ref.Size))
		err = c.Fetch(ctx, session, ref, &data)
		return data.Bytes(), err
	})
}
