package responses

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/url"
	"strings"
	"sync/atomic"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config returns which model to call and how. BaseURL is with /v1 where the server has it.
type Config = httpx.Config

// Model is one model that is reached through the API. It implements [model.Model].
type Model struct {
	info model.Info
	peer httpx.Peer
	url  string
	doer *httpx.Doer

	header map[string]string
	// untold: the server gives this account no summaries of reasoning.
	untold atomic.Bool
}

// New makes a model. It fails when the address is none.
func New(c Config) (*Model, error) {
	peer, err := c.Peer(model.APIResponses, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	address, err := url.JoinPath(c.BaseURL, "responses")
	if err != nil {
		return nil, err
	}
	return &Model{info: c.Info, peer: peer, url: address, doer: peer.Doer(), header: peer.Bearer()}, nil
}

// Info returns what the model is.
func (m *Model) Info() model.Info { return m.info }

// Stream sends the request and yields the answer; see [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		p, err := m.request(req)
		if err != nil {
			yield(nil, err)
			return
		}
		r := reader{info: m.info, peer: m.peer, req: req}
		r.yield = func(d model.Delta) bool {
			r.seen.Note(d)
			return yield(d, nil)
		}
		err = m.play(ctx, p, &r)
		for r.count == 0 && m.amend(p, err) {
			err = m.play(ctx, p, &r)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// play sends the request and returns its answer to r. It fails unless the answer
// was complete or the consumer had enough.
func (m *Model) play(ctx context.Context, p *request, r *reader) error {
	body, err := m.body(ctx, p)
	if err != nil {
		return err
	}
	res, err := m.doer.Post(ctx, m.url, m.header, body)
	if err != nil {
		return m.peer.Fail(ctx, err)
	}
	defer res.Body.Close()
	for got, err := range httpx.Events(res.Body) {
		if bytes.HasPrefix(got.Data, []byte("[DONE]")) { // of some servers, after the end event
			break
		}
		var e *event
		if err == nil {
			e, err = decode(got.Data)
		}
		if err != nil {
			return m.peer.Fail(ctx, err)
		}
		if more, err := r.event(e); err != nil || !more {
			return err
		}
	}
	return m.peer.Fail(ctx, nil)
}

// amend takes out of a request what the server refuses to this account, and says
// whether it could. Each of the two reasons is met once at most.
func (m *Model) amend(p *request, err error) bool {
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassInvalid {
		return false
	}
	switch text := strings.ToLower(e.Message); {
	// "Your organization must be verified to generate reasoning summaries." It does
	// without them well.
	case strings.Contains(text, "reasoning summaries") && p.reasoning.told():
		m.untold.Store(true)
		p.reasoning = p.reasoning.untold()
		return true
	// Code invalid_encrypted_content: "The encrypted content gAAA... could not be
	// verified."
	case strings.Contains(text, "encrypted content"):
		return p.forget()
	}
	return false
}
