package registry

import (
	"context"
	"fmt"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/lane"
)

// maxFindings is how many findings are told when a session is opened.
const maxFindings = 10

// Findings returns what the log has lost: what was found when it was opened, or when it was
// opened before and nobody has gone on since.
func (s *Session) Findings() []string {
	if found := toldOf(s.report); len(found) > 0 {
		return found
	}
	return oneOrNone(s.lane.Damage())
}

// Lost is findings of a log that is only read.
func Lost(ctx context.Context, index *session.Index, report health.Report) ([]string, error) {
	if found := toldOf(report); len(found) > 0 {
		return found, nil
	}
	text, err := lane.Lost(ctx, index)
	return oneOrNone(text), err
}

func oneOrNone(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// toldOf returns what was found in a log, at most [maxFindings] sentences and their number.
func toldOf(report health.Report) []string {
	found := report.Sentences()
	if more := len(found) - maxFindings; more > 0 {
		found = append(found[:maxFindings:maxFindings], fmt.Sprintf("%d more findings; verify the session to see them", more))
	}
	return found
}
