package lane

import (
	"context"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// Compact summarises the older part of the context.
func (h *turnHost) Compact(ctx context.Context, why runtime.Why, summarise runtime.Summarise) error {
	if h.t.summary != nil && h.t.summary.leave != nil {
		return h.leaveBranch(ctx, summarise)
	}
	t := h.t
	decision, err := h.compactDecision(why)
	if err != nil {
		return err
	}
	if err := h.catchUp(ctx); err != nil {
		return err
	}
	w := window(t.config, t.view.system)
	c, err := t.view.builder.Build(ctx, h.leaf(), w)
	if err != nil {
		return err
	}
	cut, ok := history.Plan(c, w, decision == history.CompactHarder)
	if !ok {
		t.view.progress.Compacted(decision, c.Tokens, c.Tokens, w)
		return nil
	}
	text, usage := cut.PreviousSummary, protocol.Usage{}
	says, err := h.askCompact(ctx, why, &cut)
	switch {
	case err != nil:
		return err
	case says.Cancelled && why == runtime.Asked:
		return cancelledCompaction(says)
	case says.Cancelled && why == runtime.Refused:
		return &model.Error{Class: model.ClassTooLong, Message: cancelledCompaction(says).Error()}
	case says.Cancelled: // as one that frees nothing: it is not tried again at once
		t.view.progress.Compacted(history.CompactHarder, c.Tokens, c.Tokens, w)
		return nil
	case says.Summary != "":
		text = says.Summary
	case !cut.Reuse: // else nothing new would go into the summary
		if text, usage, err = summarise(ctx, history.SummaryRequest(cut, says.Instructions)); err != nil {
			return err
		}
	}
	body := cut.Event(text, &usage)
	if err := h.appendCompact(ctx, body); err != nil {
		return err
	}
	t.view.progress.Compacted(decision, body.TokensBefore, body.TokensAfter, w)
	return h.l.refresh(t) // what the model has seen of files went with the summary
}

// compactDecision is how much is to be summarised.
func (h *turnHost) compactDecision(why runtime.Why) (history.Decision, error) {
	switch why {
	case runtime.DueHarder:
		return history.CompactHarder, nil
	case runtime.Refused:
		decision := h.t.view.progress.TooLong()
		if decision == history.GiveUp {
			return decision, &model.Error{Class: model.ClassTooLong, Message: h.t.view.progress.Reason()}
		}
		return decision, nil
	}
	return history.Compact, nil
}

// appendCompact appends a compaction, for who has asked for it.
func (h *turnHost) appendCompact(ctx context.Context, body *protocol.Compact) error {
	s, a := h.t.summary, journal.ByHost()
	if s != nil {
		a = s.by.Author()
	}
	id, err := h.appendAs(ctx, a, body)
	if err == nil && s != nil {
		s.compacted = &protocol.Compacted{EventID: id, TokensBefore: body.TokensBefore, TokensAfter: body.TokensAfter}
	}
	return err
}

// askCompact asks the hooks before a compaction.
func (h *turnHost) askCompact(ctx context.Context, why runtime.Why, cut *history.Cut) (hook.CompactAnswer, error) {
	reason, note := "threshold", ""
	if h.t.summary != nil {
		note = h.t.summary.note
	}
	switch why {
	case runtime.Asked:
		reason = "manual"
	case runtime.Refused:
		reason = "overflow"
	}
	return h.t.config.Hooks.BeforeCompact(ctx, hook.Compaction{Reason: reason, Instructions: note, Tokens: cut.TokensBefore,
		Messages: cut.Summarise, FirstKept: cut.FirstKept(), Previous: cut.PreviousSummary})
}

// cancelledCompaction is the error of a compaction that was asked for, or that is
// needed, and that a hook does not want.
func cancelledCompaction(a hook.CompactAnswer) error {
	if a.Reason == "" {
		return protocol.Errorf(protocol.CodePermissionDenied, "%s cancelled the compaction.", a.From)
	}
	return protocol.Errorf(protocol.CodePermissionDenied, "%s cancelled the compaction: %s", a.From, a.Reason)
}
