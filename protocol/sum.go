package protocol

import (
	"bytes"
	"hash/crc32"

	"scorel/protocol/jsonscan"
)

// Two members let a reader find damage that leaves a line valid, and lines that are
// missing. Both are written by [Event.SealAfter] and by nobody else.
//
// prev, an integer after ts, is the highest seq of the events before this one in
// the log, 0 in the first. It is checked only above [Header.CopiedThrough].
//
// crc is always the last member, written `,"crc":"0123abcd"}`: eight lower-case
// hexadecimal digits. They are the CRC-32C (Castagnoli: RFC 3720, B.4) of the bytes of
// the line, without its line end, and without
//
//   - the value of its first top-level sessionId, quotes included, so that a copy in
//     another session keeps the sum;
//   - the crc member and the comma before it.
//
// A line that has neither member was written by an older version: nothing is known of
// it, and it never counts as damaged.

// Sum returns what the checksum of a line says of it.
type Sum int

// The answers of a checksum.
const (
	SumUnknown Sum = iota // the line has none
	SumRight              // the line is as it was written
	SumWrong              // the line has changed since, or lacks its checksum
)

// sumMember is the shape of the member that a sum is in, with the end of the line.
const sumMember = `,"crc":"00000000"}`

// castagnoli is made when it is first needed; the standard library shares it.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// checksum sums a line up to end, the place where its closing brace (or the comma of
// its crc member) stands, without the bytes from a to b.
func checksum(line []byte, a, b, end int) uint32 {
	t := castagnoli()
	sum := ^crc32.Update(crc32.Update(0, t, line[:a]), t, line[b:end])
	return ^(t[byte(sum)^'}'] ^ sum>>8) // the closing brace
}

// appendSum puts the crc member into a line whose value of sessionId stands from a to b.
func appendSum(line []byte, a, b int) []byte {
	const hex = "0123456789abcdef"
	sum := checksum(line, a, b, len(line)-1)
	line = append(line[:len(line)-1], sumMember...)
	digits := line[len(line)-len(`00000000"}`):]
	for i := range 8 {
		digits[i] = hex[sum>>(28-4*i)&15]
	}
	return line
}

// sumOf reads the checksum of a line; ok is false where it has none in its place.
func sumOf(line []byte) (sum uint32, ok bool) {
	at := len(line) - len(sumMember)
	if at < 0 || line[len(line)-1] != '}' || line[len(line)-2] != '"' || !bytes.HasPrefix(line[at:], []byte(sumMember[:8])) {
		return 0, false
	}
	for _, c := range line[at+8 : at+16] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		sum = sum<<4 | uint32(c)
	}
	return sum, true
}

// Sum compares a line with its checksum. k holds the keys of that line.
func (k *Keys) Sum(line []byte) Sum {
	sum, ok := sumOf(line)
	switch {
	case !ok && k.HasPrev && len(k.ID) > 0:
		return SumWrong // both members are written together
	case !ok:
		return SumUnknown
	case k.session[1] == 0:
		return SumWrong // what is written has a session
	case checksum(line, k.session[0], k.session[1], len(line)-len(sumMember)) != sum:
		return SumWrong
	}
	return SumRight
}

// HeaderSum compares line 0 of a log, which has a crc of the same form, with it. A header
// that is not a JSON object is wrong.
func HeaderSum(line []byte) Sum {
	sum, ok := sumOf(line)
	switch {
	case !ok && bytes.Contains(line, []byte(`,"crc":`)):
		return SumWrong
	case !ok:
		return SumUnknown
	}
	from, to := sessionMember(line)
	if to == 0 || checksum(line, from, to, len(line)-len(sumMember)) != sum {
		return SumWrong
	}
	return SumRight
}

// sealHeader puts the crc member into a header's line.
func sealHeader(line []byte) []byte {
	from, to := sessionMember(line)
	return appendSum(line, from, to)
}

// sessionMember returns where the value of sessionId begins and ends, 0 and 0 when the line
// has none.
func sessionMember(line []byte) (from, to int) {
	for m := jsonscan.NewMembers(line); m.Next(); {
		if string(m.Key) == "sessionId" {
			return m.At, m.At + len(m.Value)
		}
	}
	return 0, 0
}
