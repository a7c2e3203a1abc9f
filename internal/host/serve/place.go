package serve

import (
	"fmt"
	"strconv"
	"strings"

	"scorel/protocol"
)

// maxPlace bounds a place in a Last-Event-ID, in bytes.
const maxPlace = 128

// place is where a reader of events stands; it is the id of a server-sent event:
// <epoch>.<seq>.<persistentSeq>.<eventId>. The epoch is "-" while the reader is still
// catching up, when its seq says nothing of the stream; the eventId is "-" before the
// first persistent event.
type place struct {
	session    protocol.SessionID
	epoch      protocol.Epoch // "" while catching up
	seq        protocol.Seq   // of the newest event
	persistent protocol.Seq   // of the newest persistent event
	id         protocol.EventID
	// reload is set between the beginning and the end of a full reload. The events in
	// between are a choice: no place among them says what a reader holds, so it has none,
	// and a reader that is cut off there begins the reload again.
	reload bool
}

// none reports whether the reader holds nothing that it could go on from.
func (p place) none() bool { return p.reload || p == place{session: p.session} }

// String returns the id of a server-sent event.
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

// places are where a reader of several sessions stands. As the id of a server-sent event
// they are written <sessionId>=<place>, with commas in between.
type places []place

// of returns the place in a session, nil in one that is not followed.
func (all places) of(id protocol.SessionID) *place {
	for i := range all {
		if all[i].session == id {
			return &all[i]
		}
	}
	return nil
}

// text returns the id of a server-sent event; named says that the sessions stand in it. It is
// empty when the reader has no place in any session.
func (all places) text(named bool) string {
	var parts []string
	for _, p := range all {
		switch {
		case p.none(): // it begins again
		case !named:
			return p.String()
		default:
			parts = append(parts, string(p.session)+"="+p.String())
		}
	}
	return strings.Join(parts, ",")
}

// parse moves the places to where text says. Of a session that is not followed any more
// it says nothing.
func (all places) parse(id string, named bool) error {
	if !named {
		p, err := parsePlace(id)
		p.session = all[0].session
		all[0] = p
		return err
	}
	parts := strings.Split(id, ",")
	if len(parts) > maxFollowed {
		return fmt.Errorf("the Last-Event-ID names %d sessions; one request can follow %d", len(parts), maxFollowed)
	}
	for _, part := range parts {
		session, rest, _ := strings.Cut(part, "=")
		p, err := parsePlace(rest)
		if err != nil {
			return err
		}
		if at := all.of(protocol.SessionID(session)); at != nil {
			p.session = at.session
			*at = p
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// anchors returns the place as a client of the device says it.
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
		*p = place{session: p.session, reload: true}
	}
}

// event moves the place after an event.
func (p *place) event(e protocol.Event) {
	p.seq = e.Seq
	if !e.IsTransient() {
		p.persistent, p.id = e.Seq, e.ID
	}
}

// live moves the place to a live state.
func (p *place) live(l *protocol.Live) {
	*p = place{session: p.session, epoch: l.StreamEpoch, seq: l.ThroughSeq, persistent: l.PersistentLastSeq, id: l.PersistentLastID}
}
