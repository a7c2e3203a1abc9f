package serve

import (
	"errors"
	"io"
	"net/http"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// Bounds of payloads; see docs/limits.md.
const (
	maxBody  = 32 << 20  // bytes of a payload that is put
	putPart  = 256 << 10 // of it are handed to the host at once
	readPart = 48 << 10  // bytes of a payload that the host gives at once
)

// putBlob takes a payload: the body as it is.
func (s *Server) putBlob(x *exchange) {
	if x.r.ContentLength > maxBody {
		x.fail(protocol.Errorf(protocol.CodePayloadTooLarge, "The body may have at most %d bytes.", maxBody))
		return
	}
	// A connection of its own: one that breaks off leaves nothing after.
	conn, err := s.own(x.r.Context(), "HTTP upload", false)
	if err != nil {
		x.fail(err)
		return
	}
	defer func() { _ = conn.Close() }()
	ref, err := s.upload(x, conn)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusCreated, ref)
}

func (s *Server) upload(x *exchange, conn *host.Conn) (protocol.Response, error) {
	body := x.limited(maxBody)
	part := make([]byte, putPart)
	for offset := int64(0); ; {
		n, err := io.ReadFull(body, part)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return nil, err
		}
		data, err := x.call(conn, s.fresh("", &protocol.PutBlob{UploadID: "body", Offset: offset, Data: part[:n], Last: last}))
		if err != nil || last {
			return data, err
		}
		offset += int64(n)
	}
}

// getBlob gives a payload that a session names, or a range of it. Whatever it is, a
// browser shall not run it.
func (s *Server) getBlob(x *exchange) {
	session := protocol.SessionID(x.r.URL.Query().Get("sessionId"))
	if err := session.Check(); err != nil {
		x.fail(wrong("sessionId", "Name the session that holds the payload: ?sessionId=ses_…: %v.", err))
		return
	}
	conn, err := s.scripts.get(x.r.Context())
	if err != nil {
		x.fail(err)
		return
	}
	defer s.scripts.put()
	b := &blobReader{x: x, conn: conn, session: session, sha: x.values["sha256"]}
	if b.part, err = b.fetch(0); err != nil {
		x.fail(err)
		return
	}
	b.size = b.part.Size
	h := x.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", "attachment")
	h.Set("ETag", `"`+b.sha+`"`)
	http.ServeContent(x.w, x.r, "", time.Time{}, b)
}

// blobReader reads a payload part by part through the host.
type blobReader struct {
	x       *exchange
	conn    *host.Conn
	session protocol.SessionID
	sha     string
	size    int64
	at      int64 // where Read goes on
	start   int64 // of part
	part    *protocol.BlobPart
}

func (b *blobReader) fetch(offset int64) (*protocol.BlobPart, error) {
	data, err := b.x.call(b.conn, b.x.s.fresh(b.session, &protocol.GetBlob{SHA256: b.sha, Offset: offset, Length: readPart}))
	if err != nil {
		return nil, err
	}
	return data.(*protocol.BlobPart), nil
}

// Read returns the next bytes.
func (b *blobReader) Read(p []byte) (int, error) {
	if b.at >= b.size {
		return 0, io.EOF
	}
	if b.at < b.start || b.at >= b.start+int64(len(b.part.Data)) {
		part, err := b.fetch(b.at)
		if err != nil {
			return 0, err
		}
		if len(part.Data) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		b.start, b.part = b.at, part
	}
	n := copy(p, b.part.Data[b.at-b.start:])
	b.at += int64(n)
	return n, nil
}

// Seek sets where Read goes on.
func (b *blobReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		b.at = offset
	case io.SeekCurrent:
		b.at += offset
	case io.SeekEnd:
		b.at = b.size + offset
	}
	return b.at, nil
}
