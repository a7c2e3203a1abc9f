package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"scorel/internal/engine/session/owner"
	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
	"scorel/protocol/framed"
)

// Query chooses sessions. Its zero value chooses all.
type Query struct {
	ProjectID protocol.ProjectID // also those of which nobody knows the project; empty: of any
	Text      string             // in name, first prompt or folder, or the beginning of the id, in any case; empty: any
	Limit     int                // 0: no limit
	Top       bool               // not those of sub-agents
	Parent    protocol.SessionID // only those of this session's sub-agents; empty: all
	Jobs      bool               // only jobs
	Before    *Position          // only sessions after this one in the list; nil: from the newest
}

// Position is a place in the list: what was changed last comes first, and of
// what was changed in the same millisecond the higher id.
type Position struct {
	UpdatedAt int64
	ID        protocol.SessionID
}

// Summary is what a list shows of a session. Times are in Unix milliseconds;
// UpdatedAt is that of the file.
type Summary struct {
	ID          protocol.SessionID   `json:"id"`
	Meta        protocol.Meta        `json:"meta"`
	CreatedAt   int64                `json:"createdAt"`
	UpdatedAt   int64                `json:"updatedAt"`
	FirstPrompt string               `json:"firstPrompt,omitempty"` // at most 200 characters
	Events      int                  `json:"events"`                // lines after the header
	ClonedFrom  *protocol.ClonedFrom `json:"clonedFrom,omitempty"`
	Parent      *protocol.Parent     `json:"parent,omitempty"`
	// Damaged says in a sentence why the header tells nothing; "" where it does. Nobody
	// knows then of which project the session is.
	Damaged string       `json:"damaged,omitempty"`
	Locked  *owner.Owner `json:"-"` // who writes it now, if anybody
}

// Position returns the place of the session in the list.
func (s Summary) Position() Position { return Position{s.UpdatedAt, s.ID} }

// maxPrompt is how many characters of the first prompt a summary holds.
const maxPrompt = 200

// listed is a log file as the folder shows it.
type listed struct {
	id   protocol.SessionID
	size int64
	mod  time.Time
	gone bool // it was removed while somebody has the session open
}

func (l listed) position() Position { return Position{l.mod.UnixMilli(), l.id} }

// after orders the list: newest first.
func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(q.UpdatedAt, p.UpdatedAt), cmp.Compare(q.ID, p.ID))
}

// List returns the sessions that the query chooses, newest first. Only files that
// have changed since they were last listed are read, and only as far as the
// consumer goes. A file that cannot be read gives a summary with its id and
// times alone, and why.
func (s *Store) List(ctx context.Context, q Query) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		files, err := s.files()
		if err != nil {
			yield(Summary{}, err)
			return
		}
		slices.SortFunc(files, func(a, b listed) int { return a.position().compare(b.position()) })
		c := s.openCache()
		defer c.close(files)
		given := 0
		for _, f := range files {
			if q.Before != nil && f.position().compare(*q.Before) <= 0 {
				continue
			}
			if q.Limit > 0 && given == q.Limit {
				return
			}
			if err := ctx.Err(); err != nil {
				yield(Summary{}, err)
				return
			}
			sum := c.summary(ctx, f)
			if !q.chooses(sum) {
				continue
			}
			if text, held, err := s.fs.Holder(filepath.Join(s.sessions(), string(f.id)+lockSuffix)); err == nil && held {
				o := owner.Parse(text)
				sum.Locked = &o
			}
			given++
			if !yield(sum, nil) {
				return
			}
		}
	}
}

func (q Query) chooses(s Summary) bool {
	if q.ProjectID != "" && q.ProjectID != s.Meta.ProjectID && s.Damaged == "" || q.Jobs && s.Meta.Job == nil {
		return false
	}
	if q.Top && s.Parent != nil || q.Parent != "" && (s.Parent == nil || s.Parent.SessionID != q.Parent) {
		return false
	}
	text := strings.ToLower(q.Text)
	for _, in := range []string{s.Meta.Name, s.FirstPrompt, s.Meta.WorkDir} {
		if strings.Contains(strings.ToLower(in), text) {
			return true
		}
	}
	return strings.HasPrefix(string(s.ID), text)
}

// files returns the logs in the folder.
func (s *Store) files() ([]listed, error) {
	entries, err := s.fs.ReadDir(s.sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	var out []listed
	there := map[string]bool{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), logSuffix)
		if !ok || protocol.SessionID(id).Check() != nil {
			continue
		}
		there[id] = true
		info, err := e.Info()
		if err != nil {
			continue // deleted meanwhile
		}
		f := listed{id: protocol.SessionID(id), size: info.Size(), mod: info.ModTime()}
		if e.Type()&fs.ModeSymlink != 0 { // one that leads nowhere is a log that cannot be read
			f.size = 0
			if at, err := s.fs.Stat(filepath.Join(s.sessions(), e.Name())); err == nil {
				f.size, f.mod = at.Size(), at.ModTime()
			}
		}
		out = append(out, f)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), lockSuffix)
		if !ok || there[id] || s.removed(protocol.SessionID(id)) == nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			out = append(out, listed{id: protocol.SessionID(id), mod: info.ModTime(), gone: true})
		}
	}
	return out, nil
}

// removed returns who has a session open of which the log was removed: it is written again. It
// is nil for any other session.
func (s *Store) removed(id protocol.SessionID) *RemovedError {
	if id.Check() != nil {
		return nil
	}
	text, held, err := s.fs.Holder(filepath.Join(s.sessions(), string(id)+lockSuffix))
	if err != nil || !held {
		return nil
	}
	if there, err := s.exists(id); there || err != nil {
		return nil // made since
	}
	return &RemovedError{id, owner.Parse(text)}
}

// unreadLog says for people that a log cannot be read.
func unreadLog(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) { // the list names the session
		err = path.Err
	}
	return protocol.UnreadLog + err.Error() + "."
}

// summarise reads a log for the list: its header, its first prompt and all
// session_info events.
func (s *Store) summarise(ctx context.Context, f listed) (Summary, error) {
	h := bareHeader(f.id)
	sum := Summary{ID: f.id, CreatedAt: h.CreatedAt, UpdatedAt: f.mod.UnixMilli()}
	if f.gone {
		sum.Damaged = removedLog + "."
		return sum, ErrNotFound
	}
	file, err := s.fs.Open(s.path(f.id), disk.ReadOnly)
	if err != nil {
		sum.Damaged = unreadLog(err)
		return sum, err
	}
	defer file.Close()
	if f.size == 0 {
		sum.Damaged = "Its log is empty."
	}
	b := &rawlog.Blocks{Read: file.ReadAt, Size: f.size}
	var buf []byte
	for {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		blk, err := b.Next(buf)
		if err == io.EOF {
			switch {
			case sum.Meta.ProjectID != "": // of the header, or set since
				sum.Damaged = ""
			case sum.Damaged == "" && sum.Meta.WorkDir == "": // the header was made anew
				sum.Damaged = "Its log no longer says which folder it is of."
			}
			return sum, nil
		}
		if err != nil {
			sum.Damaged = cmp.Or(sum.Damaged, unreadLog(err))
			return sum, err
		}
		if blk.Off == 0 {
			sum.Damaged = "The first line of its log is damaged, which says what it is of."
		}
		if blk.Data != nil {
			sum.read(blk)
			buf = blk.Data
		}
	}
}

// read takes what a summary needs from some lines.
func (s *Summary) read(blk rawlog.Block) {
	data := blk.Data
	if blk.Off == 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if h, err := protocol.ParseHeader(bytes.TrimSuffix(line, []byte("\r"))); err == nil {
			s.Meta, s.ClonedFrom, s.Parent, s.Damaged, data = h.Meta, h.ClonedFrom, h.Parent, "", rest
			if h.CreatedAt > 0 {
				s.CreatedAt = h.CreatedAt
			}
		}
	}
	s.Events += bytes.Count(data, []byte("\n"))
	for rest := data; s.FirstPrompt == "" && len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		s.FirstPrompt = firstPrompt(line)
	}
	mark := []byte(`{"type":"session_info"`)
	for rest := data; ; {
		i := bytes.Index(rest, mark)
		if i < 0 {
			return
		}
		line, after, _ := bytes.Cut(rest[i:], []byte("\n"))
		if i == 0 || rest[i-1] == '\n' {
			if ev, err := protocol.ParseEvent(line); err == nil {
				if info, ok := ev.Body.(*protocol.SessionInfo); ok {
					info.Changes.Apply(&s.Meta)
				}
			}
		}
		rest = after
	}
}

// firstPrompt returns the text of a user message, cut.
func firstPrompt(line []byte) string {
	if !bytes.HasPrefix(line, []byte(`{"type":"message"`)) || !bytes.Contains(line, []byte(`"role":"user"`)) {
		return ""
	}
	ev, err := protocol.ParseEvent(line)
	if err != nil {
		return ""
	}
	return promptOf(ev)
}

// maxPromptSearch is how many messages are looked through for the first prompt of an
// open log.
const maxPromptSearch = 64

// FirstPrompt returns the text of the first user message as [Summary] has it, "" when
// none is among the first messages.
func (ix *Index) FirstPrompt(ctx context.Context) (string, error) {
	n := 0
	for ev, err := range ix.OfType(ctx, protocol.TypeMessage) {
		if err != nil {
			return "", err
		}
		if text := promptOf(ev); text != "" {
			return text, nil
		}
		if n++; n == maxPromptSearch {
			break
		}
	}
	return "", nil
}

// promptOf returns the text of a user message, cut; "" for another event.
func promptOf(ev protocol.Event) string {
	m, ok := message(ev)
	if !ok || m.Role != protocol.RoleUser {
		return ""
	}
	text := framed.Unframed(strings.TrimSpace(m.PlainText()))
	if utf8.RuneCountInString(text) > maxPrompt {
		text = string([]rune(text)[:maxPrompt])
	}
	return strings.Clone(text)
}
