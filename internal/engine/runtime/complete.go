package runtime

import (
	"context"
	"io"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Completion is what a request beside a conversation needs; see [Run] for its fields.
type Completion struct {
	Model   model.Model
	Tries   int // at most; 0: as many as a step of a turn
	Rand    io.Reader
	Sleep   func(ctx context.Context, d time.Duration) error
	Silence time.Duration
	Jitter  func() float64
}

// Complete asks a model once, beside a conversation, and returns its whole answer: what
// broke off is never an answer. Failures that pass are tried again by the rules of a
// turn; one of the model is a *model.Error, and one of ctx is that of ctx. Nothing is
// stored and nobody is told.
func Complete(ctx context.Context, c Completion, req model.Request) (protocol.Message, error) {
	l := newLoop(Run{Model: c.Model, Rand: c.Rand, Sleep: c.Sleep, Silence: c.Silence, Jitter: c.Jitter},
		func() {}, func(RawEvent) bool { return true })
	if c.Tries > 0 {
		l.tries = c.Tries
	}
	if most := c.Model.Info().MaxTokens; most > 0 && req.MaxTokens > most {
		req.MaxTokens = most
	}
	ans, err := l.try(ctx, &turnState{}, req, quiet, &answer{})
	if err != nil {
		return protocol.Message{}, err
	}
	usage, info := ans.usage, c.Model.Info()
	return protocol.Message{Role: protocol.RoleAssistant, Content: wholeCalls(&ans), Provider: info.Provider, Model: info.ID,
		StopReason: ans.stop, Usage: &usage}, nil
}
