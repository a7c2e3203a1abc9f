package protocol

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckText returns why JSON data is no text that can be stored as it was sent: bytes that
// are no UTF-8, or an escape for one half of a surrogate pair, which is no character
// (RFC 8259, section 8.2). The JSON decoder of Go replaces both silently. What names the
// data in the sentence. Whether the data is JSON at all is left to [NotJSON].
func CheckText(what string, data []byte) *Problem {
	if i := badUTF8(data); i >= 0 {
		return &Problem{fieldAt(data, i), fmt.Sprintf("The %s is not valid UTF-8: something is wrong at byte %d of %d.", what, i, len(data))}
	}
	if i := halfPair(data); i >= 0 {
		return &Problem{fieldAt(data, i), fmt.Sprintf("The %s holds %s at byte %d, one half of a surrogate pair, which is no character; write both halves, or the character itself.", what, data[i:i+6], i)}
	}
	return nil
}

// badUTF8 returns where the first bytes are that are no UTF-8, -1 when there are none.
func badUTF8(data []byte) int {
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

// halfPair returns where the first escape of one half of a surrogate pair is, -1 when
// there is none.
func halfPair(data []byte) int {
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

// maxPath is how many names and places a path of [fieldAt] has at most.
const maxPath = 8

// fieldAt returns the path of the innermost field of a JSON object in which the byte at i
// is, such as content[0].text, down to maxPath levels; "" for a byte that is in none, as
// that of a name.
func fieldAt(data []byte, i int) string {
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
	eachElement(data, func(value []byte) {
		look(fmt.Sprintf("[%d]", n), value)
		n++
	})
	eachField(data, func(key, value []byte) { look("."+cutName(string(key)), value) })
	return name, within, at
}

// cutName makes the name of a member that a client wrote fit for an answer.
func cutName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), MaxWord)], "")
}

// eachElement calls do with the values of a JSON array, which is valid, in their order.
func eachElement(data []byte, do func(value []byte)) {
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '[' {
		return
	}
	for i = skipSpace(data, i+1); i < len(data) && data[i] != ']'; i = skipSpace(data, i+1) {
		end, err := skipValue(data, i)
		if err != nil {
			return
		}
		do(data[i:end])
		if i = skipSpace(data, end); i >= len(data) || data[i] != ',' {
			return
		}
	}
}
