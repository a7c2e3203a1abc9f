package session

import (
	"bytes"
	"strconv"

	"scorel/protocol"
)

// damageScan looks through bytes that are no event, piece by piece, for what
// must not be forgotten: events that would have moved the leaf, and numbers that
// were given out.
type damageScan struct {
	moves  bool         // a compact, rewind or branch event begins in them
	maxSeq protocol.Seq // the highest number behind a "seq": in them
	nul    int64        // how many NUL bytes there are
	size   int64

	carry []byte // the end of the last piece, for what spans two
}

// The longest thing looked for is a "seq" with its number.
const damageCarry = len(`"seq":`) + 20

func (d *damageScan) feed(p []byte) {
	d.size += int64(len(p))
	d.nul += int64(bytes.Count(p, []byte{0}))
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

func (d *damageScan) look(p []byte) {
	d.moves = d.moves || bytes.Contains(p, []byte(`{"type":"compact"`)) ||
		bytes.Contains(p, []byte(`{"type":"rewind"`)) || bytes.Contains(p, []byte(`{"type":"branch"`))
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
		if seq, err := strconv.ParseUint(string(rest[:n]), 10, 64); err == nil && seq <= maxSeq {
			d.maxSeq = max(d.maxSeq, protocol.Seq(seq))
		}
	}
}

// segment is a whole event inside a line.
type segment struct{ start, end int }

// wholeEvents finds the events of a line: the line itself, or those that stand
// joined in it. An event behind a torn one counts only when the line ended with
// a newline and the event ends with the line: something of that form inside a
// torn event is followed by the brackets of that event.
func wholeEvents(line []byte, ended bool) []segment {
	if isWholeEvent(line) {
		return []segment{{0, len(line)}}
	}
	var found []segment
	pos := 0
	for pos < len(line) && line[pos] == '{' {
		n := objectEnd(line[pos:])
		if n < 0 || !isWholeEvent(line[pos:pos+n]) {
			break
		}
		found = append(found, segment{pos, pos + n})
		pos += n
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
		if bytes.Contains(head, []byte(`","id":"evt_`)) && isWholeEvent(line[pos:]) {
			return append(found, segment{pos, len(line)})
		}
		pos++
	}
}

// isWholeEvent says whether line is a persistent event, checked in full.
func isWholeEvent(line []byte) bool {
	if len(line) > protocol.MaxLine {
		return false
	}
	ev, err := protocol.ParseEvent(line)
	return err == nil && ev.ID != "" && ev.Class() != protocol.Transient && ev.Seq <= maxSeq
}

// objectEnd gives the length of the JSON object at the start of b, -1 if it does
// not end. It looks at brackets and strings only.
func objectEnd(b []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
