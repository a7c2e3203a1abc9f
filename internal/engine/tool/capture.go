package tool

import (
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"scorel/internal/engine/background"
)

const (
	maxOutput = 30_000   // characters that a model is given
	maxFull   = 64 << 20 // bytes that are kept whole
	maxStream = 1 << 20  // bytes that are streamed while a command runs
)

// capture takes a command's output: it streams the first of it, keeps its two
// ends in memory and the whole in a nameless file once it is longer. It is
// written by one goroutine and finished after that.
type capture struct {
	update   func(string)
	streamed int
	valid    validator

	head  []byte // the first half of maxOutput, in bytes at first
	tail  []byte // the newest bytes after head
	size  int64
	spill *os.File // the whole, once it does not fit
	full  int64    // bytes in spill
	lost  error    // why spill is not whole
}

// A character has up to four bytes.
const endBytes = maxOutput / 2 * utf8.UTFMax

func newCapture(update func(string)) *capture { return &capture{update: update} }

// Write implements [io.Writer]; it never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.add(c.valid.next(p))
	return len(p), nil
}

func (c *capture) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if c.update != nil && c.streamed <= maxStream {
		c.streamed += len(p)
		c.update(string(p))
		if c.streamed > maxStream {
			c.update("\n[more output follows; it is in the result]\n")
		}
	}
	c.size += int64(len(p))
	if c.spill == nil && c.lost == nil && len(c.head)+len(c.tail)+len(p) > maxOutput {
		c.startSpill()
	}
	if c.spill != nil && c.lost == nil && c.full < maxFull {
		n, err := c.spill.Write(p[:min(int64(len(p)), maxFull-c.full)])
		c.full += int64(n)
		c.lost = err
	}
	if room := endBytes - len(c.head); room > 0 && len(c.tail) == 0 {
		n := min(room, len(p))
		c.head, p = append(c.head, p[:n]...), p[n:]
	}
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*endBytes {
		c.tail = c.tail[:copy(c.tail, c.tail[len(c.tail)-endBytes:])]
	}
}

// startSpill begins the file with what came so far; its name goes at once.
func (c *capture) startSpill() {
	f, err := os.CreateTemp("", "output-")
	if err != nil {
		c.lost = err
		return
	}
	_ = os.Remove(f.Name())
	c.spill = f
	for _, p := range [][]byte{c.head, c.tail} {
		n, err := f.Write(p)
		c.full += int64(n)
		if err != nil {
			c.lost = err
			return
		}
	}
}

func (c *capture) discard() {
	if c.spill != nil {
		c.spill.Close()
	}
}

// finish returns the output for the model and, when that is cut, the whole.
func (c *capture) finish() (text string, full io.ReadCloser) {
	c.add(c.valid.rest())
	if c.size <= int64(len(c.head)+len(c.tail)) {
		all := string(c.head) + string(c.tail)
		folded := background.Fold(all)
		if utf8.RuneCountInString(folded) <= maxOutput {
			if len(folded) == len(all) {
				c.discard()
				return all, nil
			}
			return folded, c.whole()
		}
		// Both ends may overlap in memory; then they are cut from the one text.
		c.head, c.tail = []byte(all), []byte(all)
	}
	head := firstRunes([]byte(background.Fold(string(c.head))), maxOutput/2)
	tail := lastRunes([]byte(background.Fold(string(c.tail))), maxOutput/2)
	left := c.size - int64(len(head)+len(tail))
	note := "the whole is kept"
	switch {
	case c.spill == nil || c.lost != nil:
		note = fmt.Sprintf("the whole could not be kept: %v", c.lost)
	case c.full < c.size:
		note = fmt.Sprintf("the first %d MiB are kept", maxFull>>20)
	}
	text = fmt.Sprintf("%s\n[... %d bytes are left out here; %s ...]\n%s", head, left, note, tail)
	return text, c.whole()
}

// whole returns the file that holds everything; nil when there is none.
func (c *capture) whole() io.ReadCloser {
	if c.spill == nil {
		return nil
	}
	if c.lost == nil {
		if _, err := c.spill.Seek(0, io.SeekStart); err == nil {
			return c.spill
		}
	}
	c.discard()
	return nil
}

func firstRunes(p []byte, n int) []byte {
	at := 0
	for ; n > 0 && at < len(p); n-- {
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return p[:at]
}

func lastRunes(p []byte, n int) []byte {
	at := len(p)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(p[:at])
		at -= size
	}
	return p[at:]
}
