package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	engine "scorel/internal/engine/runtime"
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
)

// errNoAuxiliary says that the user has chosen no auxiliary model: what would ask it
// is not done.
var errNoAuxiliary = protocol.Errorf(protocol.CodeInvalidRequest, "There is no auxiliary model; set auxiliary.model in config.toml.")

// complete asks a model once, beside the conversation of a session: the model of that
// reference, by the user's own configuration, or the auxiliary one for "", without
// which it fails with errNoAuxiliary; another model never takes its place. The answer
// is whole. What it used goes into the session's sum and diagnostics, where nothing of
// what was asked or answered stands. It waits while too many are being asked.
func (h *Host) complete(ctx context.Context, id protocol.SessionID, ref string, req model.Request) (protocol.Message, error) {
	cfg, err := h.userConfig()
	if err != nil {
		return protocol.Message{}, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if ref == "" {
		if ref = cfg.Auxiliary.Model; ref == "" {
			return protocol.Message{}, errNoAuxiliary
		}
	}
	if len(ref) > maxModelRef {
		return protocol.Message{}, protocol.Errorf(protocol.CodeInvalidRequest, "The name of a model has at most %d bytes.", maxModelRef)
	}
	m, err := resolve.Resolve(ref, h.resolver(cfg))
	if err != nil {
		return protocol.Message{}, providerError(err)
	}
	return h.completeWith(ctx, id, m, req)
}

// completeWith is complete with a model that is known already.
func (h *Host) completeWith(ctx context.Context, id protocol.SessionID, m model.Model, req model.Request) (protocol.Message, error) {
	answer, err := h.askAside(ctx, id, m, req)
	if err == nil {
		h.account(id, m.Info().Ref, *answer.Usage)
	}
	return answer, err
}

// account adds what was used to the session's sum, when the session is open: it is
// never opened for that.
func (h *Host) account(id protocol.SessionID, model string, usage protocol.Usage) {
	h.mu.Lock()
	s := h.lanes[id]
	if h.closed || s == nil || s.gone != nil || !s.opened() {
		h.mu.Unlock()
		return
	}
	s.refs++
	h.unlinger(s)
	h.mu.Unlock()
	defer h.release(s)
	if err := s.lane.Account(h.beside, model, usage); err != nil {
		h.report(id, "record what "+model+" has used: "+err.Error(), nil)
	}
}

// askAside asks, and tells the diagnostics what that used.
func (h *Host) askAside(ctx context.Context, id protocol.SessionID, m model.Model, req model.Request) (protocol.Message, error) {
	if err := fits(m.Info(), &req); err != nil {
		return protocol.Message{}, err
	}
	if err := h.completing.enter(ctx); err != nil {
		return protocol.Message{}, err
	}
	defer h.completing.leave()
	limited, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	req.SessionID = id
	answer, err := engine.Complete(limited, engine.Completion{Model: m, Tries: completionTries, Rand: h.cfg.Rand, Sleep: h.cfg.Sleep, Silence: h.cfg.Silence}, req)
	name := m.Info().Ref
	switch {
	case err == nil:
		u := answer.Usage
		h.report(id, fmt.Sprintf("asked %s beside the conversation: %d tokens in, %d out, $%.4f", name,
			u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens, u.OutputTokens, u.CostUSD), nil)
		return answer, nil
	case ctx.Err() != nil:
		return protocol.Message{}, ctx.Err()
	case limited.Err() != nil:
		err = protocol.Errorf(protocol.CodeProviderError, "%s did not answer within %d minutes.", name, int(completionTime.Minutes()))
	}
	h.report(id, "asked "+name+" beside the conversation, without an answer: "+err.Error(), nil)
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

// auxiliaryNotice says what is wrong with the auxiliary model, "" for nothing: nobody
// sees its requests, so nobody would see that there are none.
func (h *Host) auxiliaryNotice(cfg config.Config) string {
	switch {
	case cfg.Auxiliary.Model != "":
		if _, err := resolve.Resolve(cfg.Auxiliary.Model, h.resolver(cfg)); err != nil {
			return "auxiliary.model: " + problem(err)
		}
	case cfg.Auxiliary.Summaries:
		return "auxiliary.summaries does nothing without auxiliary.model."
	case cfg.Memory.Consolidate:
		return "memory.consolidate does nothing without auxiliary.model."
	}
	return ""
}

// summariser gives what makes the summaries of compactions, nil for the session's own
// model: the auxiliary one does only where the user wants that.
func (h *Host) summariser(id protocol.SessionID, cfg config.Config) func(context.Context, model.Request) (protocol.Message, error) {
	if !cfg.Auxiliary.Summaries || cfg.Auxiliary.Model == "" {
		return nil
	}
	return func(ctx context.Context, req model.Request) (protocol.Message, error) {
		m, err := resolve.Resolve(cfg.Auxiliary.Model, h.resolver(cfg))
		if err != nil {
			return protocol.Message{}, providerError(err)
		}
		return h.askAside(ctx, id, m, req) // the event of the compaction says what was used
	}
}

// completionPlaces bounds how many requests go on at once, and how many wait for that.
type completionPlaces struct{ running, all chan struct{} }

func newPlaces() completionPlaces {
	return completionPlaces{make(chan struct{}, maxCompletions), make(chan struct{}, maxCompletions+maxWaitingCompletions)}
}

// enter waits for a place; leave gives it back.
func (p completionPlaces) enter(ctx context.Context) error {
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

func (p completionPlaces) leave() {
	<-p.running
	<-p.all
}
