package jsonscan

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// BadUTF8 returns where the first bytes are that are not UTF-8, -1 when there are none.
func BadUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// HalfPair returns where the first escape of one half of a surrogate pair is, -1 when
// there is none.
func HalfPair(data []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(data[i:], '\\')
		if n < 0 {
			return -1
		}
		i += n
		switch half := surrogate(data[i:]); {
		case half == 0:
			i += min(2, len(data)-i) // any other escape; the digits of one hold no backslash
		case half < 0xdc00 && surrogate(data[i+6:]) >= 0xdc00:
			i += 12
		default:
			return i
		}
	}
}

// surrogate returns the half of a pair whose escape data begins with, 0 for anything else.
func surrogate(data []byte) uint64 {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(data[2:6]), 16, 32)
	if err != nil || n < 0xd800 || n > 0xdfff {
		return 0
	}
	return n
}

// maxName is how many bytes of a name a path has at most.
const maxName = 64

// maxPath is how many names and places a path of [PathAt] has at most.
const maxPath = 8

// PathAt returns the path of the innermost field of a JSON object in which the byte at i
// is, such as content[0].text, down to maxPath levels; "" for a byte that is in none, as
// that of a name.
func PathAt(data []byte, i int) string {
	var path strings.Builder
	for range maxPath {
		name, value, at := memberAt(data, i)
		if name == "" {
			break
		}
		path.WriteString(name)
		data, i = value, at
	}
	return strings.TrimPrefix(path.String(), ".")
}

// memberAt returns the member of an object, or the element of an array, in whose value the
// byte at i is, and where in the value.
func memberAt(data []byte, i int) (name string, within []byte, at int) {
	look := func(of string, value []byte) {
		if start := cap(data) - cap(value); start <= i && i < start+len(value) { // value is a slice of data
			name, within, at = of, value, i-start
		}
	}
	n := 0
	Elements(data, func(value []byte) {
		look(fmt.Sprintf("[%d]", n), value)
		n++
	})
	Fields(data, func(key, value []byte) { look("."+CutName(string(key)), value) })
	return name, within, at
}

// CutName returns the name of a member that a client wrote fit for an answer.
func CutName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}

// AppendString appends s as a JSON string, as encoding/json does without HTML
// escapes: U+2028 and U+2029 are escaped, bytes that are not UTF-8 replaced.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\b':
				dst = append(dst, '\\', 'b')
			case '\f':
				dst = append(dst, '\\', 'f')
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			start = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, s[start:i]...), '\\', 'u', '2', '0', '2', hex[r&15])
			start = i + n
		}
		i += n
	}
	return append(append(dst, s[start:]...), '"')
}
