package link

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/protocol"
)

// errLargePayload is the error of a payload that is larger than somebody wants it.
var errLargePayload = errors.New("the payload is too large to be shown")

// Payload fetches a payload of at most limit bytes that a session names. Any goroutine may
// call it.
func (l *Link) Payload(ctx context.Context, session protocol.SessionID, blob string, limit int64) ([]byte, error) {
	data, _, err := l.fetch(ctx, session, blob, func(size int64) (int64, error) {
		if size > limit {
			return 0, errLargePayload
		}
		return size, nil
	})
	return data, err
}

// Beginning fetches the first limit bytes of a payload that is text, and appends how much
// follows. Any goroutine may call it.
func (l *Link) Beginning(ctx context.Context, session protocol.SessionID, blob string, limit int64) (string, error) {
	data, size, err := l.fetch(ctx, session, blob, func(size int64) (int64, error) { return min(size, limit), nil })
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if left := size - int64(len(data)); left > 0 {
		text = text + "\n" + plain.More(int(left), "byte") + "; /export writes answers whole to a file"
	}
	return text, nil
}

// fetch fetches as many bytes of a payload as part says of its size, and returns them and
// the size.
func (l *Link) fetch(ctx context.Context, session protocol.SessionID, blob string, part func(size int64) (int64, error)) ([]byte, int64, error) {
	c, err := l.Host(ctx)
	if err != nil {
		return nil, 0, err
	}
	head, err := client.Call[*protocol.BlobPart](ctx, c, session, &protocol.GetBlob{SHA256: blob})
	if err != nil {
		return nil, 0, err
	}
	n, err := part(head.Size)
	if err != nil {
		return nil, 0, err
	}
	var data bytes.Buffer
	if err := c.Fetch(ctx, session, &protocol.BlobRef{SHA256: blob, Size: n}, &data); err != nil {
		return data.Bytes(), head.Size, err
	}
	return data.Bytes(), head.Size, nil
}
