package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// findingsKind is the kind of the control event that keeps what an import found, for the
// answer to a repeat of its request.
const findingsKind = protocol.OwnKind + "import"

// Bounds of the findings of an import that are kept.
const (
	maxKeptFindings = 20
	maxFindingBytes = 500 // of one
)

// findings is the data of that event. The id tells it from one that came with a copy of
// the session.
type findings struct {
	SessionID protocol.SessionID `json:"sessionId"`
	Findings  []string           `json:"findings"`
}

// boundFindings is a list of so many sentences; a last one counts the others.
func boundFindings(id protocol.SessionID, all []string, most int) []string {
	var out []string
	for i, f := range all {
		if i == most {
			return append(out, fmt.Sprintf("%d more were found; scorel sessions verify %s names what is wrong", len(all)-i, id))
		}
		if len(f) > maxFindingBytes {
			f = strings.ToValidUTF8(f[:maxFindingBytes], "") + "…"
		}
		out = append(out, f)
	}
	return out
}

// keepFindings stores what an import found.
func (ts *Transfers) keepFindings(ctx context.Context, id protocol.SessionID, found []string) error {
	if len(found) == 0 {
		return nil
	}
	data, err := json.Marshal(findings{id, found})
	if err != nil {
		return err
	}
	s, err := ts.sessions.Acquire(ctx, id)
	if err != nil {
		return err
	}
	defer ts.sessions.Release(s)
	_, err = s.Lane().Control(ctx, &protocol.Custom{Kind: findingsKind, Data: data})
	return err
}

// FoundOnImport returns what the import found that made the session.
func FoundOnImport(ctx context.Context, index *session.Index) ([]string, error) {
	var found []string
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return nil, err
		}
		var f findings
		if b, ok := e.Body.(*protocol.Custom); ok && b.Kind == findingsKind && json.Unmarshal(b.Data, &f) == nil && f.SessionID == index.SessionID() {
			found = f.Findings
		}
	}
	return found, nil
}
