package httpx

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// upload is the body of a request. Its bytes are let go of when they have been sent and
// the answer has begun, because a connection keeps its request for as long as the answer
// takes. It is safe for concurrent use.
type upload struct {
	mu   sync.Mutex
	data []byte
}

// send makes data the body of a request, which may be read again until drop.
func send(req *http.Request, data []byte) *upload {
	u := &upload{data: data}
	if len(data) > 0 {
		req.Body, req.ContentLength, req.GetBody = &uploading{rest: data}, int64(len(data)), u.open
	}
	return u
}

func (u *upload) open() (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.data == nil {
		return nil, errors.New("the request was answered before it was read again")
	}
	return &uploading{rest: u.data}, nil
}

func (u *upload) drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.data = nil
}

// uploading is one reading of an upload. It may be closed while it is read.
type uploading struct {
	mu   sync.Mutex
	rest []byte
}

func (u *uploading) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

func (u *uploading) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rest = nil
	return nil
}
