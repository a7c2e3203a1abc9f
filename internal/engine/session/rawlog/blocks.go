package rawlog

import (
	"bytes"
	"context"
	"io"

	"scorel/protocol"
)

// BlockSize is how much a pass over a log reads at once.
const BlockSize = 1 << 20

// ReaderAt is the part of a file that passes need.
type ReaderAt func(p []byte, off int64) (int, error)

// Block is some whole lines of a log, or one line that is too long to hold.
type Block struct {
	Off  int64
	Data []byte // ends with a newline, except at the end of the log
	Long *Damage
	End  int64
}

// Blocks cuts the first size bytes of a log into blocks.
type Blocks struct {
	Read ReaderAt
	Size int64
	off  int64
}

// Next reads the block at the place reached. The block's memory is buf, grown
// when a line needs it, up to the longest line there may be. io.EOF ends it.
func (b *Blocks) Next(buf []byte) (Block, error) {
	if b.off >= b.Size {
		return Block{}, io.EOF
	}
	if need := int(min(BlockSize, b.Size-b.off)); cap(buf) < need {
		buf = make([]byte, need)
	}
	buf = buf[:cap(buf)]
	have := 0
	for {
		want := int(min(int64(len(buf)), b.Size-b.off))
		if err := ReadFull(b.Read, buf[have:want], b.off+int64(have)); err != nil {
			return Block{}, err
		}
		fresh := buf[have:want]
		have = want
		if b.off+int64(have) == b.Size {
			return b.done(buf[:have]), nil
		}
		if i := bytes.LastIndexByte(fresh, '\n'); i >= 0 {
			return b.done(buf[:have-len(fresh)+i+1]), nil
		}
		if have > protocol.MaxLine+2 { // with a CR and the newline
			return b.skipLine(buf[:have])
		}
		bigger := make([]byte, min(2*len(buf), protocol.MaxLine+BlockSize))
		copy(bigger, buf[:have])
		buf = bigger
	}
}

// Stop ends it: the next block is none.
func (b *Blocks) Stop() { b.off = b.Size }

func (b *Blocks) done(data []byte) Block {
	off := b.off
	b.off += int64(len(data))
	return Block{Off: off, Data: data, End: b.off}
}

// skipLine looks through the rest of a line that begins with head without
// keeping it.
func (b *Blocks) skipLine(head []byte) (Block, error) {
	d := &Damage{}
	off := b.off
	d.Feed(head)
	at := off + int64(len(head))
	for at < b.Size {
		n := int(min(int64(cap(head)), b.Size-at))
		p := head[:n]
		if err := ReadFull(b.Read, p, at); err != nil {
			return Block{}, err
		}
		i := bytes.IndexByte(p, '\n')
		if i >= 0 {
			p = p[:i]
		}
		d.Feed(p)
		at += int64(len(p))
		if i >= 0 {
			at++
			break
		}
	}
	b.off = at
	return Block{Off: off, Long: d, End: at}, nil
}

func ReadFull(read ReaderAt, p []byte, off int64) error {
	for len(p) > 0 {
		n, err := read(p, off)
		if n == len(p) {
			return nil
		}
		if err == nil && n == 0 || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// FindTail returns the place after the last line that holds a whole event (and
// after its newline), or after line 0 when there is none. What follows is the
// tail. It reads backwards, and no more than it must.
func FindTail(ctx context.Context, read ReaderAt, size int64) (int64, error) {
	read = backward(read)
	end := size // everything from here on is tail
	for end > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		body, ended, err := EndsWithNewline(read, end)
		if err != nil {
			return 0, err
		}
		start, err := LineStart(read, body)
		if err != nil {
			return 0, err
		}
		if start == 0 {
			return headerEnd(read, body, end, ended)
		}
		if body-start <= protocol.MaxLine+1 {
			line := make([]byte, body-start)
			if err := ReadFull(read, line, start); err != nil {
				return 0, err
			}
			if segs := WholeEvents(bytes.TrimSuffix(line, []byte("\r")), ended); len(segs) > 0 {
				last := start + int64(segs[len(segs)-1].End)
				if rest := line[segs[len(segs)-1].End:]; len(rest) == 0 || string(rest) == "\r" {
					last = end
				}
				return last, nil
			}
		}
		end = start
	}
	return 0, nil
}

// headerEnd is FindTail for the line at the start of the file. A header that is
// damaged but ended stays in place; one that is not ended was never told.
func headerEnd(read ReaderAt, body, end int64, ended bool) (int64, error) {
	if ended {
		return end, nil
	}
	if body > protocol.MaxLine {
		return 0, nil
	}
	line := make([]byte, body)
	if err := ReadFull(read, line, 0); err != nil {
		return 0, err
	}
	line = bytes.TrimPrefix(line, BOM())
	if _, err := protocol.ParseHeader(line); err == nil || IsWholeEvent(line) {
		return end, nil
	}
	return 0, nil
}

// backward makes a reader for who goes from the end of a file to its start: what
// stands before a place that is read is read with it, at first 4 KiB and at most a
// block, so that millions of short lines do not take as many reads.
func backward(read ReaderAt) ReaderAt {
	var (
		have []byte
		at   int64 // of have
		next = int64(4 << 10)
	)
	return func(p []byte, off int64) (int, error) {
		end := off + int64(len(p))
		if off < at || end > at+int64(len(have)) {
			if int64(len(p)) >= next {
				return read(p, off)
			}
			from := max(0, end-next)
			have, at, next = make([]byte, end-from), from, min(2*next, BlockSize)
			if err := ReadFull(read, have, at); err != nil {
				have = nil
				return 0, err
			}
		}
		return copy(p, have[off-at:]), nil
	}
}

func BOM() []byte { return []byte("\xef\xbb\xbf") }

func EndsWithNewline(read ReaderAt, end int64) (body int64, ended bool, err error) {
	var last [1]byte
	if err := ReadFull(read, last[:], end-1); err != nil {
		return 0, false, err
	}
	if last[0] == '\n' {
		return end - 1, true, nil
	}
	return end, false, nil
}

// LineStart returns the start of the line that ends (without its newline) at end.
func LineStart(read ReaderAt, end int64) (int64, error) {
	if end > 0 {
		if _, empty, err := EndsWithNewline(read, end); err != nil || empty {
			return end, err // nothing stands in the line
		}
	}
	buf := make([]byte, min(end, 128))
	for end > 0 {
		p := buf[:min(int64(len(buf)), end)]
		if err := ReadFull(read, p, end-int64(len(p))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return end - int64(len(p)) + int64(i) + 1, nil
		}
		end -= int64(len(p))
		if len(buf) < BlockSize {
			buf = make([]byte, min(16*len(buf), BlockSize))
		}
	}
	return 0, nil
}
