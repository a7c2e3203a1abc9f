package transfer

import (
	"context"
	"io"

	"scorel/protocol"
)

// partsReader reads the parts of an import one after the other: files on their way, or
// payloads.
type partsReader struct {
	ctx    context.Context
	ts     *Transfers
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
	if t, done := p.ts.shelf.take(p.client, sha); t != nil {
		p.open, p.done, p.rest = io.NewSectionReader(t.file, 0, t.size), done, p.rest[1:]
		return nil
	}
	blobs := p.ts.store.Blobs()
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
func (ts *Transfers) releaseParts(ctx context.Context, client protocol.ClientID, parts []string) {
	ts.shelf.dropImported(client, parts)
	var names []string
	for _, sha := range parts {
		if ts.store.Blobs().Has(sha) {
			names = append(names, sha)
		}
	}
	if len(names) == 0 {
		return
	}
	if _, err := ts.store.Release(context.WithoutCancel(ctx), names); err != nil {
		ts.log.Note("release the parts of an import: "+err.Error(), nil)
	}
}
