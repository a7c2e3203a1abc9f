package fuzzy

import (
	"slices"
	"strings"
	"sync"
)

// Bounds of a list; what is added beyond them cannot be found.
const (
	MaxPaths = 300_000
	MaxBytes = 32 << 20 // of all paths; a list holds them twice
)

// List is the paths of one tree.
type List struct {
	text  string   // all paths, one after the other
	small string   // the same with ASCII letters in lower case, which is what is searched
	ends  []uint32 // where each ends
	masks []uint64 // what letters each has, see maskOf
	cut   bool
}

// Len returns how many paths there are.
func (l *List) Len() int { return len(l.ends) }

// Cut reports that there are paths that are not in the list.
func (l *List) Cut() bool { return l.cut }

// path returns a path, as it is and with ASCII letters in lower case.
func (l *List) path(i int) (path, small string) {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]], l.small[start:l.ends[i]]
}

// Builder gathers the paths of a list. The zero value is empty.
type Builder struct {
	mu    sync.Mutex
	text  []byte
	ends  []uint32
	masks []uint64
	cut   bool
}

// Add adds a path with slashes, relative to the tree. It is false when the bounds
// are reached: then nothing more need be added.
func (b *Builder) Add(path string) bool {
	mask := maskOf(path)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ends) >= MaxPaths || len(b.text)+len(path) > MaxBytes {
		b.cut = true
	}
	if b.cut {
		return false
	}
	b.text = append(b.text, path...)
	b.ends = append(b.ends, uint32(len(b.text)))
	b.masks = append(b.masks, mask)
	return true
}

// List returns what was added.
func (b *Builder) List() *List {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.copy()
}

// SoFar returns what has been added until now, as a list that says that it is cut.
func (b *Builder) SoFar() *List {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.copy()
	l.cut = true
	return l
}

// copy returns what there is, with mu held.
func (b *Builder) copy() *List {
	small := make([]byte, len(b.text))
	for i, c := range b.text {
		small[i] = lower(c)
	}
	return &List{text: string(b.text), small: string(small), ends: slices.Clone(b.ends), masks: slices.Clone(b.masks), cut: b.cut}
}

// Bits of a mask after those of the letters (0 to 25) and digits (26 to 35).
const (
	maskDot, maskLine, maskDash, maskSlash = 1 << 36, 1 << 37, 1 << 38, 1 << 39
	maskWide                               = 1 << 40 // any byte of a character that is not ASCII
	maskOther                              = 1 << 41
)

// maskOf returns which characters a text has. A text can only be found in one whose
// mask has all bits of its own.
func maskOf(s string) (mask uint64) {
	for i := range len(s) {
		switch c := lower(s[i]); {
		case c >= 'a' && c <= 'z':
			mask |= 1 << (c - 'a')
		case c >= '0' && c <= '9':
			mask |= 1 << (26 + c - '0')
		case c == '.':
			mask |= maskDot
		case c == '_':
			mask |= maskLine
		case c == '-':
			mask |= maskDash
		case c == '/':
			mask |= maskSlash
		case c >= 0x80:
			mask |= maskWide
		default:
			mask |= maskOther
		}
	}
	return mask
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// depth counts the folders that a path goes down.
func depth(path string) int { return strings.Count(path, "/") }
