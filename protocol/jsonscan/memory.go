package jsonscan

import "unsafe"

// A piece of a [Memory], in bytes, and how long a text is that gets its own.
const (
	pieceSize = 32 << 10
	ownSize   = pieceSize / 8
)

// Memory is where texts are copied to, one after the other: what stays of data that is read
// through is what was taken of it. It is freed in pieces of 32 KiB, when nobody has a part of
// one any more. Texts of 4 KiB and more get a piece of their own.
//
// The zero value is ready to use. A Memory is not safe for concurrent use.
type Memory struct {
	free []byte // of the piece that is being filled
}

// room returns n bytes, of which [Memory.take] takes what is used; append goes no further.
func (m *Memory) room(n int) []byte {
	if n >= ownSize {
		return make([]byte, 0, n)
	}
	if n > len(m.free) {
		m.free = make([]byte, pieceSize)
	}
	return m.free[:0:n]
}

// take returns the text that was written into what room returned.
func (m *Memory) take(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	s := unsafe.String(unsafe.SliceData(text), len(text))
	if cap(text) < ownSize { // it is the beginning of free
		m.free = m.free[len(text):]
	}
	return s
}

// copy returns a text that is not part of the line.
func (m *Memory) copy(text string) string {
	return m.take(append(m.room(len(text)), text...))
}
