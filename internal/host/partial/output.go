package partial

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"scorel/internal/engine/background"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of what is kept of the output of a background command.
const (
	MaxOutput  = 1 << 20   // bytes of a file; then it is written again
	KeptOutput = 256 << 10 // bytes that it has then, the newest
)

// maxOutputs is how many files of a session are looked at.
const maxOutputs = 64

const maxOutputFile = MaxOutput + 64<<10

// Command is a background command that runs.
type Command struct {
	SessionID protocol.SessionID `json:"sessionId"`
	EventID   protocol.EventID   `json:"eventId"` // that a notice of its loss is to have
	TaskID    string             `json:"taskId"`
	CallID    string             `json:"callId,omitempty"`
	Command   string             `json:"command"`
	StartedAt int64              `json:"startedAt"`
	// End is how it ended, of one whose end people know and the log does not; nil: it runs.
	End *background.End `json:"end,omitempty"`
}

// Lost is a command that an earlier host left in the middle.
type Lost struct {
	Command
	File string // that has its output
	Last []byte // the end of that

	fs     disk.FS
	report *Reports
}

// outputName is the file of a command.
func outputName(dir string, id protocol.SessionID, task string) string {
	return filepath.Join(dir, string(id)+"."+task+".output")
}

// Output keeps what one command prints after a first line that describes it.
type Output struct {
	fs     disk.FS
	report *Reports
	file   *appender

	mu      sync.Mutex
	command Command
	head    []byte // of the file: the command
	pending []byte
	newest  []byte // of what was written, at least KeptOutput when there was so much
	written int64
	begun   bool
}

// NewOutput makes the file of a command that begins.
func NewOutput(fsys disk.FS, dir string, c Command, report *Reports) *Output {
	o := &Output{fs: fsys, command: c, head: headOf(c), report: report}
	o.file = &appender{fs: fsys, name: outputName(dir, c.SessionID, c.TaskID), take: o.take, report: report}
	o.file.gathered(writeFull)
	return o
}

// headOf is the first line of a file.
func headOf(c Command) []byte {
	head, err := json.Marshal(c)
	if err != nil {
		panic("partial: " + err.Error()) // texts and numbers only
	}
	return append(head, '\n')
}

// Finish notes how the command has ended, and returns when that is durable: what people are
// told then is not lost.
func (o *Output) Finish(end background.End) {
	o.mu.Lock()
	o.command.End = &end
	o.head, o.begun = headOf(o.command), false
	o.mu.Unlock()
	o.file.now()
}

// Write takes output; it never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	if o.pending = append(o.pending, p...); len(o.pending) > KeptOutput {
		o.pending = append([]byte(nil), o.pending[len(o.pending)-KeptOutput:]...)
	}
	n := len(o.pending)
	o.mu.Unlock()
	o.file.gathered(n)
	return len(p), nil
}

// take is the source of the file.
func (o *Output) take() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	data, anew := o.pending, !o.begun
	again := anew && len(o.newest) > 0
	o.pending, o.begun = nil, true
	if o.newest = append(o.newest, data...); len(o.newest) > 2*KeptOutput {
		o.newest = append([]byte(nil), o.newest[len(o.newest)-KeptOutput:]...)
	}
	if again || o.written+int64(len(data)) > MaxOutput {
		data, anew = o.newest[max(0, len(o.newest)-KeptOutput):], true
	}
	if !anew {
		o.written += int64(len(data))
		return data, false
	}
	whole := bytes.Join([][]byte{o.head, data}, nil)
	o.written = int64(len(whole))
	return whole, true
}

// End is told that the end of the command is stored: its file goes.
func (o *Output) End() {
	o.file.close()
	remove(o.fs, o.file.name, o.report)
}

// Leave stops writing; the file stays for the next host.
func (o *Output) Leave() { o.file.close() }

// Remove removes the file of a command whose end was told after all.
func (l Lost) Remove() { remove(l.fs, l.File, l.report) }

func remove(fsys disk.FS, name string, report *Reports) {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		report.say("remove " + filepath.Base(name) + ": " + err.Error())
	}
}

// Lose returns the commands of which a session has files, by their names. It is called
// before the session starts commands of its own.
func Lose(fsys disk.FS, dir string, id protocol.SessionID, report *Reports) []Lost {
	var lost []Lost
	names, err := named(fsys, dir, id, func(rest string) bool { return strings.HasSuffix(rest, ".output") })
	if err != nil {
		report.say("look for the output of lost commands: " + err.Error())
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		data, err := disk.ReadFile(fsys, file, maxOutputFile)
		if err != nil {
			report.say("read the output of a lost command: " + err.Error())
			continue
		}
		head, rest, _ := bytes.Cut(data, []byte("\n"))
		l := Lost{File: file, fs: fsys, report: report}
		if json.Unmarshal(head, &l.Command) != nil || l.EventID.Check() != nil || l.SessionID != id {
			report.say("the file " + name + " is damaged; it stays as it is")
			continue
		}
		l.Last = rest[max(0, len(rest)-KeptOutput):]
		if lost = append(lost, l); len(lost) == maxOutputs {
			break
		}
	}
	return lost
}

// named returns the files of a session whose names end as chosen.
func named(fsys disk.FS, dir string, id protocol.SessionID, chosen func(rest string) bool) (names []string, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // nothing was ever kept
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), string(id)+"."); ok && chosen(rest) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Remove removes all that is kept of a session that is deleted.
func Remove(fsys disk.FS, dir string, id protocol.SessionID) error {
	names, first := named(fsys, dir, id, func(string) bool { return true })
	for _, name := range names {
		if err := fsys.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) && first == nil {
			first = err
		}
	}
	return first
}
