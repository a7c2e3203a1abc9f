package openai

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"scorel/internal/model"
	"scorel/internal/model/wire"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says which model to call and how. BaseURL is with /v1 where the server has it.
type Config = wire.Config

// Model is one model behind the API. It implements [model.Model].
type Model struct {
	info model.Info
	peer wire.Peer
	chat sdk.ChatCompletionService
}

// New makes a model. It fails when the address is none.
func New(c Config) (*Model, error) {
	peer, err := c.Peer(model.APIOpenAI, DefaultBaseURL, "openai")
	if err != nil {
		return nil, err
	}
	// NewChatCompletionService reads no environment, unlike NewClient.
	opts := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(peer.Doer()),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	for _, k := range slices.Sorted(maps.Keys(c.Headers)) {
		opts = append(opts, option.WithHeader(k, c.Headers[k]))
	}
	return &Model{info: c.Info, peer: peer, chat: sdk.NewChatCompletionService(opts...)}, nil
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
		var raw *http.Response // the SDK sends; the chunks are decoded here
		sent := m.chat.NewStreaming(ctx, params, append(opts, option.WithResponseBodyInto(&raw))...)
		stream := ssestream.NewStream[chunk](ssestream.NewDecoder(raw), sent.Err())
		defer stream.Close()
		r := reader{info: m.info, peer: m.peer}
		r.yield = func(d model.Delta) bool {
			r.seen.Note(d)
			return yield(d, nil)
		}
		for stream.Next() {
			c := stream.Current()
			if !r.chunk(&c) {
				return
			}
		}
		// The SDK does not tell [DONE] from an end of the connection, so a finish
		// reason is the end event. Counts follow it; their loss is no failure.
		if r.finish == "" || ctx.Err() != nil {
			yield(nil, m.fail(ctx, stream.Err()))
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

func (m *Model) fail(ctx context.Context, err error) error {
	var inStream *ssestream.StreamError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return m.peer.Cut()
	case errors.As(err, &inStream):
		return m.peer.Event(inStream.Event.Data)
	}
	return m.peer.Fail(ctx, err)
}
