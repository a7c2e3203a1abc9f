package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of a page of a log.
const (
	DefaultPage  = 200
	MaxPage      = 1000
	maxPageBytes = 1 << 20   // of its lines; the line that goes beyond is the last
	maxReadLine  = 256 << 10 // bytes of a line; a longer one is not of this program
	readSize     = 64 << 10
)

// ErrNoLog reports that there is no log of an operation.
var ErrNoLog = errors.New("no such process log")

// Read returns lines of the log of an operation in a folder, from the line offset on,
// at most limit of them (0: [DefaultPage]). A last line that is not whole, because it is
// just being written or its host was killed, is not there yet. A folder or operation
// without a log gives [ErrNoLog].
func Read(fsys disk.FS, dir, operationID string, offset, limit int) (*protocol.ProcessLog, error) {
	if operationID == "" || len(operationID) > 4*(maxWord+16) {
		return nil, fmt.Errorf("%w: an operation id has 1 to %d characters", ErrNoLog, maxWord)
	}
	if limit <= 0 {
		limit = DefaultPage
	}
	limit = min(limit, MaxPage)
	f, err := fsys.Open(filepath.Join(dir, fileName(operationID)), disk.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoLog
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &protocol.ProcessLog{Lines: []protocol.ProcessLine{}, Next: max(0, offset)}
	bytes, n := 0, 0
	for line, err := range lines(f) {
		if err != nil {
			return nil, fmt.Errorf("read the log of %.60q: %w", operationID, err)
		}
		if n++; n <= out.Next {
			continue
		}
		if len(out.Lines) == limit || bytes >= maxPageBytes {
			out.More = true
			break
		}
		bytes += len(line)
		out.Lines = append(out.Lines, parse(line))
		out.Next = n
	}
	return out, nil
}

// parse reads a line of a log.
func parse(line []byte) protocol.ProcessLine {
	var r record
	switch {
	case json.Unmarshal(line, &r) != nil:
	case r.Stderr != nil:
		return protocol.ProcessLine{Stderr: *r.Stderr}
	case r.Note != nil:
		return protocol.ProcessLine{Note: *r.Note}
	default:
		var e protocol.ProcessEvent
		if json.Unmarshal(line, &e) == nil && e.OperationID != "" {
			return protocol.ProcessLine{Event: &e}
		}
	}
	return protocol.ProcessLine{Note: "This line of the log is damaged."}
}

// lines returns the whole lines of a file, valid until the next; one that is too long is
// empty.
func lines(f io.ReaderAt) func(func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		var rest []byte
		long := false
		buf := make([]byte, readSize)
		for off := int64(0); ; {
			n, err := f.ReadAt(buf, off)
			off += int64(n)
			data := buf[:n]
			for {
				line, after, whole := bytes.Cut(data, []byte{'\n'})
				if !whole {
					break
				}
				if len(rest) > 0 {
					line = append(rest, line...)
				}
				if long || len(line) > maxReadLine {
					line = nil
				}
				if !yield(line, nil) {
					return
				}
				rest, long, data = rest[:0], false, after
			}
			if len(rest)+len(data) > maxReadLine {
				rest, long = rest[:0], true
			} else {
				rest = append(rest, data...)
			}
			if err == io.EOF || n == 0 && err == nil {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}
