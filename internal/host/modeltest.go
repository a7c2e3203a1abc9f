package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/protocol"
)

// Bounds of the test of a model.
const (
	modelTestTime   = 20 * time.Second
	modelTestTokens = 64 // of the answer: some models think before they say a word
	maxModelTests   = 4  // at once; each costs money
	maxModelRef     = 512
)

// testModel asks a model, the configured one for "", for a word. No session is made, and nothing is tried
// twice: what is wrong is the answer. Latency is the time to the first piece of
// the answer.
func (h *Host) testModel(ctx context.Context, ref string) (*protocol.ModelTest, error) {
	if len(ref) > maxModelRef {
		return nil, protocol.About("model", "", protocol.CodeInvalidRequest, "The name of a model has at most %d bytes.", maxModelRef)
	}
	select {
	case h.tests <- struct{}{}:
		defer func() { <-h.tests }()
	default:
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%d models are being tested already; wait for one of them.", maxModelTests)
	}
	cfg, err := h.userConfig()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	m, err := resolve.Resolve(ref, h.resolver(cfg))
	if err != nil {
		return &protocol.ModelTest{Ref: ref, Problem: problem(err)}, nil
	}
	limited, cancel := context.WithTimeout(ctx, modelTestTime)
	defer cancel()
	t := &protocol.ModelTest{Ref: m.Info().Ref}
	if t.LatencyMS, err = h.firstWord(limited, m); err == nil {
		return t, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%s did not answer within %d s; it may be busy, or its address wrong", t.Ref, int(modelTestTime.Seconds()))
	}
	t.Problem = problem(err)
	var failed *model.Error
	if errors.As(err, &failed) && failed.Class == model.ClassAuth {
		t.Code = protocol.CodeAuthFailed
	}
	return t, nil
}

// problem gives an error as a whole sentence.
func problem(err error) string { return strings.TrimRight(sentence(err), ".") + "." }

// firstWord asks for a word and reads the whole answer; it gives how long the first
// piece took, in milliseconds.
func (h *Host) firstWord(ctx context.Context, m model.Model) (int64, error) {
	start := h.cfg.Now()
	first := int64(-1)
	req := model.Request{Kind: model.KindStep, System: "Answer with one word.", MaxTokens: modelTestTokens, Thinking: model.ThinkingOff,
		Messages: []protocol.Message{protocol.UserText("Say ok.")}}
	for _, err := range m.Stream(ctx, req) {
		if err != nil {
			return 0, err
		}
		if first < 0 {
			first = h.cfg.Now().Sub(start).Milliseconds()
		}
	}
	if first < 0 {
		return 0, errors.New("the answer was empty")
	}
	return max(first, 0), nil
}

// handleModelTests registers the handlers of this file's requests.
func (h *Host) handleModelTests(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.TestModel) (protocol.Response, error) {
		return h.testModel(ctx, r.Model)
	})
}
