package partial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// maxTurnFile bounds the file of a running turn, in bytes: a line is one call.
const maxTurnFile = 8 << 20

// Running is a turn that runs. The log does not have that it does: a turn of which nothing
// has come is a message without an answer there, as one that was cancelled is.
type Running struct {
	SessionID protocol.SessionID `json:"sessionId"`
	Leaf      protocol.EventID   `json:"leaf"` // when it began: the message that it answers
	Provider  string             `json:"provider,omitempty"`
	Model     string             `json:"model,omitempty"`
	// Boot changes with every start of the machine. The file is not synced, so that after
	// another start a call may have begun of which it does not know.
	Boot string `json:"boot,omitempty"`

	Began []string `json:"-"` // the ids of its calls that have begun
	Whole bool     `json:"-"` // each call that has begun is in Began
}

// began is a line of the file after the first one.
type began struct {
	Call string `json:"call"`
}

// Turn keeps, for a host that is killed, that a turn of one session runs and which of its
// calls have begun. It writes when it is told, and syncs nothing. The format of the file is
// that of [Step].
type Turn struct {
	fs         disk.FS
	name, boot string
	report     *Reports

	mu   sync.Mutex
	f    disk.File // nil: no turn runs, or its file cannot be written
	size int64
	sum  uint32
}

// NewTurn makes the keeper of a session's running turn. Boot is [Running.Boot] of now.
func NewTurn(fsys disk.FS, dir string, id protocol.SessionID, boot string, report *Reports) *Turn {
	return &Turn{fs: fsys, name: filepath.Join(dir, string(id)+".turn"), boot: boot, report: report}
}

// Load returns the turn that an earlier host was in the middle of, and false when there is
// none. It is [ErrDamaged] for a file that does not say which.
func (t *Turn) Load() (Running, bool, error) {
	data, err := disk.ReadFile(t.fs, t.name, maxTurnFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Running{}, false, nil
	}
	if err != nil {
		return Running{}, false, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var r Running
	sum := uint32(0)
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if len(line) == 0 && i > 0 {
			break
		}
		text, ok := checked(line, &sum)
		if i == 0 {
			if !ok || json.Unmarshal(text, &r) != nil || r.SessionID.Check() != nil {
				return Running{}, true, ErrDamaged
			}
			r.Whole = t.boot != "" && r.Boot == t.boot
			continue
		}
		var call began
		if !ok || json.Unmarshal(text, &call) != nil {
			r.Whole = false
			break
		}
		r.Began = append(r.Began, call.Call)
	}
	return r, true, nil
}

// HasBegun reports whether a call may have begun.
func (r Running) HasBegun(call string) bool { return !r.Whole || slices.Contains(r.Began, call) }

// Begin is told that a turn begins. What cannot be written is reported, and the turn runs
// without.
func (t *Turn) Begin(r Running) {
	t.End()
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Boot = t.boot
	f, err := t.fs.Open(t.name, disk.Create)
	if errors.Is(err, fs.ErrNotExist) {
		if err = t.fs.MkdirAll(filepath.Dir(t.name)); err == nil {
			f, err = t.fs.Open(t.name, disk.Create)
		}
	}
	if err == nil {
		if err = f.Truncate(0); err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		t.failed(err)
		return
	}
	t.f, t.size, t.sum = f, 0, 0
	t.write(r)
}

// Call is told that a call is about to begin. It returns when that is written, so that a
// call whose effect somebody sees is known after a kill.
func (t *Turn) Call(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f != nil {
		t.write(began{id})
	}
}

// write appends a line. A file that lacks one would lie about its calls, and goes. t.mu is held.
func (t *Turn) write(v any) {
	line := appendChecked(nil, v, &t.sum)
	if _, err := t.f.WriteAt(line, t.size); err != nil {
		t.close()
		t.drop()
		t.failed(err)
		return
	}
	t.size += int64(len(line))
}

func (t *Turn) failed(err error) { t.report.unkept("keep that a turn runs", err.Error()) }

// End is told that the turn has ended, whatever way: its file goes.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.close() {
		t.drop()
	}
}

// Leave closes the file; it stays for the next host.
func (t *Turn) Leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.close()
}

// close reports whether the file was open. t.mu is held.
func (t *Turn) close() bool {
	if t.f == nil {
		return false
	}
	_ = t.f.Close() // nothing of it is promised
	t.f = nil
	return true
}

// Drop removes what [Turn.Load] has found.
func (t *Turn) Drop() { t.drop() }

func (t *Turn) drop() {
	if err := t.fs.Remove(t.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.report.say("remove that a turn runs, which has ended: " + err.Error())
	}
}
