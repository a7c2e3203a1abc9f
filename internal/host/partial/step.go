package partial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"scorel/internal/disk"
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

	Texts []string `json:"-"` // of its blocks of text, in order
	Cut   bool     `json:"-"` // there was more than is kept
}

// piece is a line of the file behind the first: text of a block.
type piece struct {
	Block int    `json:"block"`
	Text  string `json:"text"`
	Cut   bool   `json:"cut,omitempty"` // nothing that follows is kept
}

// Step keeps the text of the answer of the running step of one session.
type Step struct {
	fs     disk.FS
	name   string
	report func(string)

	mu      sync.Mutex
	answer  Answer
	file    *appender // of the answer; nil: there is none
	pending []piece
	texts   []*strings.Builder // of pending, so that pieces of a block are one
	n, all  int                // bytes of text that wait, and of all
	begun   bool               // the first line was written
}

// StepName is the file of a session in the folder pending.
func StepName(dir string, id protocol.SessionID) string {
	return filepath.Join(dir, string(id)+".partial")
}

// NewStep makes the keeper of a session's running step. Report is told what cannot be
// written.
func NewStep(fsys disk.FS, dir string, id protocol.SessionID, report func(string)) *Step {
	return &Step{fs: fsys, name: StepName(dir, id), report: report}
}

// Load returns the answer that an earlier host was in the middle of, and false when there
// is none. A line that was half written is left out.
func (s *Step) Load() (Answer, bool, error) {
	data, err := disk.ReadFile(s.fs, s.name, maxStepFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Answer{}, false, nil
	}
	if err != nil {
		return Answer{}, false, err
	}
	var a Answer
	texts := map[int]*strings.Builder{}
	last := -1
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if i == 0 {
			if err := json.Unmarshal(line, &a); err != nil || a.EventID.Check() != nil || a.SessionID.Check() != nil {
				return Answer{}, true, fmt.Errorf("the file %s is damaged", filepath.Base(s.name))
			}
			continue
		}
		var p piece
		if json.Unmarshal(line, &p) != nil || p.Block < 0 || p.Block > MaxText {
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
	return a, a.EventID != "", nil
}

// Begin is told that an answer is announced.
func (s *Step) Begin(a Answer) {
	s.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.begun, s.n, s.all, s.pending, s.texts = a, false, 0, 0, nil, nil
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
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if !begun {
		_ = w.Encode(answer) // texts only
	}
	for i, p := range pending {
		p.Text = texts[i].String()
		_ = w.Encode(p)
	}
	return b.Bytes(), false
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
		s.report("remove the text of a step that is stored: " + err.Error())
	}
}
