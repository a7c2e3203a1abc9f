package background

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What is kept of the output of one command, in bytes.
const (
	headBytes = 32 << 10  // the first
	tailBytes = 256 << 10 // the newest after those
)

// output keeps both ends of what a command prints. It grows to its bounds and
// no further.
type output struct {
	head []byte
	ring []byte // the newest bytes after head; once full, the oldest is at at
	at   int
	size int64 // of all that was printed
}

func (o *output) write(p []byte) {
	o.size += int64(len(p))
	if room := headBytes - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head, p = append(o.head, p[:n]...), p[n:]
	}
	for len(p) > 0 {
		if room := tailBytes - len(o.ring); room > 0 {
			n := min(room, len(p))
			o.ring, p = append(o.ring, p[:n]...), p[n:]
			continue
		}
		n := copy(o.ring[o.at:], p)
		o.at, p = (o.at+n)%tailBytes, p[n:]
	}
}

// part is a range of the output as far as it is kept: first and second with
// lost bytes between them. From is where it begins.
type part struct {
	from          int64
	first, second []byte
	lost          int64
}

// read returns the output from one place to another; both are kept within what
// there is.
func (o *output) read(from, to int64) part {
	to = max(0, min(to, o.size))
	from = max(0, min(from, to))
	head, tail := int64(len(o.head)), o.size-int64(len(o.ring))
	p := part{from: from}
	if from < head {
		p.first = append(p.first, o.head[from:min(head, to)]...)
	}
	begin := max(from, head)
	if begin < tail {
		p.lost = min(tail, to) - begin
	}
	if begin = max(begin, tail); begin < to {
		skip := int(begin - tail)
		n := int(to - begin)
		if at := o.at + skip; at < len(o.ring) {
			piece := o.ring[at:min(at+n, len(o.ring))]
			p.second = append(p.second, piece...)
			skip, n = 0, n-len(piece)
		} else {
			skip = at - len(o.ring)
		}
		p.second = append(p.second, o.ring[skip:skip+n]...)
	}
	if p.lost <= 0 {
		p.first, p.second, p.lost = append(p.first, p.second...), nil, 0
	}
	return p
}

// whole returns the end of the last whole character, or, for lines, of the last
// whole line, so that what is still being printed is not torn. A line that is
// longer than maxLine counts as whole.
func (o *output) whole(lines bool) int64 {
	p := o.read(o.size-maxLine, o.size)
	all := append(p.first, p.second...)
	if lines {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i] == '\n' {
				return o.size - int64(len(all)-1-i)
			}
		}
		if len(all) < maxLine {
			return 0
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(all); n++ {
		if c := all[len(all)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(all[len(all)-n:]) {
				return o.size - int64(n)
			}
			break
		}
	}
	return o.size
}

// newest returns the newest output, at most most bytes and whole lines where there are any,
// and how many bytes were printed before it.
func (o *output) newest(most int64) (text []byte, omitted int64) {
	p := o.read(o.size-most, o.whole(false))
	text, omitted = p.first, p.from
	if p.lost > 0 {
		text, omitted = p.second, p.from+int64(len(p.first))+p.lost
	}
	if omitted == 0 {
		return text, 0
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 && i+1 < len(text) {
		text, omitted = text[i+1:], omitted+int64(i)+1
	}
	return text, omitted
}

// grep keeps the lines that match and says how many do and how many do not.
func (p part) grep(re *regexp.Regexp) (kept part, yes, no int) {
	filter := func(text []byte) []byte {
		var out []byte
		for line := range strings.Lines(string(text)) {
			if re.MatchString(strings.TrimRight(line, "\r\n")) {
				out = append(out, line...)
				yes++
			} else {
				no++
			}
		}
		return out
	}
	return part{from: p.from, first: filter(p.first), second: filter(p.second), lost: p.lost}, yes, no
}

// text returns what is kept, with the middle cut so that at most about most
// characters remain.
func (p part) text(most int) string {
	if p.lost == 0 {
		all := Fold(clean(p.first))
		if utf8.RuneCountInString(all) <= most {
			return all
		}
		head, tail := firstRunes(all, most/2), lastRunes(all, most/2)
		return fmt.Sprintf("%s\n[... %d bytes are left out here ...]\n%s", head, len(all)-len(head)-len(tail), tail)
	}
	head, tail := firstRunes(Fold(clean(p.first)), most/2), lastRunes(Fold(clean(p.second)), most/2)
	gone := p.lost + int64(len(p.first)+len(p.second)-len(head)-len(tail))
	return strings.TrimPrefix(fmt.Sprintf("%s\n[... %d bytes are left out here; %d of them are not kept ...]\n%s", head, gone, p.lost, tail), "\n")
}

// clean makes text of output: bytes that are not text, and NUL, are replaced.
func clean(p []byte) string {
	s := strings.ToValidUTF8(string(p), "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

func lastRunes(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

// bytesOf returns how many bytes the first n characters of p take; a byte that is
// no text counts as one.
func bytesOf(p []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(p); n-- {
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return at
}
