package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/completion"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// Bounds of the test of a model.
const (
	modelTestTime   = 20 * time.Second
	modelTestTokens = 64 // of the answer: some models think before they say a word
	maxModelTests   = 4  // at once; each costs money
)

// testModel asks a model, the configured one for "", for a word. No session is made, and nothing is tried
// twice: what is wrong is the answer. Latency is the time to the first piece of
// the answer.
func (ad *Admin) testModel(ctx context.Context, ref string) (*protocol.ModelTest, error) {
	if len(ref) > completion.MaxModelRef {
		return nil, protocol.About("model", "", protocol.CodeInvalidRequest, "The name of a model has at most %d bytes.", completion.MaxModelRef)
	}
	cfg, err := ad.settings.User()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	t, _, err := ad.tried(ctx, ref, ad.settings.Resolver(cfg))
	return t, err
}

// tried asks the model of a ref for a word. Cause is the error that the test's problem was
// made of, nil where the model answers.
func (ad *Admin) tried(ctx context.Context, ref string, at resolve.Config) (t *protocol.ModelTest, cause, err error) {
	select {
	case ad.tests <- struct{}{}:
		defer func() { <-ad.tests }()
	default:
		return nil, nil, protocol.Errorf(protocol.CodeRateLimited, "%d models are being tested already; wait for one of them.", maxModelTests)
	}
	m, err := resolve.Resolve(ref, at)
	if err != nil {
		t = &protocol.ModelTest{Ref: ref, Problem: failure.Problem(err)}
		if failed := new(model.Error); errors.As(err, &failed) && failed.Class == model.ClassAuth {
			t.Code = protocol.CodeAuthFailed
		}
		return t, err, nil
	}
	limited, cancel := context.WithTimeout(ctx, modelTestTime)
	defer cancel()
	t = &protocol.ModelTest{Ref: m.Info().Ref}
	if t.LatencyMS, err = ad.firstWord(limited, m); err == nil {
		return t, nil, nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%s did not answer within %d s; it may be busy, or its address wrong", t.Ref, int(modelTestTime.Seconds()))
	}
	t.Problem = failure.Problem(err)
	var failed *model.Error
	if errors.As(err, &failed) && failed.Class == model.ClassAuth {
		t.Code = protocol.CodeAuthFailed
	}
	return t, err, nil
}

// firstWord asks for a word and reads the whole answer; it gives how long the first
// piece took, in milliseconds.
func (ad *Admin) firstWord(ctx context.Context, m model.Model) (int64, error) {
	start := ad.settings.Now()
	first := int64(-1)
	req := model.Request{Kind: model.KindStep, System: "Answer with one word.", MaxTokens: modelTestTokens, Thinking: model.ThinkingOff,
		Messages: []protocol.Message{protocol.UserText("Say ok.")}}
	for _, err := range m.Stream(ctx, req) {
		if err != nil {
			return 0, err
		}
		if first < 0 {
			first = ad.settings.Now().Sub(start).Milliseconds()
		}
	}
	if first < 0 {
		return 0, errors.New("the answer was empty")
	}
	return max(first, 0), nil
}

// handleModelTests enters the handlers of this file's requests.
func (ad *Admin) handleModelTests(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.TestModel) (protocol.Response, error) {
		return ad.testModel(ctx, r.Model)
	})
}
