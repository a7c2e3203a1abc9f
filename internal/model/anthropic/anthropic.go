package anthropic

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"scorel/internal/model"
	"scorel/internal/model/wire"
)

// DefaultBaseURL is Anthropic's own server.
const DefaultBaseURL = "https://api.anthropic.com"

// Config says which model to call and how. BaseURL is without /v1.
type Config = wire.Config

// Model is one model behind the API. It implements [model.Model].
type Model struct {
	info     model.Info
	peer     wire.Peer
	messages sdk.MessageService
}

// New makes a model. It fails when the address is none.
func New(c Config) (*Model, error) {
	peer, err := c.Peer(model.APIAnthropic, DefaultBaseURL, "anthropic")
	if err != nil {
		return nil, err
	}
	// NewMessageService reads no environment, unlike NewClient.
	opts := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(peer.Doer()),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
		option.WithHeader("Accept", "text/event-stream"),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
		if !strings.HasPrefix(c.BaseURL, DefaultBaseURL) { // gateways differ in which one they read
			opts = append(opts, option.WithHeader("Authorization", "Bearer "+c.Key))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.Headers)) {
		if !strings.EqualFold(k, betaHeader) {
			opts = append(opts, option.WithHeader(k, c.Headers[k]))
		}
	}
	return &Model{info: c.Info, peer: peer, messages: sdk.NewMessageService(opts...)}, nil
}

// Info says what the model is.
func (m *Model) Info() model.Info { return m.info }

// Stream sends the request and yields the answer; see [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		params, opts, err := m.params(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		data, err := body(params)
		if err != nil {
			yield(nil, err)
			return
		}
		// The SDK sends; the request is written and the events are decoded here.
		var raw *http.Response
		opts = append(opts, option.WithRequestBody("application/json", data), option.WithResponseBodyInto(&raw))
		sent := m.messages.NewStreaming(ctx, sdk.MessageNewParams{Model: params.Model}, opts...)
		if err := sent.Err(); err != nil {
			yield(nil, m.fail(ctx, err))
			return
		}
		stream := ssestream.NewDecoder(raw)
		defer stream.Close()
		r := reader{info: m.info, req: req, peer: m.peer}
		for stream.Next() {
			got := stream.Event()
			data := bytes.TrimSpace(got.Data)
			if got.Type == "error" {
				yield(nil, m.fail(ctx, m.peer.Event(data)))
				return
			}
			if got.Type == "" || got.Type == "ping" || len(data) == 0 {
				continue
			}
			e, err := decode(data)
			if err != nil {
				yield(nil, m.fail(ctx, err))
				return
			}
			if !r.event(e, func(d model.Delta) bool { return yield(d, nil) }) {
				if r.broken {
					yield(nil, m.peer.Broken("a call without id or name"))
				} else if r.bad != nil {
					yield(nil, r.bad)
				}
				return
			}
		}
		yield(nil, m.fail(ctx, stream.Err()))
	}
}

func (m *Model) fail(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return m.peer.Cut()
	}
	return m.peer.Fail(ctx, err)
}

const betaHeader = "anthropic-beta"

// betas gives the option for the beta header, with the user's own first.
func (m *Model) betas(names []string) []option.RequestOption {
	for k, v := range m.peer.Headers {
		if strings.EqualFold(k, betaHeader) {
			names = append([]string{v}, names...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []option.RequestOption{option.WithHeader(betaHeader, strings.Join(names, ","))}
}
