package engine

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// MaxNesting bounds JSON that comes from outside.
const MaxNesting = 1_000

var errJSON = errors.New("it is not valid JSON")

// Parse makes a value of JSON, as JSON.parse does, but refuses nesting deeper than
// MaxNesting, where the interpreter's own parser would end the process, and keeps lone
// surrogates. It is five times as fast.
func (e *Engine) Parse(data []byte) (goja.Value, error) {
	p := reader{vm: e.VM, data: data}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at != len(data) {
		return nil, errJSON
	}
	return v, nil
}

// Same says that a value is what Parse makes of the JSON, with its keys in the same
// order. It may say no of values that are the same, where numbers or objects are written
// in an unusual way.
func (e *Engine) Same(v goja.Value, data []byte) (same bool) {
	defer func() {
		if recover() != nil { // a getter threw
			same = false
		}
	}()
	p := reader{vm: e.VM, data: data}
	if !p.same(v, 0) {
		return false
	}
	p.space()
	return p.at == len(data)
}

// reader reads JSON (RFC 8259).
type reader struct {
	vm   *goja.Runtime
	data []byte
	at   int
}

func (p *reader) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next returns the first byte of what comes, 0 at the end.
func (p *reader) next() byte {
	p.space()
	if p.at == len(p.data) {
		return 0
	}
	return p.data[p.at]
}

// take takes a sign if it comes next.
func (p *reader) take(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *reader) word(s string) bool {
	if len(p.data)-p.at < len(s) || string(p.data[p.at:p.at+len(s)]) != s {
		return false
	}
	p.at += len(s)
	return true
}

func (p *reader) value(depth int) (goja.Value, error) {
	if depth > MaxNesting {
		return nil, fmt.Errorf("the JSON is nested more than %d levels deep", MaxNesting)
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.text()
		if err != nil {
			return nil, err
		}
		return s.value(p.vm), nil
	case c == 't' && p.word("true"):
		return p.vm.ToValue(true), nil
	case c == 'f' && p.word("false"):
		return p.vm.ToValue(false), nil
	case c == 'n' && p.word("null"):
		return goja.Null(), nil
	}
	f, err := p.number()
	if err != nil {
		return nil, err
	}
	if i := int64(f); float64(i) == f && (i != 0 || !math.Signbit(f)) {
		return p.vm.ToValue(i), nil
	}
	return p.vm.ToValue(f), nil
}

func (p *reader) object(depth int) (goja.Value, error) {
	p.at++
	o := p.vm.NewObject()
	if p.take('}') {
		return o, nil
	}
	for {
		if p.next() != '"' {
			return nil, errJSON
		}
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, errJSON
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		name := key.value(p.vm).String()
		if name == "__proto__" { // a field like others, not the prototype
			err = o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		} else {
			err = o.Set(name, v)
		}
		if err != nil {
			return nil, err
		}
		if p.take(',') {
			continue
		}
		if p.take('}') {
			return o, nil
		}
		return nil, errJSON
	}
}

func (p *reader) array(depth int) (goja.Value, error) {
	p.at++
	var items []any
	if p.take(']') {
		return p.vm.NewArray(), nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if p.take(',') {
			continue
		}
		if p.take(']') {
			return p.vm.NewArray(items...), nil
		}
		return nil, errJSON
	}
}

func (p *reader) number() (float64, error) {
	from := p.at
	digits := func() bool {
		n := p.at
		for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
			p.at++
		}
		return p.at > n
	}
	is := func(c byte) bool {
		if p.at < len(p.data) && p.data[p.at] == c {
			p.at++
			return true
		}
		return false
	}
	is('-')
	if !is('0') && !digits() {
		return 0, errJSON
	}
	if is('.') && !digits() {
		return 0, errJSON
	}
	if is('e') || is('E') {
		if !is('+') {
			is('-')
		}
		if !digits() {
			return 0, errJSON
		}
	}
	f, err := strconv.ParseFloat(string(p.data[from:p.at]), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // JavaScript takes Infinity then
		return 0, errJSON
	}
	return f, nil
}

// jsonText is a text: units where it has a lone surrogate.
type jsonText struct {
	s     string
	units []uint16
}

func (t jsonText) value(vm *goja.Runtime) goja.Value {
	if t.units != nil {
		return goja.StringFromUTF16(t.units)
	}
	return vm.ToValue(t.s)
}

// text reads a text; the next byte is its quote.
func (p *reader) text() (jsonText, error) {
	p.at++
	from := p.at
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '"':
			s := p.data[from:p.at]
			p.at++
			if !utf8.Valid(s) {
				return jsonText{}, errJSON
			}
			return jsonText{s: string(s)}, nil
		case c == '\\':
			return p.escaped(from)
		case c < ' ':
			return jsonText{}, errJSON
		}
		p.at++
	}
	return jsonText{}, errJSON
}

// escaped reads on a text that has escapes.
func (p *reader) escaped(from int) (jsonText, error) {
	buf := append([]byte(nil), p.data[from:p.at]...)
	var units []uint16 // once there is a lone surrogate
	flush := func() {
		if units != nil {
			units = append(units, utf16.Encode([]rune(string(buf)))...)
			buf = buf[:0]
		}
	}
	for p.at < len(p.data) {
		c := p.data[p.at]
		p.at++
		switch {
		case c == '"':
			if !utf8.Valid(buf) {
				return jsonText{}, errJSON
			}
			if flush(); units != nil {
				return jsonText{units: units}, nil
			}
			return jsonText{s: string(buf)}, nil
		case c < ' ':
			return jsonText{}, errJSON
		case c != '\\':
			buf = append(buf, c)
			continue
		}
		if p.at == len(p.data) {
			return jsonText{}, errJSON
		}
		c = p.data[p.at]
		p.at++
		switch c {
		case '"', '\\', '/':
			buf = append(buf, c)
		case 'b':
			buf = append(buf, '\b')
		case 'f':
			buf = append(buf, '\f')
		case 'n':
			buf = append(buf, '\n')
		case 'r':
			buf = append(buf, '\r')
		case 't':
			buf = append(buf, '\t')
		case 'u':
			u, ok := p.hex()
			if !ok {
				return jsonText{}, errJSON
			}
			r := rune(u)
			if utf16.IsSurrogate(r) {
				before := p.at
				if p.word(`\u`) {
					low, ok := p.hex()
					if !ok {
						return jsonText{}, errJSON
					}
					if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
						buf = utf8.AppendRune(buf, pair)
						continue
					}
					p.at = before
				}
				if !utf8.Valid(buf) {
					return jsonText{}, errJSON
				}
				if units == nil {
					units = []uint16{}
				}
				flush()
				units = append(units, u)
				continue
			}
			buf = utf8.AppendRune(buf, r)
		default:
			return jsonText{}, errJSON
		}
	}
	return jsonText{}, errJSON
}

func (p *reader) hex() (uint16, bool) {
	if len(p.data)-p.at < 4 {
		return 0, false
	}
	var u uint16
	for range 4 {
		c := p.data[p.at]
		p.at++
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
		u = u<<4 | uint16(c)
	}
	return u, true
}

// same reads a value and compares it on the way.
func (p *reader) same(v goja.Value, depth int) bool {
	if v == nil || depth > MaxNesting {
		return false
	}
	switch c := p.next(); c {
	case '{':
		return p.sameObject(v, depth)
	case '[':
		return p.sameArray(v, depth)
	case '"':
		s, err := p.text()
		if err != nil || s.units != nil {
			return false
		}
		own, ok := v.(goja.String)
		return ok && own.String() == s.s
	case 't', 'f', 'n':
		was, err := p.value(depth)
		return err == nil && was.StrictEquals(v)
	}
	f, err := p.number()
	if err != nil {
		return false
	}
	switch n := v.Export().(type) {
	case int64:
		return float64(n) == f
	case float64:
		return n == f
	}
	return false
}

func (p *reader) sameObject(v goja.Value, depth int) bool {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Object" {
		return false
	}
	keys := o.Keys()
	p.at++
	if p.take('}') {
		return len(keys) == 0
	}
	for i := 0; ; i++ {
		if i == len(keys) || p.next() != '"' {
			return false
		}
		key, err := p.text()
		if err != nil || key.units != nil || key.s != keys[i] || !p.take(':') || !p.same(o.Get(key.s), depth+1) {
			return false
		}
		if p.take(',') {
			continue
		}
		return p.take('}') && i+1 == len(keys)
	}
}

func (p *reader) sameArray(v goja.Value, depth int) bool {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return false
	}
	n := int(o.Get("length").ToInteger())
	p.at++
	if p.take(']') {
		return n == 0
	}
	for i := 0; ; i++ {
		if i == n || !p.same(o.Get(strconv.Itoa(i)), depth+1) {
			return false
		}
		if p.take(',') {
			continue
		}
		return p.take(']') && i+1 == n
	}
}
