package google

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"path"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// DefaultBaseURL is Google's own server.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Config returns which model to call and how. BaseURL is with or without the version (/v1beta).
type Config = httpx.Config

// Model is one model that is reached through the API. It implements [model.Model].
type Model struct {
	info   model.Info
	peer   httpx.Peer
	doer   *httpx.Doer
	url    string
	header map[string]string
	family family
}

// New makes a model. It fails when the address is none.
func New(c Config) (*Model, error) {
	peer, err := c.Peer(model.APIGoogle, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	address, err := endpoint(c.BaseURL, c.Info.ID)
	if err != nil {
		return nil, fmt.Errorf("the baseUrl of %s is not an http address", peer.Name)
	}
	m := &Model{info: c.Info, peer: peer, doer: peer.Doer(), url: address, family: familyOf(c.Info.ID)}
	if c.Key != "" {
		m.header = map[string]string{"X-Goog-Api-Key": c.Key} // the parameter "key" would put it into URLs and logs
	}
	return m, nil
}

// endpoint is where requests for a model go.
func endpoint(base, id string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	if v := path.Base(u.Path); len(v) < 2 || v[0] != 'v' || v[1] < '0' || v[1] > '9' {
		u = u.JoinPath("v1beta")
	}
	u = u.JoinPath("models", url.PathEscape(strings.TrimPrefix(id, "models/"))+":streamGenerateContent")
	q := u.Query()
	q.Set("alt", "sse")
	u.RawQuery = q.Encode()
	return u.String(), nil
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
		r := reader{info: m.info, peer: m.peer, yield: func(d model.Delta) bool { return yield(d, nil) }}
		for got, err := range httpx.Events(res.Body) {
			if err == nil {
				err = r.event(got.Data)
			}
			if r.stopped {
				return
			}
			if err != nil && (r.finish == "" || ctx.Err() != nil) { // counts may follow the end; their loss is no failure
				yield(nil, m.peer.Fail(ctx, err))
				return
			}
			if err != nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case r.finish == "":
			yield(nil, m.peer.Cut())
		default:
			if bad := r.done(req); bad != nil {
				yield(nil, bad)
			}
		}
	}
}
