package publish

import (
	"sort"
	"time"

	"scorel/protocol"
)

// maxRing bounds the events that a publisher keeps for its cursors, in bytes.
// The oldest go first; a cursor that missed them goes on from the log.
const maxRing = 2 << 20

// maxInRing is the largest persistent event that is kept whole in the ring, in
// bytes; of a larger one only its envelope is, which says where the log has it.
const maxInRing = 256 << 10

// Bytes that events count as.
const (
	transientSize = 256 // a transient one besides what it carries
	placeSize     = 256 // one that is in the ring as its place in the log
)

// keepRing is how long the ring is kept after the last turn. A client that comes
// back later goes on from the log, and an idle session holds no events.
const keepRing = 60 * time.Second

// ring holds the newest events in the order of seq.
type ring struct {
	slots []slot
	head  int // the first slot that counts; those before it are empty
	bytes int
	// passed is the highest seq that is no longer here.
	passed protocol.Seq
}

// slot is an event with what it counts as, in bytes.
type slot struct {
	event protocol.Event
	size  int
}

func (r *ring) add(e protocol.Event, size int) {
	if size > maxInRing && !e.IsTransient() {
		e, size = protocol.Event{Envelope: e.Envelope}, placeSize
	}
	r.slots = append(r.slots, slot{e, size})
	r.bytes += size
	for r.bytes > maxRing && r.head < len(r.slots)-1 {
		r.passed = r.slots[r.head].event.Seq
		r.bytes -= r.slots[r.head].size
		r.slots[r.head] = slot{}
		r.head++
	}
	if r.head > len(r.slots)/2 { // so each event is moved once at most
		n := copy(r.slots, r.slots[r.head:])
		clear(r.slots[n:])
		r.slots, r.head = r.slots[:n], 0
	}
}

// batch returns a copy of the events after a seq and not after another, as many as
// go into one frame: at least one if there is any, and a large one alone.
func (r *ring) batch(after, through protocol.Seq) []protocol.Event {
	all := r.slots[r.head:]
	all = all[sort.Search(len(all), func(i int) bool { return all[i].event.Seq > after }):]
	n, bytes := 0, 0
	for n < len(all) && n < BatchEvents && all[n].event.Seq <= through {
		place := all[n].event.Body == nil
		if bytes += all[n].size; n > 0 && (place || bytes > BatchBytes) {
			break
		}
		if n++; place {
			break
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]protocol.Event, n)
	for i := range out {
		out[i] = all[i].event
	}
	return out
}

// Size is what an event counts as where events are bounded by bytes: about its
// length on the wire.
func Size(e protocol.Event) int {
	if raw := e.Raw(); raw != nil {
		return len(raw)
	}
	switch b := e.Body.(type) { // of what comes often, or carries nothing
	case *protocol.TextDelta:
		return transientSize + len(b.Delta)
	case *protocol.ThinkingDelta:
		return transientSize + len(b.Delta)
	case *protocol.ToolCallDelta:
		return transientSize + len(b.Delta)
	case *protocol.ToolExecutionUpdate:
		return transientSize + len(b.Partial)
	case nil, *protocol.MessageStart, *protocol.MessageCancelled, *protocol.ToolExecutionEnd, *protocol.TurnStart, *protocol.TurnEnd,
		*protocol.RuntimeStart, *protocol.PermissionResolved, *protocol.UIResolved:
		return transientSize
	}
	sealed, err := e.Seal()
	if err != nil { // whoever sends it says so
		return transientSize
	}
	return max(len(sealed.Raw()), transientSize)
}
