package anthropic

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// DefaultBaseURL is Anthropic's own server.
const DefaultBaseURL = "https://api.anthropic.com"

// version is that of the API (https://platform.claude.com/docs/en/api/versioning).
const version = "2023-06-01"

// Config returns which model to call and how. BaseURL is without /v1.
type Config = httpx.Config

// Model is one model that is reached through the API. It implements [model.Model].
type Model struct {
	info  model.Info
	peer  httpx.Peer
	doer  *httpx.Doer
	url   string
	betas []string // beta features that the user asks for in headers
}

// New makes a model. It fails when the address is none.
func New(c Config) (*Model, error) {
	peer, err := c.Peer(model.APIAnthropic, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	address, err := url.JoinPath(c.BaseURL, "v1", "messages")
	if err != nil {
		return nil, err
	}
	m := &Model{info: c.Info, peer: peer, url: address}
	peer.Headers = maps.Clone(peer.Headers)
	maps.DeleteFunc(peer.Headers, func(name, value string) bool {
		beta := strings.EqualFold(name, betaHeader)
		if beta {
			m.betas = append(m.betas, value)
		}
		return beta
	})
	m.doer = peer.Doer()
	return m, nil
}

// Info returns what the model is.
func (m *Model) Info() model.Info { return m.info }

// Stream sends the request and yields the answer; see [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		body, betas, err := m.body(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		res, err := m.doer.Post(ctx, m.url, m.header(betas), body)
		if err != nil {
			yield(nil, m.peer.Fail(ctx, err))
			return
		}
		defer res.Body.Close()
		r := reader{info: m.info, req: req, peer: m.peer, yield: func(d model.Delta) bool { return yield(d, nil) }}
		for got, err := range httpx.Events(res.Body) {
			if err == nil {
				err = r.read(got)
			}
			if r.over {
				return
			}
			if err != nil {
				yield(nil, m.peer.Fail(ctx, err))
				return
			}
		}
		yield(nil, m.peer.Fail(ctx, nil))
	}
}

// read reads an event by its name: those without one are not events of the API.
func (r *reader) read(got httpx.Event) error {
	data := bytes.TrimSpace(got.Data)
	switch {
	case string(got.Name) == "error":
		return r.peer.Event(data)
	case len(got.Name) == 0, string(got.Name) == "ping", len(data) == 0:
		return nil
	}
	r.now = event{}
	if err := httpx.Decode(data, &r.now); err != nil {
		return err
	}
	return r.event(&r.now)
}

const betaHeader = "Anthropic-Beta"

// header returns the headers of a request that takes these beta features; the user's own
// come first.
func (m *Model) header(betas []string) map[string]string {
	h := map[string]string{"Anthropic-Version": version}
	if m.peer.Key != "" {
		h["X-Api-Key"] = m.peer.Key
		if !strings.HasPrefix(m.peer.BaseURL, DefaultBaseURL) { // gateways differ in which one they read
			h["Authorization"] = "Bearer " + m.peer.Key
		}
	}
	if betas = slices.Concat(m.betas, betas); len(betas) > 0 {
		h[betaHeader] = strings.Join(betas, ",")
	}
	return h
}
