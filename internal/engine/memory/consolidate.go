package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/internal/platform/disk"
	"scorel/internal/text/promptsafe"
	"scorel/internal/text/secret"
)

// Bounds of a consolidation.
const (
	maxSection = 64 << 10 // bytes of the summary of daily notes
	maxJournal = 64 << 10 // bytes of the file that says what was done
	maxDays    = 31       // days of one consolidation
)

// The summary of daily notes is between these lines of the project's MEMORY.md.
// What is outside of them belongs to people and is never rewritten.
const (
	sectionBegin = "<!-- from the daily notes; scorel rewrites what stands here -->"
	sectionEnd   = "<!-- end of the daily notes -->"
)

// Draft is what a summary is made of: the summary so far, "" without one, and daily
// notes that are to go into it, oldest first.
type Draft struct {
	Summary string
	Days    []File
}

// journal is the file that says when a project was consolidated last, and what is left
// to be done of that.
type journal struct {
	// Day is that of the last try: there is one a day, whatever comes of it.
	Day string `json:"day"`
	// Summary is the digest of a summary that was about to be written; once it stands
	// in MEMORY.md the days of Archive are in it and can be set aside.
	Summary string      `json:"summary,omitempty"`
	Archive []fileState `json:"archive,omitempty"`
}

func (s *Store) journalPath() string { return filepath.Join(s.project(), "consolidated.json") }

func (s *Store) archive() string { return filepath.Join(s.daily(), "archive") }

// Consolidate brings daily notes of the days before today into the summary in the
// project's MEMORY.md, at most once a day for all processes, and returns how many days
// it set aside in daily/archive. summarise gets as much as fits into room tokens, the
// oldest days first, and returns the new summary; nothing is locked while it runs. The
// notes as they were stay in MEMORY.md.previous. At any point of it a crash loses
// nothing: what was not finished is finished by the next call, and the days stay
// until their summary is durable. A summary that is empty, too long, or looks like a
// secret, is not taken; nor is one whose predecessor somebody has edited meanwhile.
func (s *Store) Consolidate(ctx context.Context, room int, summarise func(context.Context, Draft) (string, error)) (days int, err error) {
	if all, err := s.days(); err != nil || len(all) == 0 {
		return 0, err // also where there is no folder
	}
	l, err := s.cfg.FS.Lock(filepath.Join(s.project(), ".consolidate.lock"), fmt.Appendf(nil, "pid %d", os.Getpid()))
	var held *disk.LockedError
	if errors.As(err, &held) {
		return 0, nil // another host does it
	}
	if err != nil {
		return 0, fmt.Errorf("the daily notes cannot be locked: %w", err)
	}
	defer func() { _ = l.Unlock() }()

	draft, err := s.begin(room)
	if err != nil || len(draft.Days) == 0 {
		return 0, err
	}
	answer, err := summarise(ctx, draft)
	if err != nil {
		return 0, err
	}
	summary, err := checkSummary(answer, draft)
	if err != nil {
		return 0, err
	}
	return s.finish(draft, summary)
}

// begin finishes what an earlier call could not, and returns what there is to do today.
// That it is tried is durable before anything is asked.
func (s *Store) begin(room int) (Draft, error) {
	l, err := s.lock()
	if err != nil {
		return Draft{}, fmt.Errorf("the notes cannot be locked: %w", err)
	}
	defer func() { _ = l.Unlock() }()
	j, err := s.readJournal()
	if err != nil {
		return Draft{}, err
	}
	text, err := s.projectNotes()
	if err != nil {
		return Draft{}, err
	}
	_, summary, _ := cutSection(text)
	if j.Summary != "" {
		if digest(summary) == j.Summary {
			// It may have its name without that being durable.
			path, err := s.cfg.Resolve(s.Path(Project))
			if err == nil {
				err = s.cfg.FS.SyncDir(filepath.Dir(path))
			}
			if err != nil {
				return Draft{}, fmt.Errorf("the summary of the daily notes cannot be made durable: %w", err)
			}
			if _, err := s.setAside(j.Archive); err != nil {
				return Draft{}, err
			}
		}
		j.Summary, j.Archive = "", nil
		if err := s.writeJournal(j); err != nil {
			return Draft{}, err
		}
	}
	today := s.cfg.Now().Format(dayForm)
	if j.Day == today {
		return Draft{}, nil
	}
	draft, err := s.draft(summary, today, room)
	if err != nil || len(draft.Days) == 0 {
		return Draft{}, err
	}
	j.Day = today
	return draft, s.writeJournal(j)
}

// draft collects the days before today that fit.
func (s *Store) draft(summary, today string, room int) (Draft, error) {
	d := Draft{Summary: summary}
	days, err := s.days()
	if err != nil {
		return d, err
	}
	room -= model.EstimateText(summary)
	for _, day := range days {
		if day >= today || len(d.Days) == maxDays {
			break
		}
		f := File{Scope: Daily, Day: day, Path: s.dayPath(day)}
		data, size, err := readHead(s.cfg.FS, f.Path)
		if err != nil {
			return d, fmt.Errorf("the notes in %s cannot be read: %w", f.Path, err)
		}
		if size > MaxFile {
			return d, fmt.Errorf("%s has more than %d bytes; shorten it", f.Path, MaxFile)
		}
		f.Size, f.Text = size, string(data)
		if room -= model.EstimateText(f.Text) + model.EstimateText(day); room < 0 {
			if len(d.Days) == 0 {
				return d, fmt.Errorf("the notes in %s are too long for the window of the auxiliary model; shorten them", f.Path)
			}
			break
		}
		d.Days = append(d.Days, f)
	}
	return d, nil
}

// checkSummary makes an answer a summary, or says why it is none.
func checkSummary(answer string, d Draft) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(promptsafe.Clean(answer)) {
		line = strings.TrimRight(line, " \t\n")
		if line == sectionBegin || line == sectionEnd || strings.HasPrefix(line, "```") {
			continue
		}
		for len(line) > MaxLine {
			at := strings.LastIndexByte(line[:MaxLine], ' ')
			if at <= 0 {
				for at = MaxLine; !utf8.RuneStart(line[at]); at-- {
				}
			}
			b.WriteString(line[:at] + "\n")
			line = strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(line + "\n")
	}
	summary := strings.TrimSpace(b.String())
	switch {
	case summary == "":
		return "", errors.New("the summary of the daily notes was empty")
	case len(summary) > maxSection:
		return "", fmt.Errorf("the summary of the daily notes has %d bytes and may have at most %d", len(summary), maxSection)
	case secret.Looks(summary) && !d.looksSecret():
		return "", errors.New("the summary of the daily notes looks as if it holds a password or a key")
	}
	return summary, nil
}

// looksSecret reports whether a person has written something into the notes that would be
// refused as a note: the summary may repeat it.
func (d Draft) looksSecret() bool {
	if secret.Looks(d.Summary) {
		return true
	}
	for _, f := range d.Days {
		if secret.Looks(f.Text) {
			return true
		}
	}
	return false
}

// finish writes the summary and sets its days aside.
func (s *Store) finish(d Draft, summary string) (int, error) {
	l, err := s.lock()
	if err != nil {
		return 0, fmt.Errorf("the notes cannot be locked: %w", err)
	}
	defer func() { _ = l.Unlock() }()
	path, err := s.cfg.Resolve(s.Path(Project))
	if err != nil {
		return 0, err
	}
	text, err := s.projectNotes()
	if err != nil {
		return 0, err
	}
	before, old, after := cutSection(text)
	if old != d.Summary {
		return 0, fmt.Errorf("the summary in %s was edited meanwhile; the new one is dropped", path)
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	next := before + sectionBegin + "\n" + summary + "\n" + sectionEnd + "\n" + after
	if len(next) > MaxFile {
		return 0, fmt.Errorf("%s would have %d bytes and may have at most %d; shorten it", path, len(next), MaxFile)
	}
	if text != "" {
		if err := disk.WriteFile(s.cfg.FS, s.Path(Project)+".previous", []byte(text)); err != nil {
			return 0, fmt.Errorf("the notes as they are cannot be kept: %w", err)
		}
	}
	j := journal{Day: s.cfg.Now().Format(dayForm), Summary: digest(summary)}
	for _, f := range d.Days {
		j.Archive = append(j.Archive, fileState{Scope: Daily, Day: f.Day, Bytes: len(f.Text), SHA256: digest(f.Text)})
	}
	if err := s.writeJournal(j); err != nil {
		return 0, err
	}
	if err := disk.WriteFile(s.cfg.FS, path, []byte(next)); err != nil {
		return 0, fmt.Errorf("the summary cannot be kept in %s: %w", path, err)
	}
	n, err := s.setAside(j.Archive)
	if err != nil {
		return n, err
	}
	return n, s.writeJournal(journal{Day: j.Day})
}

// setAside moves daily notes into the archive that are still as they were summarised.
func (s *Store) setAside(days []fileState) (n int, err error) {
	if err := s.folder(s.archive()); err != nil {
		return 0, fmt.Errorf("the daily notes cannot be set aside: %w", err)
	}
	for _, d := range days {
		data, err := disk.ReadFile(s.cfg.FS, s.dayPath(d.Day), MaxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is there already
		}
		if err != nil || len(data) != d.Bytes || digest(string(data)) != d.SHA256 {
			continue // somebody has written into it: it stays for the next time
		}
		to, err := s.free(filepath.Join(s.archive(), d.Day))
		if err == nil {
			err = s.cfg.FS.Rename(s.dayPath(d.Day), to)
		}
		if err != nil {
			return n, fmt.Errorf("the daily notes of %s cannot be set aside: %w", d.Day, err)
		}
		n++
	}
	// The new names first: a name that is durable nowhere would be a loss.
	if err := errors.Join(s.cfg.FS.SyncDir(s.archive()), s.cfg.FS.SyncDir(s.daily())); err != nil {
		return n, fmt.Errorf("the daily notes cannot be set aside: %w", err)
	}
	return n, nil
}

// free returns a name that nothing has: archived notes are never replaced.
func (s *Store) free(stem string) (string, error) {
	for i := 1; ; i++ {
		name := stem + dayEnd
		if i > 1 {
			name = fmt.Sprintf("%s-%d%s", stem, i, dayEnd)
		}
		_, err := s.cfg.FS.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// projectNotes returns the project's MEMORY.md as it is, "" without one.
func (s *Store) projectNotes() (string, error) {
	path := s.Path(Project)
	data, err := disk.ReadFile(s.cfg.FS, path, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the notes in %s cannot be read: %w", path, err)
	}
	return string(data), nil
}

// cutSection takes the summary of daily notes out of the text of a file: it stands
// between the last line that begins one and the line that ends it. Other marks are
// text of a person; without an end there is no summary, and the next one comes after.
func cutSection(text string) (before, summary, after string) {
	begin, first, end := -1, 0, -1 // where the mark, the summary and its end begin
	at := 0
	for line := range strings.Lines(text) {
		next := at + len(line)
		switch strings.TrimRight(line, " \t\r\n") {
		case sectionBegin:
			begin, first, end = at, next, -1
		case sectionEnd:
			if begin >= 0 && end < 0 {
				end, after = at, text[next:]
			}
		}
		at = next
	}
	if end < 0 {
		return text, "", ""
	}
	return text[:begin], strings.TrimSpace(text[first:end]), after
}

// readJournal reads what was done. A damaged file counts as none: the worst is a
// second try on one day.
func (s *Store) readJournal() (journal, error) {
	var j journal
	data, err := disk.ReadFile(s.cfg.FS, s.journalPath(), maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return j, fmt.Errorf("%s cannot be read: %w", s.journalPath(), err)
	}
	if json.Unmarshal(data, &j) != nil {
		return journal{}, nil
	}
	return j, nil
}

func (s *Store) writeJournal(j journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(s.cfg.FS, s.journalPath(), append(data, '\n')); err != nil {
		return fmt.Errorf("%s cannot be written: %w", s.journalPath(), err)
	}
	return nil
}
