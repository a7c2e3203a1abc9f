package partial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// MaxText is how much of the text of an answer is kept for a host that is killed, in
// bytes; what follows is lost with it.
const MaxText = 1 << 20

// maxStepFile bounds the file: JSON may write a byte as six.
const maxStepFile = 6*MaxText + 64<<10

// Answer is an answer that was announced and had not come to its end.
type Answer struct {
	SessionID protocol.SessionID `json:"sessionId"`
	EventID   protocol.EventID   `json:"eventId"`            // that its message was to have
	ParentID  protocol.EventID   `json:"parentId,omitempty"` // "" for none
	Provider  string             `json:"provider,omitempty"`
	Model     string             `json:"model,omitempty"`

	Texts   []string `json:"-"` // of its blocks of text, in order
	Cut     bool     `json:"-"` // there was more than is kept
	Damaged bool     `json:"-"` // so was there, and what was kept of it is damaged
}

// ErrDamaged is in the chain of what [Step.Load] returns for a file that says nothing any
// more.
var ErrDamaged = errors.New("the file is damaged")

// A line of the file is a checksum and JSON: eight hexadecimal digits of the CRC-32C of
// the JSON, begun with the checksum of the line before, and a blank. So a line that was
// changed, lost, repeated or moved is found. The first line is the answer, the others are
// pieces.

// piece is text of a block.
type piece struct {
	Block int    `json:"block"`
	Text  string `json:"text"`
	Cut   bool   `json:"cut,omitempty"` // nothing that follows is kept
}

// Step keeps the text of the answer of the running step of one session.
type Step struct {
	fs     disk.FS
	name   string
	report *Reports

	mu      sync.Mutex
	answer  Answer
	file    *appender // of the answer; nil: there is none
	pending []piece
	texts   []*strings.Builder // of pending, so that pieces of a block are one
	n, all  int                // bytes of text that wait, and of all
	begun   bool               // the first line was written
	sum     uint32             // the checksum of the last line; take's alone
}

// StepName is the file of a session in the folder pending.
func StepName(dir string, id protocol.SessionID) string {
	return filepath.Join(dir, string(id)+".partial")
}

// NewStep makes the keeper of a session's running step. Report is told what cannot be
// written.
func NewStep(fsys disk.FS, dir string, id protocol.SessionID, report *Reports) *Step {
	return &Step{fs: fsys, name: StepName(dir, id), report: report}
}

// Load returns the answer that an earlier host was in the middle of, and false when there
// is none. A line that was half written is left out; what follows damage is, too. Where
// nothing is left it is [ErrDamaged], with the ids of the answer if they are: a host writes
// them with the first text.
func (s *Step) Load() (Answer, bool, error) {
	data, err := disk.ReadFile(s.fs, s.name, maxStepFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Answer{}, false, nil
	}
	if err != nil {
		return Answer{}, false, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var a Answer
	sum := uint32(0)
	texts := map[int]*strings.Builder{}
	last := -1
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		text, ok := checked(line, &sum)
		if i == 0 {
			if !ok || json.Unmarshal(text, &a) != nil || a.EventID.Check() != nil || a.SessionID.Check() != nil {
				return Answer{}, true, ErrDamaged
			}
			continue
		}
		var p piece
		if !ok || json.Unmarshal(text, &p) != nil || p.Block < 0 || p.Block > MaxText {
			a.Damaged = true
			break // what follows damage cannot be placed
		}
		if texts[p.Block] == nil {
			texts[p.Block] = &strings.Builder{}
		}
		texts[p.Block].WriteString(p.Text)
		last, a.Cut = max(last, p.Block), a.Cut || p.Cut
	}
	for i := 0; i <= last; i++ {
		if b := texts[i]; b != nil && strings.TrimSpace(b.String()) != "" {
			a.Texts = append(a.Texts, b.String())
		}
	}
	if last < 0 {
		return a, true, ErrDamaged
	}
	return a, true, nil
}

// checked returns the JSON of a line whose checksum is right, and takes the sum on.
func checked(line []byte, sum *uint32) ([]byte, bool) {
	if len(line) < sumLength+1 {
		return nil, false
	}
	want, err := strconv.ParseUint(string(line[:sumLength]), 16, 32)
	text := bytes.TrimSuffix(line[sumLength+1:], []byte("\n"))
	*sum = crc32.Update(*sum, castagnoli(), text)
	return text, err == nil && line[sumLength] == ' ' && uint32(want) == *sum
}

// sumLength is how many digits a checksum has.
const sumLength = 8

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// appendChecked appends a line.
func appendChecked(dst []byte, v any, sum *uint32) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("partial: " + err.Error()) // texts and numbers only
	}
	*sum = crc32.Update(*sum, castagnoli(), text)
	return append(append(fmt.Appendf(dst, "%0*x ", sumLength, *sum), text...), '\n')
}

// SetAside renames a file that says nothing any more, and returns where it is.
func (s *Step) SetAside() (string, error) { return disk.SetAside(s.fs, s.name, time.Now()) }

// Begin is told that an answer is announced.
func (s *Step) Begin(a Answer) {
	s.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.begun, s.sum, s.n, s.all, s.pending, s.texts = a, false, 0, 0, 0, nil, nil
	s.file = &appender{fs: s.fs, name: s.name, take: s.take, report: s.report}
}

// Add is told text of a block of the answer.
func (s *Step) Add(block int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || text == "" || s.all > MaxText {
		return
	}
	cut := s.all+len(text) > MaxText
	if cut {
		text = strings.ToValidUTF8(text[:MaxText-s.all], "")
		s.all = MaxText + 1
	}
	last := len(s.pending) - 1
	if last < 0 || s.pending[last].Block != block {
		s.pending, s.texts = append(s.pending, piece{Block: block}), append(s.texts, &strings.Builder{})
		last++
	}
	s.texts[last].WriteString(text)
	s.pending[last].Cut = cut
	s.n, s.all = s.n+len(text), s.all+len(text)
	s.file.gathered(s.n)
}

// take is the source of the file.
func (s *Step) take() ([]byte, bool) {
	s.mu.Lock()
	pending, texts, answer, begun := s.pending, s.texts, s.answer, s.begun
	s.pending, s.texts, s.n, s.begun = nil, nil, 0, true
	s.mu.Unlock()
	var lines []byte
	if !begun {
		lines = appendChecked(lines, answer, &s.sum)
	}
	for i, p := range pending {
		p.Text = texts[i].String()
		lines = appendChecked(lines, p, &s.sum)
	}
	return lines, false
}

// End is told that the answer is stored, or was taken back: its file goes. A file that
// stays there is known by the id of its message, which the log has then.
func (s *Step) End() {
	s.mu.Lock()
	f := s.file
	s.file = nil
	s.mu.Unlock()
	if f != nil && f.close() {
		s.drop()
	}
}

// Leave stops writing; what is there stays for the next host.
func (s *Step) Leave() {
	s.mu.Lock()
	f := s.file
	s.file = nil
	s.mu.Unlock()
	if f != nil {
		f.close()
	}
}

// Drop removes what [Step.Load] has found.
func (s *Step) Drop() { s.drop() }

func (s *Step) drop() {
	if err := s.fs.Remove(s.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.report.say("remove the text of a step that is stored: " + err.Error())
	}
}
