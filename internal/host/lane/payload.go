package lane

import (
	"context"
	"errors"
	"fmt"

	"scorel/internal/engine/session"
)

const (
	maxBlobRead = 32 << 20 // bytes of a payload that is read for a model
	maxToldLost = 64       // lost payloads that people are told of, of an open session
)

// readBlob reads a payload for a model.
func (l *Lane) readBlob(ctx context.Context, sha string) ([]byte, error) {
	return l.readPayload(ctx, sha, maxBlobRead)
}

// readPayload reads a payload of at most limit bytes whose content is what its name says.
// People are told, once, of one that is missing or damaged or cannot be read: a model goes on without it.
func (l *Lane) readPayload(ctx context.Context, sha string, limit int64) ([]byte, error) {
	data, err := l.cfg.Blobs.Read(ctx, sha, limit)
	switch {
	case errors.Is(err, session.ErrNoBlob):
		l.tellLost(sha, "is missing here")
	case errors.Is(err, session.ErrDamagedBlob):
		l.tellLost(sha, "is damaged here")
	case err != nil && ctx.Err() == nil:
		l.tellLost(sha, fmt.Sprintf("cannot be read (%v)", err))
	}
	return data, err
}

// tellLost tells people of a payload that cannot be given.
func (l *Lane) tellLost(sha, what string) {
	l.mu.Lock()
	told := l.lostPayloads[sha] || len(l.lostPayloads) >= maxToldLost
	if !told {
		if l.lostPayloads == nil {
			l.lostPayloads = map[string]bool{}
		}
		l.lostPayloads[sha] = true
	}
	l.mu.Unlock()
	if !told {
		l.Notify("", "warning", fmt.Sprintf("A file of this conversation (%.12s…) %s, and the model goes on without it. `scorel sessions verify %s` names all such files.", sha, what, l.ID()))
	}
}
