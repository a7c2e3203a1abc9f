package library

import (
	"context"
	"errors"

	"scorel/internal/engine/session"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// searchSessions looks through all sessions.
func (lib *Library) searchSessions(ctx context.Context, r *protocol.SearchSessions) (*protocol.SearchResult, error) {
	out := &protocol.SearchResult{Sessions: []protocol.FoundSession{}}
	q := session.Search{Words: r.Words, ProjectID: r.ProjectID, MatchCase: r.MatchCase, Limit: r.Limit}
	for found, err := range lib.store.Search(ctx, q) {
		switch {
		case errors.Is(err, session.ErrQuery):
			return nil, protocol.About("words", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		case err != nil && found.SessionID == "":
			return nil, err
		case errors.Is(err, session.ErrPartly):
			if len(out.Damaged) < maxUnreadable {
				out.Damaged = append(out.Damaged, found.SessionID)
			}
		case err != nil:
			if len(out.Unreadable) < maxUnreadable {
				out.Unreadable = append(out.Unreadable, found.SessionID)
			}
		default:
			out.Sessions = append(out.Sessions, found)
		}
	}
	hits := 0
	for _, f := range out.Sessions {
		hits += len(f.Hits)
	}
	out.More = hits >= limitOf(r.Limit)
	return out, nil
}

// maxUnreadable bounds the sessions that an answer names because they could not
// be searched.
const maxUnreadable = 100

// limitOf is the limit that a search goes by.
func limitOf(limit int) int {
	if limit == 0 {
		return session.DefaultHits
	}
	return limit
}

// handleSearch enters the handlers of this file's requests.
func (lib *Library) handleSearch(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.SearchSessions) (protocol.Response, error) {
		return lib.searchSessions(ctx, r)
	})
}
