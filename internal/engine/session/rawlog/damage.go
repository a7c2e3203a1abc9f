package rawlog

import (
	"bytes"
	"strconv"

	"scorel/protocol"
	"scorel/protocol/jsonscan"
)

// minMove is less than the shortest line that Scorel writes for a rewind or a branch
// has, in bytes: fewer cannot hide one.
const minMove = 128

// Damage looks through bytes that are no event, piece by piece, for what
// must not be forgotten: events that would have moved the leaf, and numbers that
// were given out.
type Damage struct {
	Moves   bool         // a compact, rewind or branch event begins in them
	said    bool         // a message stands in them
	remnant bool         // something stands in them that only events have
	place   bool         // a key stands in them that names a place to go on from
	MaxSeq  protocol.Seq // the highest number after a "seq": in them
	NUL     int64        // how many NUL bytes there are
	dirty   [2]int64     // from the first byte that no line has to after the last
	Size    int64

	start []byte // the first bytes
	carry []byte // the end of the last piece, for what spans two
}

// The longest things looked for are a "seq" with its number and the beginning of a
// message.
const damageCarry = len(`"seq":`) + 20

// startSize holds the longest name of a known type after its key.
const startSize = 48

func (d *Damage) Feed(p []byte) {
	d.findDirt(p)
	d.Size += int64(len(p))
	if len(d.start) < startSize {
		d.start = append(d.start, p[:min(len(p), startSize-len(d.start))]...)
	}
	if len(d.carry) > 0 {
		head := append(d.carry, p[:min(len(p), damageCarry)]...)
		d.look(head)
	}
	d.look(p)
	if len(p) >= damageCarry {
		d.carry = append(d.carry[:0], p[len(p)-damageCarry:]...)
		return
	}
	d.carry = append(d.carry, p...)
	if over := len(d.carry) - damageCarry; over > 0 {
		d.carry = append(d.carry[:0], d.carry[over:]...)
	}
}

// findDirt counts NULs and finds control characters, which no line has.
func (d *Damage) findDirt(p []byte) {
	for i, c := range p {
		if c >= ' ' || c == '\r' || c == '\n' {
			continue
		}
		if c == 0 {
			d.NUL++
		}
		at := d.Size + int64(i)
		if d.dirty[1] == 0 {
			d.dirty[0] = at
		}
		d.dirty[1] = at + 1
	}
}

// Doubtful reports whether a move of the leaf may have stood in the bytes, which are of
// one line, or of several whose ends are damaged.
func (d *Damage) Doubtful() bool {
	switch {
	case d.Moves:
		return true
	case d.Size < minMove && !d.remnant:
		return false
	case d.dirty[1]-d.dirty[0] >= minMove: // line ends, too, may have been in it
		return true
	}
	return !d.said && !d.startsKnown() || d.place && !bytes.HasPrefix(d.start, []byte(`{"type":"label"`))
}

// begun reports whether the bytes are what a write that was cut short leaves of an event.
func (d *Damage) begun() bool {
	const begin = `{"type":"`
	n := min(len(d.start), len(begin))
	return d.dirty[1] == 0 && string(d.start[:n]) == begin[:n]
}

// startsKnown reports whether the bytes begin as an event of a known type does.
func (d *Damage) startsKnown() bool {
	rest, ok := bytes.CutPrefix(d.start, []byte(`{"type":"`))
	if !ok {
		return false
	}
	typ, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || !bytes.HasPrefix(rest, []byte(`,"id`)) {
		return false
	}
	_, known := protocol.StoredClass(typ)
	return known // those that move were looked for
}

func (d *Damage) look(p []byte) {
	d.Moves = d.Moves || bytes.Contains(p, []byte(`{"type":"compact"`)) ||
		bytes.Contains(p, []byte(`{"type":"rewind"`)) || bytes.Contains(p, []byte(`{"type":"branch"`))
	d.place = d.place || bytes.Contains(p, []byte(`"targetEventId":`)) || bytes.Contains(p, []byte(`"leafEventId":`))
	d.remnant = d.remnant || bytes.Contains(p, []byte(`"evt_`)) || bytes.Contains(p, []byte(`"ses_`)) || bytes.Contains(p, []byte(`"crc":`))
	d.said = d.said || bytes.Contains(p, []byte(`"message":{"role":"`))
	for rest := p; ; {
		i := bytes.Index(rest, []byte(`"seq":`))
		if i < 0 {
			return
		}
		rest = rest[i+len(`"seq":`):]
		n := 0
		for n < len(rest) && n < 17 && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if seq, err := strconv.ParseUint(string(rest[:n]), 10, 64); err == nil && seq <= MaxSeq {
			d.MaxSeq = max(d.MaxSeq, protocol.Seq(seq))
		}
	}
}

// Segment is a whole event inside a line.
type Segment struct{ Start, End int }

// WholeEvents finds the events of a line: the line itself, or those that stand
// joined in it. An event after a torn one counts only when the line ended with
// a newline and the event ends with the line: something of that form inside a
// torn event is followed by the brackets of that event.
func WholeEvents(line []byte, ended bool) []Segment {
	if IsWholeEvent(line) {
		return []Segment{{0, len(line)}}
	}
	var found []Segment
	pos := 0
	for pos < len(line) && line[pos] == '{' {
		end, err := jsonscan.Value(line, pos)
		if err != nil || !IsWholeEvent(line[pos:end]) {
			break
		}
		found = append(found, Segment{pos, end})
		pos = end
	}
	if !ended {
		return found
	}
	for {
		i := bytes.Index(line[pos:], []byte(`{"type":"`))
		if i < 0 {
			return found
		}
		pos += i
		head := line[pos:min(len(line), pos+64)]
		if bytes.Contains(head, []byte(`","id":"evt_`)) && IsWholeEvent(line[pos:]) {
			return append(found, Segment{pos, len(line)})
		}
		pos++
	}
}

// IsWholeEvent reports whether line is a persistent event, checked in full.
func IsWholeEvent(line []byte) bool {
	if len(line) > protocol.MaxLine {
		return false
	}
	ev, err := protocol.ParseEvent(line)
	return err == nil && ev.ID != "" && ev.Class() != protocol.Transient && ev.Seq <= MaxSeq
}
