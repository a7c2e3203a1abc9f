package session

import (
	"fmt"
	"io"
	"sync"

	"scorel/internal/platform/disk"
)

// source is the file that an index reads from. The writer may put another file
// with the same bytes in its place while readers are at work.
type source struct {
	mu     sync.RWMutex // held for reading during every read
	file   disk.File    // nil: opened again at the next read
	open   func() (disk.File, error)
	closed bool
}

// read returns n bytes at off in a new slice.
func (s *source) read(off int64, n int) ([]byte, error) {
	buf := make([]byte, n)
	return buf, s.readInto(buf, off)
}

func (s *source) readInto(buf []byte, off int64) error {
	n, err := s.readAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at %d of the log: %w", len(buf), off, err)
}

// readAt reads what there is, as io.ReaderAt does.
func (s *source) readAt(buf []byte, off int64) (int, error) {
	s.mu.RLock()
	if s.file == nil && !s.closed {
		s.mu.RUnlock()
		s.reopen()
		s.mu.RLock()
	}
	defer s.mu.RUnlock()
	if s.closed {
		return 0, ErrClosed
	}
	if s.file == nil {
		return 0, fmt.Errorf("%w again", errUnopened)
	}
	return s.file.ReadAt(buf, off)
}

func (s *source) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil || s.closed {
		return
	}
	if f, err := s.open(); err == nil { // the reader says that it failed
		s.file = f
	}
}

// size is that of the file.
func (s *source) size() (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file == nil {
		return 0, errUnopened
	}
	return s.file.Size()
}

// swap closes the file and puts another in its place, nil for "open it again
// when it is needed".
func (s *source) swap(f disk.File) {
	s.mu.Lock()
	old := s.file
	s.file = f
	s.mu.Unlock()
	if old != nil {
		_ = old.Close() // its content is not trusted any more
	}
}

func (s *source) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
