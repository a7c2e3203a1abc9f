package completion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// Bounds of requests beside conversations: each costs money and nobody watches it.
const (
	maxCompletions        = 4 // at once, a host
	maxWaitingCompletions = 64
	completionTries       = 4
	completionTime        = 5 * time.Minute // with its tries
	maxCompletionBytes    = 4 << 20         // of text
	completionTokens      = 8192            // of an answer, unless the request says otherwise
	MaxModelRef           = 512             // bytes of the name of a model
)

// ErrNoAuxiliary says that the user has chosen no auxiliary model: what would ask it
// is not done.
var ErrNoAuxiliary = protocol.Errorf(protocol.CodeInvalidRequest, "There is no auxiliary model; set auxiliary.model in config.toml.")

// Complete asks a model once, beside the conversation of a session: the model of that
// reference, by the user's own configuration, or the auxiliary one for "", without
// which it fails with [ErrNoAuxiliary]; another model never takes its place. The answer
// is whole. What it used goes into the session's sum and diagnostics, where nothing of
// what was asked or answered stands. It waits while too many are being asked.
func (a *Asker) Complete(ctx context.Context, id protocol.SessionID, ref string, req model.Request) (protocol.Message, error) {
	m, err := a.Model(ref)
	if err != nil {
		return protocol.Message{}, err
	}
	return a.CompleteWith(ctx, id, m, req)
}

// Model returns the model that Complete asks for a reference.
func (a *Asker) Model(ref string) (model.Model, error) {
	cfg, err := a.settings.User()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if ref == "" {
		if ref = cfg.Auxiliary.Model; ref == "" {
			return nil, ErrNoAuxiliary
		}
	}
	if len(ref) > MaxModelRef {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The name of a model has at most %d bytes.", MaxModelRef)
	}
	m, err := resolve.Resolve(ref, a.settings.Resolver(cfg))
	if err != nil {
		return nil, failure.OfModel(err)
	}
	return m, nil
}

// CompleteWith is complete with a model that is known already.
func (a *Asker) CompleteWith(ctx context.Context, id protocol.SessionID, m model.Model, req model.Request) (protocol.Message, error) {
	answer, err := a.AskUncounted(ctx, id, m, req)
	if err == nil {
		a.accounts.Account(id, m.Info().Ref, *answer.Usage)
	}
	return answer, err
}

// AskUncounted is CompleteWith without the sum of the session: somebody else counts what it
// used.
func (a *Asker) AskUncounted(ctx context.Context, id protocol.SessionID, m model.Model, req model.Request) (protocol.Message, error) {
	if err := fits(m.Info(), &req); err != nil {
		return protocol.Message{}, err
	}
	if err := a.places.enter(ctx); err != nil {
		return protocol.Message{}, err
	}
	defer a.places.leave()
	limited, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	req.SessionID = id
	answer, err := engine.Complete(limited, engine.Completion{Model: m, Tries: completionTries, Rand: a.settings.Rand, Sleep: a.settings.Sleep, Silence: a.settings.Silence}, req)
	name := m.Info().Ref
	switch {
	case err == nil:
		u := answer.Usage
		a.log.Report(id, fmt.Sprintf("asked %s beside the conversation: %d tokens in, %d out, $%.4f", name,
			u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens, u.OutputTokens, u.CostUSD), nil)
		return answer, nil
	case ctx.Err() != nil:
		return protocol.Message{}, ctx.Err()
	case limited.Err() != nil:
		err = protocol.Errorf(protocol.CodeProviderError, "%s did not answer within %d minutes.", name, int(completionTime.Minutes()))
	}
	a.log.Report(id, "asked "+name+" beside the conversation, without an answer: "+err.Error(), nil)
	var me *model.Error
	if errors.As(err, &me) {
		err = protocol.Errorf(protocol.CodeProviderError, "%s", me.Message)
	}
	return protocol.Message{}, err
}

// fits refuses a request that cannot be answered and gives it a limit for the answer.
func fits(info model.Info, req *model.Request) error {
	size := len(req.System)
	for _, m := range req.Messages {
		for _, b := range m.Content {
			size += len(b.Text) + len(b.Thinking) + len(b.Input)
		}
	}
	if len(req.Messages) == 0 {
		return protocol.Errorf(protocol.CodeInvalidRequest, "A request for a model needs at least one message.")
	}
	if size > maxCompletionBytes {
		return protocol.Errorf(protocol.CodePayloadTooLarge, "A request beside a conversation may have at most %d bytes of text; this one has %d.", maxCompletionBytes, size)
	}
	if req.MaxTokens <= 0 {
		req.MaxTokens = completionTokens
	}
	if most := info.MaxTokens; most > 0 && req.MaxTokens > most {
		req.MaxTokens = most
	}
	if tokens := model.EstimateRequest(*req); info.ContextWindow > 0 && tokens+req.MaxTokens > info.ContextWindow {
		return protocol.Errorf(protocol.CodePayloadTooLarge, "The request has about %d tokens, and with %d for the answer the window of %s holds %d; send less.",
			tokens, req.MaxTokens, info.Ref, info.ContextWindow)
	}
	return nil
}

// places bounds how many requests go on at once, and how many wait for that.
type places struct{ running, all chan struct{} }

func newPlaces() places {
	return places{make(chan struct{}, maxCompletions), make(chan struct{}, maxCompletions+maxWaitingCompletions)}
}

// enter waits for a place; leave gives it back.
func (p places) enter(ctx context.Context) error {
	select {
	case p.all <- struct{}{}:
	default:
		return protocol.Errorf(protocol.CodeRateLimited, "%d requests beside conversations wait already; try again later.", maxWaitingCompletions)
	}
	select {
	case p.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		<-p.all
		return ctx.Err()
	}
}

func (p places) leave() {
	<-p.running
	<-p.all
}
