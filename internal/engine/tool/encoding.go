package tool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText returns a file's text without its byte order mark, and how to make a
// file of it again. UTF-16 is recognised by its mark. Bytes that are not valid
// UTF-8 stay as they are. A file with NUL bytes is not text.
func decodeText(data []byte) (text string, encode func(string) ([]byte, error), err error) {
	if order := utf16Order(data); order != nil {
		text := string(fromUTF16(data[2:], order))
		encode := func(s string) ([]byte, error) { return toUTF16(s, order), nil }
		if again := toUTF16(text, order); !bytes.Equal(again, data) {
			return "", nil, errors.New("it is damaged UTF-16, which cannot be edited without loss")
		}
		return text, encode, nil
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", nil, errors.New("it is a binary file, which cannot be edited as text")
	}
	if rest, ok := bytes.CutPrefix(data, []byte(bom)); ok {
		return string(rest), func(s string) ([]byte, error) { return append([]byte(bom), s...), nil }, nil
	}
	return string(data), func(s string) ([]byte, error) { return []byte(s), nil }, nil
}

// utf16Order returns the byte order that a UTF-16 mark says, nil without one.
func utf16Order(data []byte) binary.AppendByteOrder {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	return nil
}

func unit(order binary.AppendByteOrder, b []byte) uint16 {
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		return binary.LittleEndian.Uint16(b)
	}
	return binary.BigEndian.Uint16(b)
}

func fromUTF16(data []byte, order binary.AppendByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = unit(order, data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

func toUTF16(s string, order binary.AppendByteOrder) []byte {
	out := order.AppendUint16(make([]byte, 0, 2*len(s)+2), 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	r     io.Reader
	order binary.AppendByteOrder
	out   []byte // not yet given
	carry []byte // bytes of a unit or pair that is not complete
	err   error
}

// Read implements [io.Reader].
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 && u.err == nil {
		buf := make([]byte, 4096)
		n := copy(buf, u.carry)
		m, err := u.r.Read(buf[n:])
		buf, u.err = buf[:n+m], err
		keep := len(buf) % 2
		if even := len(buf) - keep; err == nil && even >= 2 && utf16.IsSurrogate(rune(unit(u.order, buf[even-2:]))) {
			if high := unit(u.order, buf[even-2:]); high < 0xdc00 {
				keep += 2
			}
		}
		u.carry = bytes.Clone(buf[len(buf)-keep:])
		u.out = fromUTF16(buf[:len(buf)-keep], u.order)
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	if n == 0 && len(u.out) == 0 {
		return 0, u.err
	}
	return n, nil
}

// validator makes a stream of pieces valid UTF-8 without NUL: a character that
// is cut between two pieces is held back, invalid bytes and NULs become U+FFFD.
type validator struct{ held []byte }

func (v *validator) next(p []byte) []byte {
	data := append(v.held, p...)
	v.held = nil
	if whole := wholeRunes(data); whole < len(data) {
		v.held = bytes.Clone(data[whole:])
		data = data[:whole]
	}
	return valid(data)
}

// rest returns what is held back at the end.
func (v *validator) rest() []byte {
	held := v.held
	v.held = nil
	return valid(held)
}

func valid(data []byte) []byte {
	if bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) {
		return data
	}
	const replacement = "\uFFFD"
	return bytes.ReplaceAll(bytes.ToValidUTF8(data, []byte(replacement)), []byte{0}, []byte(replacement))
}
