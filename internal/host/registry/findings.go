package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/lane"
)

// maxFindings is how many findings are told when a session is opened.
const maxFindings = 10

// Findings returns what the log has lost: what was found when it was opened, and when it was
// opened before and nobody has gone on since.
func (s *Session) Findings() []string { return with(s.lane.Damage(), s.report) }

// Lost is findings of a log that is only read.
func Lost(ctx context.Context, index *session.Index, report health.Report) ([]string, error) {
	text, err := lane.Lost(ctx, index)
	return with(text, report), err
}

// with returns what a report has, after what an earlier opening has told.
func with(told string, report health.Report) []string {
	found := toldOf(report)
	earlier := strings.TrimSpace(strings.TrimSuffix(told, report.Summary()))
	if earlier == "" {
		return found
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f string) bool { return strings.Contains(earlier, f) })
	return append([]string{earlier}, found...)
}

// toldOf returns what was found in a log, at most [maxFindings] sentences and their number.
func toldOf(report health.Report) []string {
	found := report.Sentences()
	if more := len(found) - maxFindings; more > 0 {
		found = append(found[:maxFindings:maxFindings], fmt.Sprintf("%d more findings; verify the session to see them", more))
	}
	return found
}
