//lint:file-ignore SA1019 servers of all versions ask with it; the newest has nothing in its place

package connect

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
)

const (
	// maxSampled is how much text a completion may be asked for with, in bytes, and
	// maxSampledMessages in how many messages.
	maxSampled         = 64 << 10
	maxSampledMessages = 100
	// MaxSampleTokens is how long the answer of a completion may be, in tokens, whatever the
	// server asks for.
	MaxSampleTokens = 4096
	// codeRejected is what the protocol says of a completion that a person refuses.
	codeRejected = -1
)

// Sample is a completion that a server asks for. Its texts are cleaned.
type Sample struct {
	System    string
	Messages  []Said
	MaxTokens int // 1 to MaxSampleTokens
}

// Said is a message of a sample.
type Said struct {
	Assistant bool // said by a model, not by a person
	Text      string
}

// Sampled is the answer to a sample.
type Sampled struct {
	Text  string
	Model string
	Whole bool // the model has come to an end
}

// sample asks the model for a server, where the call in the course of which it asks is of one
// session. One goes on at a time.
func (s *Server) sample(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	a, _ := ctx.Value(askingKey{}).(*asking)
	if a == nil {
		a = s.alone()
	}
	if a == nil || a.Sample == nil {
		return nil, unsampled(codeRejected, "nobody can be asked whether a model may be asked")
	}
	q, err := sampleOf(r.Params)
	if err != nil {
		return nil, unsampled(jsonrpc.CodeInvalidParams, err.Error())
	}
	if !s.sampling.CompareAndSwap(false, true) {
		return nil, unsampled(codeRejected, "another completion of this server goes on; ask again after it")
	}
	defer s.sampling.Store(false)
	var got Sampled
	a.pausing(ctx, func(ctx context.Context) { got, err = a.Sample(ctx, q) })
	if err != nil {
		return nil, unsampled(codeRejected, err.Error())
	}
	why := "endTurn"
	if !got.Whole {
		why = "maxTokens"
	}
	return &mcp.CreateMessageResult{Role: "assistant", Content: &mcp.TextContent{Text: got.Text}, Model: got.Model, StopReason: why}, nil
}

// unsampledError is why a model is not asked, as the server is told it.
type unsampledError struct{ sent *jsonrpc.Error }

func unsampled(code int64, why string) error {
	return unsampledError{&jsonrpc.Error{Code: code, Message: why}}
}

func (e unsampledError) Error() string { return e.sent.Message }

// Unwrap returns what is sent.
func (e unsampledError) Unwrap() error { return e.sent }

// sampleOf reads what a server asks a model for. An error is for the server.
func sampleOf(p *mcp.CreateMessageParams) (q Sample, err error) {
	if p == nil || len(p.Messages) == 0 || len(p.Messages) > maxSampledMessages {
		return q, errors.New("a completion is asked for with 1 to 100 messages")
	}
	q.System = promptsafe.Clean(p.SystemPrompt)
	size := len(q.System)
	for _, m := range p.Messages {
		var text *mcp.TextContent
		if m != nil {
			text, _ = m.Content.(*mcp.TextContent)
		}
		if text == nil || m.Role != "user" && m.Role != "assistant" {
			return q, errors.New("the messages of a completion are texts of user or assistant")
		}
		said := Said{m.Role == "assistant", promptsafe.Clean(text.Text)}
		if strings.TrimSpace(said.Text) == "" {
			return q, errors.New("a message of a completion has no text")
		}
		size += len(said.Text)
		q.Messages = append(q.Messages, said)
	}
	if size > maxSampled {
		return q, errors.New("a completion is asked for with at most 64 KiB of text")
	}
	if q.Messages[len(q.Messages)-1].Assistant {
		return q, errors.New("the last message of a completion is of user")
	}
	q.MaxTokens = int(min(max(cmp.Or(p.MaxTokens, MaxSampleTokens), 1), MaxSampleTokens))
	return q, nil
}
