package openai

import (
	"bytes"
	"context"
	"iter"
	"net/url"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config returns which model to call and how. BaseURL is with /v1 where the server has it.
type Config = httpx.Config

// Model is one model that is reached through the API. It implements [model.Model].
type Model struct {
	info   model.Info
	peer   httpx.Peer
	doer   *httpx.Doer
	url    string
	header map[string]string
}

// New makes a model. It fails when the address is none.
func New(c Config) (*Model, error) {
	peer, err := c.Peer(model.APIOpenAI, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	address, err := url.JoinPath(c.BaseURL, "chat", "completions")
	if err != nil {
		return nil, err
	}
	return &Model{info: c.Info, peer: peer, doer: peer.Doer(), url: address, header: peer.Bearer()}, nil
}

// Info returns what the model is.
func (m *Model) Info() model.Info { return m.info }

// Stream sends the request and yields the answer; see [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		body, err := m.body(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		res, err := m.doer.Post(ctx, m.url, m.header, body)
		if err != nil {
			yield(nil, m.peer.Fail(ctx, err))
			return
		}
		defer res.Body.Close()
		r := reader{info: m.info, peer: m.peer}
		r.yield = func(d model.Delta) bool {
			r.seen.Note(d)
			return yield(d, nil)
		}
		var broken error
		for got, err := range httpx.Events(res.Body) {
			if bytes.HasPrefix(got.Data, []byte("[DONE]")) {
				break
			}
			more := true
			if err == nil {
				more, err = r.read(got.Data)
			}
			if !more {
				return
			}
			if broken = err; broken != nil {
				break
			}
		}
		// Servers end without [DONE] too, so a finish reason is the end event. Counts
		// follow it; their loss is no failure.
		if r.finish == "" || ctx.Err() != nil {
			yield(nil, m.peer.Fail(ctx, broken))
			return
		}
		if bad := finishError(m.peer, r.finish); bad != nil {
			yield(nil, bad)
			return
		}
		if r.nameless() {
			yield(nil, m.peer.Broken("a call without a name"))
			return
		}
		if bad := r.done(req); bad != nil {
			yield(nil, bad)
		}
	}
}
