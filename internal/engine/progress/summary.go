package progress

import (
	"slices"

	"scorel/protocol"
)

// What a summary keeps of the events that were sent.
const (
	keptFirst = 10
	keptLast  = 40
	// maxSummary bounds its events, in bytes; the oldest of the last ones go first.
	maxSummary = 256 << 10
)

// kept gathers a summary.
type kept struct {
	first []protocol.ProcessEvent
	last  []protocol.ProcessEvent // a ring when it is full
	next  int                     // in last
}

func (k *kept) add(e protocol.ProcessEvent) {
	switch {
	case len(k.first) < keptFirst:
		k.first = append(k.first, e)
	case len(k.last) < keptLast:
		k.last = append(k.last, e)
	default:
		k.last[k.next] = e
		k.next = (k.next + 1) % keptLast
	}
}

func (k *kept) summary(ref *protocol.ProcessLogRef) *protocol.ProcessSummary {
	s := &protocol.ProcessSummary{LogRef: ref}
	s.Events = slices.Concat(k.first, k.last[k.next:], k.last[:k.next])
	total := 0
	for i := range s.Events {
		total += size(&s.Events[i])
	}
	for total > maxSummary && len(s.Events) > 1 {
		i := min(len(k.first), len(s.Events)-2)
		total -= size(&s.Events[i])
		s.Events = slices.Delete(s.Events, i, i+1)
	}
	if n := len(s.Events); n > 0 {
		latest := s.Events[n-1]
		s.Latest = &latest
	}
	return s
}

// size is about what an event takes on the wire, in bytes.
func size(e *protocol.ProcessEvent) int {
	return 256 + len(e.OperationID) + len(e.ParentOperationID) + len(e.TaskID) + len(e.Stage) + len(e.Message) + len(e.Detail) + len(e.Payload)
}
