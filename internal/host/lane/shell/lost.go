package shell

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// maxLost bounds the commands of people that a killed host has left without a word and of
// which the session is told, the newest.
const maxLost = 16

// fold returns the commands that a host which died has left in the middle.
func fold(ctx context.Context, index *session.Index) ([]protocol.ShellRun, error) {
	var lost []protocol.ShellRun
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return nil, err
		}
		var run protocol.ShellRun
		b, ok := e.Body.(*protocol.Custom)
		if !ok || b.Kind != protocol.ShellKind || json.Unmarshal(b.Data, &run) != nil || run.SessionID != index.SessionID() ||
			run.EventID.Check() != nil || index.Has(run.EventID) {
			continue
		}
		lost = append(lost, run)
	}
	return lost[max(0, len(lost)-maxLost):], nil
}

// AppendLost says of the commands that an earlier host left in the middle that nobody
// knows how they went. The journal is locked.
func (s *Shells) AppendLost(ctx context.Context) error {
	for len(s.lost) > 0 {
		run := s.lost[0]
		body := messageOf(protocol.ShellResult{Command: run.Command, InContext: run.InContext, Lost: true},
			"[The host stopped while this ran. It may have taken effect; what it printed is lost.]")
		if _, _, err := s.j.Append(ctx, body, journal.Author{Client: protocol.HostClient, ID: run.EventID}); err != nil {
			return err
		}
		s.lost = s.lost[1:]
	}
	return nil
}
