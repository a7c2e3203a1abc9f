package lane

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/notice"
	"scorel/protocol"
)

const (
	maxBlobRead = 32 << 20 // bytes of a payload that is read for a model
	maxToldLost = 64       // lost payloads that people are told of, of an open session
)

// payloads reads what messages of a session name. It may be used by any number of
// goroutines at once.
type payloads struct {
	session protocol.SessionID
	blobs   *session.Blobs
	notices *notice.Notices

	mu   sync.Mutex      // taken alone
	lost map[string]bool // those that people were told of
}

// blob reads a payload for a model.
func (p *payloads) blob(ctx context.Context, sha string) ([]byte, error) {
	return p.read(ctx, sha, maxBlobRead)
}

// read reads a payload of at most limit bytes whose content is what its name says. People
// are told, once, of one that is missing or damaged or cannot be read: a model goes on
// without it.
func (p *payloads) read(ctx context.Context, sha string, limit int64) ([]byte, error) {
	data, err := p.blobs.Read(ctx, sha, limit)
	switch {
	case errors.Is(err, session.ErrNoBlob):
		p.notifyLost(sha, "is missing here")
	case errors.Is(err, session.ErrDamagedBlob):
		p.notifyLost(sha, "is damaged here")
	case err != nil && ctx.Err() == nil:
		p.notifyLost(sha, fmt.Sprintf("cannot be read (%v)", err))
	}
	return data, err
}

// notifyLost tells people of a payload that cannot be read.
func (p *payloads) notifyLost(sha, what string) {
	if p.first(sha) {
		p.notices.Notify("", "warning", fmt.Sprintf("A file of this conversation (%.12s…) %s, and the model goes on without it. `scorel sessions verify %s` names all such files.", sha, what, p.session))
	}
}

// first reports whether people have not been told of a payload yet.
func (p *payloads) first(sha string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost[sha] || len(p.lost) >= maxToldLost {
		return false
	}
	if p.lost == nil {
		p.lost = map[string]bool{}
	}
	p.lost[sha] = true
	return true
}

// check returns why blocks are not the content of a message, whoever sends it: a client, an
// extension, or a hook that changes what they have sent. Field is where it is.
func (p *payloads) check(field string, content []protocol.Block) error {
	if problem := protocol.CheckBlocks(field, content); problem != nil {
		return problem.Err()
	}
	for i, b := range content {
		if b.Blob != "" && !p.blobs.Has(b.Blob) {
			return protocol.About(fmt.Sprintf("%s[%d].blob", field, i), "", protocol.CodeInvalidRequest, "The payload %s is not stored here; put it before the message that names it.", b.Blob)
		}
	}
	return nil
}
