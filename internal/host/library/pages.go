package library

import (
	"context"
	"unicode/utf8"

	"scorel/internal/host/registry"
	"scorel/protocol"
)

// Pages of events.
const (
	defaultPage = 200
	maxPage     = 2000
	// maxPageBytes ends a page of events: with its last event it fits into what a
	// client takes as one message.
	maxPageBytes = 4 << 20
	// summaryBytes is what a session in a list has beside its texts, about.
	summaryBytes = 500
)

func page(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, maxPage)
}

func (lib *Library) getPath(ctx context.Context, id protocol.SessionID, r *protocol.GetPath) (*protocol.Events, error) {
	index, report, done, err := lib.reader.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	leaf := r.LeafID
	if leaf == "" {
		leaf = index.Leaf()
	}
	out := &protocol.Events{Events: []protocol.Event{}, LeafID: index.Leaf()}
	from := leaf
	if r.BeforeID == "" {
		if out.Findings, err = registry.Lost(ctx, index, report); err != nil {
			return nil, err
		}
	} else {
		if from, err = index.Parent(r.BeforeID); err != nil {
			return nil, err
		}
	}
	bytes := 0
	for e, err := range index.Back(ctx, from) {
		if err != nil {
			return nil, err
		}
		if len(out.Events) == page(r.Limit) || bytes >= maxPageBytes {
			out.More = true
			if out.Older, err = index.Depth(e.ID); err != nil {
				return nil, err
			}
			break
		}
		if e, ok := Sendable(e); ok {
			out.Events = append(out.Events, e)
			bytes += len(e.Raw())
		}
	}
	return out, nil
}

// Sendable returns an event of the log as it can be sent: bytes that are not UTF-8 are
// replaced. It is false for one whose line is damaged inside, which is told to
// nobody; the report of the session names it.
func Sendable(e protocol.Event) (protocol.Event, bool) {
	raw := e.Raw()
	if raw == nil || utf8.Valid(raw) {
		return e, raw != nil
	}
	e, err := protocol.ParseEvent([]byte(string([]rune(string(raw))))) // as session.Index.After does
	return e, err == nil
}

func (lib *Library) getTree(ctx context.Context, id protocol.SessionID, r *protocol.GetTree) (*protocol.Events, error) {
	index, report, done, err := lib.reader.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	out := &protocol.Events{Events: []protocol.Event{}, LeafID: index.Leaf()}
	onPath, err := index.OnPath(out.LeafID)
	if err != nil {
		return nil, err
	}
	if r.AfterSeq == 0 {
		if out.Findings, err = registry.Lost(ctx, index, report); err != nil {
			return nil, err
		}
	}
	bytes := 0
	for e, err := range index.EventsAfter(ctx, r.AfterSeq) {
		if err != nil {
			return nil, err
		}
		if len(out.Events) == page(r.Limit) || bytes >= maxPageBytes {
			out.More = true
			break
		}
		if onPath(e.ID) {
			out.Active = append(out.Active, len(out.Events))
		}
		out.Events = append(out.Events, e)
		bytes += len(e.Raw())
	}
	return out, nil
}
