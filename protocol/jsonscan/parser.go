package jsonscan

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Parser reads one JSON value from its beginning to its end, and checks it in full. Each
// method reads what comes next, after white space, and returns false for what it does not
// read; the parser is of no use then. It reads what encoding/json reads in the same way, or
// not at all: null and escapes of surrogates are left to that.
//
// Without a [Memory] strings and raw values of the result are parts of the data, which must
// not be changed afterwards; with one they are copied to it.
type Parser struct {
	data   []byte
	text   string
	pos    int
	memory *Memory // where the result is copied to, or nil
}

// NewParser returns a parser of data; memory may be nil.
func NewParser(data []byte, memory *Memory) Parser {
	return Parser{data: data, text: unsafe.String(unsafe.SliceData(data), len(data)), memory: memory}
}

// Ended reports whether only white space is left.
func (p *Parser) Ended() bool {
	p.space()
	return p.pos == len(p.data)
}

func (p *Parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// eat takes one byte after white space.
func (p *Parser) eat(c byte) bool {
	if p.pos < len(p.data) && p.data[p.pos] == c {
		p.pos++
		return true
	}
	p.space()
	if p.pos < len(p.data) && p.data[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// Peek returns the next byte that is not white space, 0 at the end.
func (p *Parser) Peek() byte {
	p.space()
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

// Object reads an object; value reads the value of each key.
func (p *Parser) Object(value func(key string) bool) bool {
	if !p.eat('{') {
		return false
	}
	if p.eat('}') {
		return true
	}
	for {
		p.space()
		key, _, ok := p.token()
		if !ok || !p.eat(':') || !value(key) {
			return false
		}
		if p.eat(',') {
			continue
		}
		return p.eat('}')
	}
}

// List reads an array; value reads each element.
func (p *Parser) List(value func() bool) bool {
	if !p.eat('[') {
		return false
	}
	if p.eat(']') {
		return true
	}
	for {
		if !value() {
			return false
		}
		if p.eat(',') {
			continue
		}
		return p.eat(']')
	}
}

// String reads a string.
func (p *Parser) String() (string, bool) {
	s, shared, ok := p.token()
	if shared && p.memory != nil {
		s = p.memory.copy(s)
	}
	return s, ok
}

// Word is String for a field that mostly has one of some values.
func (p *Parser) Word(values ...string) (string, bool) {
	s, shared, ok := p.token()
	for _, v := range values {
		if s == v {
			return v, ok
		}
	}
	if shared && p.memory != nil {
		s = p.memory.copy(s)
	}
	return s, ok
}

// token is String without a copy: shared reports that the result is part of text.
func (p *Parser) token() (s string, shared, ok bool) {
	if !p.eat('"') {
		return "", false, false
	}
	n, ascii := plain(p.data[p.pos:])
	i := p.pos + n
	if i == len(p.data) {
		return "", false, false
	}
	switch p.data[i] {
	case '"':
		s := p.text[p.pos:i]
		p.pos = i + 1
		return s, true, ascii || utf8.ValidString(s)
	case '\\':
		s, ok := p.escaped(p.pos, i)
		return s, false, ok
	}
	return "", false, false
}

// plain returns how many bytes at the start of b stand for themselves in a JSON string, and
// whether these are ASCII. It looks at eight bytes at once, since most of a log is text:
// in each of the three words below the lowest bit that is set belongs to the first byte
// that is a control character, a quote or a backslash.
func plain(b []byte) (n int, ascii bool) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	var beyond uint64
	for ; n+8 <= len(b); n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, back := x^'"'*ones, x^'\\'*ones
		special := ((x-0x20*ones)&^x | (quote-ones)&^quote | (back-ones)&^back) & tops
		if special != 0 {
			at := bits.TrailingZeros64(special) / 8
			return n + at, (beyond|x&(1<<(8*at)-1))&tops == 0
		}
		beyond |= x
	}
	for ; n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= 0x20; n++ {
		beyond |= uint64(b[n])
	}
	return n, beyond&tops == 0
}

// escaped reads on in a string at its first backslash.
func (p *Parser) escaped(start, i int) (string, bool) {
	end, err := String(p.data, start-1)
	if err != nil {
		return "", false
	}
	var out []byte
	if p.memory != nil {
		out = p.memory.room(end - start)
	} else {
		out = make([]byte, 0, end-start)
	}
	out = append(out, p.data[start:i]...)
	for i < len(p.data) {
		switch c := p.data[i]; {
		case c == '"':
			p.pos = i + 1
			valid := utf8.Valid(out)
			if p.memory != nil {
				return p.memory.take(out), valid
			}
			return unsafe.String(unsafe.SliceData(out), len(out)), valid
		case c < 0x20 || i+1 >= len(p.data):
			return "", false
		}
		i += 2
		switch e := p.data[i-1]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			if i+4 > len(p.data) {
				return "", false
			}
			n, ok := hex4(p.data[i : i+4])
			if !ok || n >= 0xd800 && n < 0xe000 {
				return "", false
			}
			out = utf8.AppendRune(out, n)
			i += 4
		default:
			return "", false
		}
		n, _ := plain(p.data[i:])
		out = append(out, p.data[i:i+n]...)
		i += n
	}
	return "", false
}

func hex4(b []byte) (rune, bool) {
	var n rune
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | rune(c)
	}
	return n, true
}

// Bool reads true or false.
func (p *Parser) Bool() (value, ok bool) {
	p.space()
	rest := p.text[p.pos:]
	switch {
	case strings.HasPrefix(rest, "true"):
		p.pos += len("true")
		return true, true
	case strings.HasPrefix(rest, "false"):
		p.pos += len("false")
		return false, true
	}
	return false, false
}

// number returns the text of a number that has the form of JSON.
func (p *Parser) number() (string, bool) {
	p.space()
	start := p.pos
	digits := func() bool {
		from := p.pos
		for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
			p.pos++
		}
		return p.pos > from
	}
	at := func(set string) bool {
		if p.pos < len(p.data) && strings.IndexByte(set, p.data[p.pos]) >= 0 {
			p.pos++
			return true
		}
		return false
	}
	at("-")
	if !at("0") && !digits() {
		return "", false
	}
	if at(".") && !digits() {
		return "", false
	}
	if at("eE") {
		at("+-")
		if !digits() {
			return "", false
		}
	}
	return p.text[start:p.pos], true
}

// Int reads a number that fits an int.
func (p *Parser) Int(dst *int) bool {
	s, ok := p.number()
	if !ok {
		return false
	}
	n, err := strconv.Atoi(s)
	*dst = n
	return err == nil
}

// Float reads a number that fits a float64.
func (p *Parser) Float(dst *float64) bool {
	s, ok := p.number()
	if !ok {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	*dst = n
	return err == nil
}

// Raw reads any valid value but null, as it is written.
func (p *Parser) Raw(dst *json.RawMessage) bool {
	if p.Peek() == 'n' {
		return false
	}
	start := p.pos
	if !p.skip(0) {
		return false
	}
	raw := p.data[start:p.pos:p.pos]
	if p.memory != nil {
		raw = append(p.memory.room(len(raw)), raw...)
		p.memory.take(raw)
	}
	*dst = json.RawMessage(raw)
	return true
}

// Skip reads any value.
func (p *Parser) Skip() bool { return p.skip(0) }

func (p *Parser) skip(depth int) bool {
	if depth > MaxDepth {
		return false
	}
	switch c := p.Peek(); {
	case c == '"':
		return p.skipText()
	case c == '{':
		p.pos++
		if p.eat('}') {
			return true
		}
		for {
			if p.space(); !p.skipText() || !p.eat(':') || !p.skip(depth+1) {
				return false
			}
			if !p.eat(',') {
				return p.eat('}')
			}
		}
	case c == '[':
		p.pos++
		if p.eat(']') {
			return true
		}
		for {
			if !p.skip(depth + 1) {
				return false
			}
			if !p.eat(',') {
				return p.eat(']')
			}
		}
	case c == 't' || c == 'f':
		_, ok := p.Bool()
		return ok
	case c == 'n':
		if !strings.HasPrefix(p.text[p.pos:], "null") {
			return false
		}
		p.pos += len("null")
		return true
	}
	_, ok := p.number()
	return ok
}

// skipText is String without its result. Bytes that are not UTF-8 are valid
// for encoding/json, so they are here.
func (p *Parser) skipText() bool {
	if !p.eat('"') {
		return false
	}
	for i := p.pos; ; {
		n, _ := plain(p.data[i:])
		if i += n; i == len(p.data) {
			return false
		}
		switch c := p.data[i]; {
		case c == '"':
			p.pos = i + 1
			return true
		case c < 0x20 || i+1 >= len(p.data):
			return false
		}
		i += 2
		switch p.data[i-1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			if i+4 > len(p.data) {
				return false
			}
			if _, ok := hex4(p.data[i : i+4]); !ok {
				return false
			}
			i += 4
		default:
			return false
		}
	}
}
