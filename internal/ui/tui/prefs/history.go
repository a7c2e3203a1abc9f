package prefs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/text/secret"
)

// Bounds of the history. At one of them the file is written again with the newest of
// its lines, three quarters of what the bound allows.
const (
	MaxEntries   = 10_000
	MaxFile      = 4 << 20
	MaxEntry     = 16 << 10 // bytes of a text; a longer one is not kept
	maxRead      = 4 * MaxFile
	maxUnwritten = 100 // texts of this run that could not be written
	headBytes    = 128 // of the file, by which one that was written again is told
)

// History is what was typed.
type History struct {
	fs      disk.FS
	name    string
	project string
	now     func() time.Time

	entries   []entry
	lines     int    // of the file, as far as it was read
	read      int64  // bytes of it
	head      []byte // its beginning
	unwritten []string
}

// entry is a line of the file.
type entry struct {
	At      int64  `json:"at"` // Unix milliseconds
	Project string `json:"project,omitempty"`
	Text    string `json:"text"`
}

// NewHistory returns the history in a folder for who works in a project, whatever names
// that. It reads nothing yet.
func NewHistory(fsys disk.FS, dir, project string, now func() time.Time) *History {
	return &History{fs: fsys, name: filepath.Join(dir, "history"), project: project, now: now}
}

// Keeps reports whether a text may be written down: none that begins with a blank, that
// is longer than MaxEntry, or that is [Private].
func Keeps(text string) bool {
	return text != "" && text[0] != ' ' && text[0] != '\t' && strings.TrimSpace(text) != "" && len(text) <= MaxEntry && !Private(text)
}

// Private reports whether what is typed belongs in no file: it looks as if a key or
// password were in it, or it is a /login with more than the provider, after which
// somebody types the key, which need not look like one.
func Private(text string) bool {
	words := strings.Fields(text)
	return len(words) > 2 && words[0] == "/login" || secret.Looks(text)
}

// Add writes a text down, with pastes and images as their marks, unless it is one
// that is not kept (see the package's bounds; one that begins with a blank is not, as
// in a shell) or was the last one of the project. One that cannot be written stays in
// memory, and the error is a sentence.
func (h *History) Add(text string) error {
	if !Keeps(text) {
		return nil
	}
	if n := len(h.entries); n > 0 && h.entries[n-1].Text == text && h.entries[n-1].Project == h.project {
		return nil
	}
	err := h.append(entry{h.now().UnixMilli(), h.project, text})
	if err != nil {
		h.unwritten = append(h.unwritten, text)
		if len(h.unwritten) > maxUnwritten {
			h.unwritten = h.unwritten[1:]
		}
		return fmt.Errorf("what you type is not kept in %s: %w", h.name, err)
	}
	return nil
}

func (h *History) append(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if err := h.fs.MkdirAll(filepath.Dir(h.name)); err != nil {
		return err
	}
	lock, err := disk.WaitLock(h.fs, h.name+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	if err := h.write(line); err != nil {
		return err
	}
	h.refresh()
	if h.lines > MaxEntries || h.read > MaxFile {
		return h.compact()
	}
	return nil
}

// write appends a line, on a line of its own.
func (h *History) write(line []byte) error {
	f, err := h.fs.Open(h.name, disk.Create)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err == nil && size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); (err == nil || errors.Is(err, io.EOF)) && last[0] != '\n' {
			line = append([]byte{'\n'}, line...) // somebody's write was cut off
		}
	}
	if err == nil {
		_, err = f.WriteAt(line, size)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// compact keeps the newest lines, also those that cannot be read.
func (h *History) compact() error {
	data, err := disk.ReadFile(h.fs, h.name, maxRead)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if n := len(lines); len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	from, size := len(lines), 0
	for from > 0 && len(lines)-from < MaxEntries*3/4 && size+len(lines[from-1]) <= MaxFile*3/4 {
		from--
		size += len(lines[from])
	}
	if err := disk.WriteFile(h.fs, h.name, bytes.Join(lines[from:], nil)); err != nil {
		return err
	}
	h.forget()
	h.refresh()
	return nil
}

func (h *History) forget() { h.entries, h.lines, h.read, h.head = nil, 0, 0, nil }

// Entries returns what was typed, also in other terminals until now, the oldest first:
// first what belongs to other projects, then what belongs to this one, each text
// once, where it was typed last.
func (h *History) Entries() []string {
	h.refresh()
	seen := make(map[string]bool, len(h.entries))
	var own, others []string // the newest first
	add := func(to *[]string, text string) {
		if !seen[text] {
			seen[text] = true
			*to = append(*to, text)
		}
	}
	for i := len(h.unwritten) - 1; i >= 0; i-- {
		add(&own, h.unwritten[i])
	}
	for i := len(h.entries) - 1; i >= 0; i-- {
		if h.entries[i].Project == h.project {
			add(&own, h.entries[i].Text)
		}
	}
	for i := len(h.entries) - 1; i >= 0; i-- {
		add(&others, h.entries[i].Text)
	}
	out := make([]string, 0, len(own)+len(others))
	for i := len(others) - 1; i >= 0; i-- {
		out = append(out, others[i])
	}
	for i := len(own) - 1; i >= 0; i-- {
		out = append(out, own[i])
	}
	return out
}

// refresh reads what has been added to the file. A file that cannot be read has what
// it had.
func (h *History) refresh() {
	f, err := h.fs.Open(h.name, disk.ReadOnly)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			h.forget()
		}
		return
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil {
		return
	}
	head := make([]byte, min(size, headBytes))
	if n, err := f.ReadAt(head, 0); n < len(head) && err != nil {
		return
	}
	if size < h.read || !bytes.HasPrefix(head, h.head) { // it was written again
		h.forget()
	}
	if size == h.read {
		return
	}
	from := max(h.read, size-maxRead)
	data := make([]byte, size-from)
	n, err := f.ReadAt(data, from)
	if n < len(data) && err != nil {
		return
	}
	if from > h.read { // far more than there should be: its end counts
		i := bytes.IndexByte(data, '\n') + 1
		data, from = data[i:], from+int64(i)
	}
	end := bytes.LastIndexByte(data, '\n') + 1 // what follows is being written
	for line := range bytes.Lines(data[:end]) {
		h.lines++
		var e entry
		if json.Unmarshal(line, &e) == nil && e.Text != "" && len(e.Text) <= MaxEntry {
			h.entries = append(h.entries, e)
		}
	}
	h.read = from + int64(end)
	h.head = head[:min(int64(len(head)), h.read)]
}
