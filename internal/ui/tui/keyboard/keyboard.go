package keyboard

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Bounds of what is read.
const (
	MaxPaste  = 8 << 20 // bytes of a paste; what is beyond is left out
	maxPastes = 16      // pastes that nobody has asked for; then the oldest is empty
	maxWhole  = 512     // bytes of a sequence; a longer one is handed on in pieces
	maxRead   = 1 << 10 // bytes read at once: what comes of them fits into the decoder's buffer
	// escTimeout is how long a lone Esc may be the beginning of a sequence, sequenceTimeout how
	// long the rest of a character or a sequence may take, and pastePatience how long
	// nothing may come of a paste before it counts as ended.
	escTimeout      = 50 * time.Millisecond
	sequenceTimeout = 500 * time.Millisecond
	pastePatience   = 5 * time.Second
)

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// Keyboard is the terminal's input. What is written goes to the terminal itself.
type Keyboard struct {
	*os.File

	reading sync.Mutex // held while keys are waited for: who is told to end reading may be late

	ready []byte // whole, and not handed out yet
	rest  []byte // the beginning of what is not whole
	paste []byte // of an open paste
	open  bool

	answered chan struct{} // closed when the terminal has said its attributes
	said     bool          // answered is closed

	mu     sync.Mutex
	number int
	pastes map[int]string
}

// New reads a terminal.
func New(terminal *os.File) *Keyboard {
	return &Keyboard{File: terminal, answered: make(chan struct{}), pastes: map[int]string{}}
}

// Answered is closed when the terminal has said its primary device attributes (DA1), which
// it is asked for last: what it was asked for before that has been read, too.
func (k *Keyboard) Answered() <-chan struct{} { return k.answered }

// Settle reads and drops what comes until the terminal has said its attributes, or until
// the deadline, for when nobody calls Read any more. It reads nothing that comes after that
// answer. An input that ends or fails ends it.
func (k *Keyboard) Settle(deadline time.Time) {
	for {
		select {
		case <-k.answered:
			return
		default:
		}
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		if !k.reading.TryLock() { // a Read that was called before waits for the rest of something
			select {
			case <-k.answered:
			case <-time.After(min(left, escTimeout)):
			}
			continue
		}
		ends := k.drop(left)
		k.reading.Unlock()
		if ends {
			return
		}
	}
}

// drop waits for a byte, and drops it. It reports whether the input ends. The caller holds
// reading.
func (k *Keyboard) drop(wait time.Duration) (ends bool) {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(k.File.Fd()), Events: unix.POLLIN}}, int(wait.Milliseconds())+1)
	if err == unix.EINTR || err == nil && n == 0 {
		return false
	}
	var in [1]byte
	if n, err = k.File.Read(in[:]); err != nil || n == 0 {
		return true
	}
	k.take(in[:])
	k.ready = nil
	return false
}

// attributes reports whether a sequence is the answer to a request for primary device
// attributes.
func attributes(sequence []byte) bool {
	return bytes.HasPrefix(sequence, []byte("\x1b[?")) && sequence[len(sequence)-1] == 'c'
}

// Read waits for keys. It returns whole characters and sequences, except when the rest does
// not come in time. With room for 4 KiB it keeps nothing back: who waits for the terminal
// before it reads would not learn of that.
func (k *Keyboard) Read(p []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	var in [maxRead]byte
	for len(k.ready) == 0 || k.waits() {
		if k.waits() && !k.comes() {
			k.giveUp()
			continue
		}
		limit := maxRead
		if len(k.ready) >= maxRead && !k.open {
			limit = 1 // no more than ends what was begun
		}
		n, err := k.File.Read(in[:limit])
		k.take(in[:n])
		if err != nil {
			k.giveUp()
			n = copy(p, k.ready)
			k.ready = k.ready[n:]
			return n, err
		}
	}
	n := copy(p, k.ready)
	k.ready = k.ready[n:]
	return n, nil
}

// waits says that something was begun.
func (k *Keyboard) waits() bool { return k.open || len(k.rest) > 0 }

// comes waits for more, and reports whether there is some, or an end.
func (k *Keyboard) comes() bool {
	wait := sequenceTimeout
	switch {
	case k.open:
		wait = pastePatience
	case string(k.rest) == "\x1b":
		wait = escTimeout
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(k.File.Fd()), Events: unix.POLLIN}}, int(wait.Milliseconds()))
		if err != unix.EINTR {
			return n != 0
		}
	}
}

// take sorts what has come.
func (k *Keyboard) take(in []byte) {
	k.rest = append(k.rest, in...)
	for len(k.rest) > 0 {
		if k.open {
			i := bytes.Index(k.rest, []byte(pasteEnds))
			if i < 0 {
				keep := ending(k.rest, pasteEnds)
				k.pasted(k.rest[:len(k.rest)-keep])
				k.rest = k.rest[len(k.rest)-keep:]
				return
			}
			k.pasted(k.rest[:i])
			k.rest = k.rest[i+len(pasteEnds):]
			k.close()
			continue
		}
		if bytes.HasPrefix(k.rest, []byte(pasteBegins)) {
			k.rest, k.open = k.rest[len(pasteBegins):], true
			continue
		}
		n, whole := first(k.rest)
		if !whole && len(k.rest) < maxWhole {
			return
		}
		if whole && !k.said && attributes(k.rest[:n]) {
			k.said = true
			close(k.answered)
		}
		k.ready = append(k.ready, k.rest[:n]...)
		k.rest = k.rest[n:]
	}
	k.rest = nil
}

func (k *Keyboard) pasted(text []byte) {
	k.paste = append(k.paste, text[:min(len(text), MaxPaste-len(k.paste))]...)
}

// close ends a paste. The decoder gets its number, as a paste.
func (k *Keyboard) close() {
	k.mu.Lock()
	k.number++
	k.pastes[k.number] = string(k.paste)
	delete(k.pastes, k.number-maxPastes)
	number := k.number
	k.mu.Unlock()
	k.paste, k.open = nil, false
	k.ready = append(k.ready, pasteBegins+strconv.Itoa(number)+pasteEnds...)
}

// giveUp hands on what was begun as it is.
func (k *Keyboard) giveUp() {
	if k.open {
		k.pasted(k.rest)
		k.rest = nil
		k.close()
	}
	k.ready = append(k.ready, k.rest...)
	k.rest = nil
}

// Pasted returns the text of a paste by the number that the decoder gave for it, once. What
// is not UTF-8 in it is left out.
func (k *Keyboard) Pasted(number string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	text := k.pastes[n]
	delete(k.pastes, n)
	return strings.ToValidUTF8(text, "")
}

// ending returns how much of the end of a text may be the beginning of a mark.
func ending(text []byte, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == mark[:n] {
			return n
		}
	}
	return 0
}

// first returns the length of the first character or sequence; whole is false when it goes
// on, or may.
func first(in []byte) (n int, whole bool) {
	if in[0] != 0x1b {
		if !utf8.FullRune(in) {
			return len(in), false
		}
		_, n := utf8.DecodeRune(in)
		return n, true
	}
	if len(in) == 1 {
		return 1, false
	}
	switch in[1] {
	case 0x1b:
		return 1, true
	case '[':
		for i := 2; i < len(in); i++ {
			if c := in[i]; c >= 0x40 && c <= 0x7e && !(i == 2 && c == '[') { // \x1b[[A is F1 of the Linux console
				return i + 1, true
			} else if c < 0x20 {
				return i, true // it is broken off
			}
		}
		return len(in), false
	case 'O':
		return min(len(in), 3), len(in) > 2
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(in); i++ {
			if in[i] == 0x07 {
				return i + 1, true
			}
			if in[i] == 0x1b && i+1 < len(in) {
				if in[i+1] == '\\' {
					return i + 2, true
				}
				return i, true
			}
		}
		return len(in), false
	}
	_, size := utf8.DecodeRune(in[1:])
	return 1 + size, utf8.FullRune(in[1:])
}
