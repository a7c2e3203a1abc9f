package serve

import (
	"fmt"
	"strconv"
	"strings"

	"scorel/protocol"
)

// maxPlace bounds a Last-Event-ID, in bytes.
const maxPlace = 128

// place is where a reader of events stands; it is the id of a server-sent event:
// <epoch>.<seq>.<persistentSeq>.<eventId>. The epoch is "-" while the reader is still
// catching up, when its seq says nothing of the stream; the eventId is "-" before the
// first persistent event.
type place struct {
	epoch      protocol.Epoch // "" while catching up
	seq        protocol.Seq   // of the newest event
	persistent protocol.Seq   // of the newest persistent event
	id         protocol.EventID
}

// String gives the id of a server-sent event.
func (p place) String() string {
	return strings.Join([]string{orDash(string(p.epoch)), strconv.FormatUint(uint64(p.seq), 10),
		strconv.FormatUint(uint64(p.persistent), 10), orDash(string(p.id))}, ".")
}

// parsePlace reads what String gave.
func parsePlace(s string) (place, error) {
	bad := fmt.Errorf("the Last-Event-ID %s is not the id of an event that this host sent", shown(s))
	parts := strings.Split(s, ".")
	if len(s) > maxPlace || len(parts) != 4 {
		return place{}, bad
	}
	seq, err := strconv.ParseUint(parts[1], 10, 64)
	if err != nil {
		return place{}, bad
	}
	persistent, err := strconv.ParseUint(parts[2], 10, 64)
	if err != nil {
		return place{}, bad
	}
	p := place{seq: protocol.Seq(seq), persistent: protocol.Seq(persistent)}
	if parts[0] != "-" {
		// An epoch has the form of an event's id.
		rest, ok := strings.CutPrefix(parts[0], "epo_")
		if !ok || protocol.EventID("evt_"+rest).Check() != nil {
			return place{}, bad
		}
		p.epoch = protocol.Epoch(parts[0])
	}
	if parts[3] != "-" {
		if p.id = protocol.EventID(parts[3]); p.id.Check() != nil {
			return place{}, bad
		}
	}
	return p, nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// anchors gives the place as a client of the device says it.
func (p place) anchors(device protocol.DeviceID) *protocol.Anchors {
	return &protocol.Anchors{DeviceID: device, StreamEpoch: p.epoch, StreamLastSeq: p.seq, PersistentLastSeq: p.persistent, PersistentLastID: p.id}
}

// resync moves the place to the beginning of a subscription, or of a new one of its
// beginnings.
func (p *place) resync(mode protocol.Resync) {
	switch mode {
	case protocol.StreamResume:
	case protocol.PersistentFallback:
		p.epoch = ""
	default:
		*p = place{}
	}
}

// event moves the place behind an event.
func (p *place) event(e protocol.Event) {
	p.seq = e.Seq
	if !e.IsTransient() {
		p.persistent, p.id = e.Seq, e.ID
	}
}

// live moves the place to a live state.
func (p *place) live(l *protocol.Live) {
	*p = place{l.StreamEpoch, l.ThroughSeq, l.PersistentLastSeq, l.PersistentLastID}
}
