package progress

import (
	"math"
	"time"
	"unicode/utf8"

	"scorel/protocol"
)

// Bounds of an event, in characters; what is longer is cut and ends with "...".
const (
	maxMessage = 1000
	maxDetail  = 2000
	maxWord    = 200 // stage, task and operation ids
)

// stamp is how times are written: RFC 3339 with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// Normalise makes an event of what was reported: what is missing or not known gets
// its default, numbers that are none are left out, the percentage is worked out, and
// the payload is cut down ([Redact]). OperationID and Sequence are the caller's to
// set when they are missing.
func Normalise(u protocol.ProcessUpdate, now time.Time) protocol.ProcessEvent {
	e := protocol.ProcessEvent{
		Version:           protocol.ProcessVersion,
		OperationID:       cut(u.OperationID, maxWord),
		ParentOperationID: cut(u.ParentOperationID, maxWord),
		TargetType:        target(u.TargetType),
		Source:            source(u.Source),
		TaskID:            cut(u.TaskID, maxWord),
		Stage:             cut(u.Stage, maxWord),
		Status:            status(u.Status),
		Level:             level(u.Level),
		Message:           cut(u.Message, maxMessage),
		Detail:            cut(u.Detail, maxDetail),
		Current:           finite(u.Current),
		Total:             finite(u.Total),
		Payload:           Redact(u.Payload),
		Timestamp:         u.Timestamp,
	}
	e.Percent = percent(finite(u.Percent), e.Current, e.Total)
	if e.Message == "" {
		e.Message = e.Stage
	}
	if e.Message == "" {
		e.Message = string(e.Status)
	}
	if _, err := time.Parse(time.RFC3339Nano, e.Timestamp); err != nil || len(e.Timestamp) > len(time.RFC3339Nano) {
		e.Timestamp = now.UTC().Format(stamp)
	}
	return e
}

// percent is what was given, else what current makes of a total above 0, rounded; from
// 0 to 100.
func percent(given, current, total *float64) *float64 {
	var p float64
	switch {
	case given != nil:
		p = *given
	case current != nil && total != nil && *total > 0:
		p = math.Round(*current / *total * 100)
	default:
		return nil
	}
	p = min(max(p, 0), 100)
	return &p
}

// finite returns a number that JSON can carry, or nil.
func finite(n *float64) *float64 {
	if n == nil || math.IsNaN(*n) || math.IsInf(*n, 0) {
		return nil
	}
	v := *n
	return &v
}

func status(s protocol.ProcessStatus) protocol.ProcessStatus {
	switch s {
	case protocol.ProcessQueued, protocol.ProcessStarted, protocol.ProcessRunning, protocol.ProcessCompleted,
		protocol.ProcessFailed, protocol.ProcessCancelled, protocol.ProcessSkipped:
		return s
	}
	return protocol.ProcessRunning
}

func level(l protocol.ProcessLevel) protocol.ProcessLevel {
	switch l {
	case protocol.ProcessDebug, protocol.ProcessInfo, protocol.ProcessWarning, protocol.ProcessError:
		return l
	}
	return protocol.ProcessInfo
}

func target(t protocol.ProcessTarget) protocol.ProcessTarget {
	switch t {
	case protocol.ProcessOfTool, protocol.ProcessOfSkill, protocol.ProcessOfSubagent, protocol.ProcessOfTask, protocol.ProcessOfRuntime:
		return t
	}
	return protocol.ProcessOfTool
}

func source(s protocol.ProcessSource) protocol.ProcessSource {
	switch s {
	case protocol.ProcessBySkill, protocol.ProcessByTool, protocol.ProcessBySubagent, protocol.ProcessByRuntime:
		return s
	}
	return protocol.ProcessByTool
}

// cut returns at most n characters of s, and "..." when there were more. Bytes that are
// no UTF-8 are replaced.
func cut(s string, n int) string {
	if len(s) > n {
		count := 0
		for i := range s {
			if count == n {
				s = s[:i] + "..."
				break
			}
			count++
		}
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return s
}
