package lane

import (
	"context"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
	"scorel/protocol/fold"
)

// UpdateInfo changes the session's meta.
func (l *Lane) UpdateInfo(ctx context.Context, c Caller, changes protocol.MetaChanges) error {
	if _, err := l.j.Store(ctx, &protocol.SessionInfo{Changes: changes}, c.Author()); err != nil {
		return err
	}
	if changes.Model != nil {
		l.listeners.EmitEvent("model_select", struct {
			Model string `json:"model"`
		}{*changes.Model})
	}
	if changes.ThinkingLevel != nil {
		l.listeners.EmitEvent("thinking_level_select", struct {
			Level string `json:"level"`
		}{*changes.ThinkingLevel})
	}
	return nil
}

// foldLabels returns a state the names of events, of the whole log.
func foldLabels(ctx context.Context, index *session.Index, live *protocol.Live) error {
	for e, err := range index.OfType(ctx, protocol.TypeLabel) {
		if err != nil {
			return err
		}
		if b, ok := e.Body.(*protocol.Label); ok {
			fold.Label(live, b)
		}
	}
	return nil
}

// SetLabel names an event, or removes its name.
func (l *Lane) SetLabel(ctx context.Context, c Caller, target protocol.EventID, label *string) error {
	if label != nil && len(*label) > protocol.MaxLabel {
		return protocol.About("label", "", protocol.CodeInvalidRequest, "The label has %d bytes; use at most %d.", len(*label), protocol.MaxLabel)
	}
	if !l.j.Index().Has(target) {
		return protocol.About("targetEventId", "", protocol.CodeInvalidEventID, "The session has no event %s.", target)
	}
	_, err := l.j.Store(ctx, &protocol.Label{TargetEventID: target, Label: label}, c.Author())
	return err
}

// Control appends a control event on the host's behalf, at once, also while a turn
// runs. It returns when the event is durable.
func (l *Lane) Control(ctx context.Context, body protocol.Body) (protocol.Event, error) {
	if s := body.EventSpec(); s.Class != protocol.Control || !s.AnyTime {
		return protocol.Event{}, protocol.Errorf(protocol.CodeInvalidRequest, "An event of type %s cannot be appended this way.", body.EventType())
	}
	return l.j.Store(ctx, body, journal.ByHost())
}

// Account records what a request beside the conversation has used of a model, so that
// it is in the sum of the session. It returns when that is durable.
func (l *Lane) Account(ctx context.Context, model string, usage protocol.Usage) error {
	_, err := l.j.Store(ctx, &protocol.SessionInfo{Asked: model, Usage: &usage}, journal.ByHost())
	return err
}
