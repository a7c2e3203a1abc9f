package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"scorel/internal/platform/disk"
	"scorel/internal/text/promptsafe"
	"scorel/internal/text/secret"
)

// RefusedError says in one sentence why a note was not taken: it is for who wrote it.
type RefusedError struct{ text string }

func (e *RefusedError) Error() string { return e.text }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Add adds a note to the end of a file and returns the file. What a person has written
// there meanwhile stays. A note that is empty, too long, or looks like a secret, and
// one that the file has no room for, fails with a *RefusedError and changes nothing.
//
// by names the request that adds it, "" for none: of the last 256 such requests each
// adds its note once, however often it is made and whenever the process dies. Where
// that cannot be said any more Add fails with [ErrUnknown] and adds nothing.
func (s *Store) Add(scope Scope, text, by string) (path string, err error) {
	switch scope {
	case User, Project, Daily:
	default:
		return "", refuse("there is no scope %.40q for a note; it can be project, user or daily", string(scope))
	}
	note, err := s.entry(scope, text)
	if err != nil {
		return "", err
	}
	l, err := s.lock()
	if err != nil {
		return "", fmt.Errorf("the notes cannot be locked: %w", err)
	}
	defer func() { _ = l.Unlock() }()
	if path, err = s.cfg.Resolve(s.Path(scope)); err != nil {
		return "", refuse("%v", err)
	}
	old, err := disk.ReadFile(s.cfg.FS, path, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = nil, s.folder(filepath.Dir(path))
	} else if err != nil && sizeOf(s.cfg.FS, path) > MaxFile {
		return "", refuse("%s has more than %d bytes; shorten it, then add the note again", path, MaxFile)
	}
	if err != nil {
		return "", fmt.Errorf("the notes in %s cannot be read: %w", path, err)
	}
	if !utf8.Valid(old) { // see errNotText
		return "", refuse("the notes in %s are not UTF-8, so no model gets them; save the file as UTF-8, then add the note again", path)
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		note = "\n" + note
	}
	changed := append(old[:len(old):len(old)], note...)
	var known []request
	if by != "" {
		if known, err = s.requests(); err != nil {
			return "", err
		}
	}
	said := sum(string(scope), []byte(text))
	if was, err := added(known, by, said, path, old); err != nil || was {
		return path, err
	}
	if len(changed) > MaxFile {
		return "", refuse("%s has %d bytes and may have at most %d; shorten it, then add the note again", path, len(old), MaxFile)
	}
	done, err := s.noting(known, by, said, path, old, changed)
	if err != nil {
		return "", err
	}
	if err := disk.WriteFile(s.cfg.FS, path, changed); err != nil {
		return "", fmt.Errorf("the note cannot be kept in %s: %w", path, err)
	}
	return path, done()
}

func sizeOf(fsys disk.FS, name string) int64 {
	info, err := fsys.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// entry is a note as it is in the file: an item of a list, its further lines set
// in, with the time in front in daily notes.
func (s *Store) entry(scope Scope, text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", refuse("the note is not valid UTF-8")
	}
	text = strings.TrimSpace(promptsafe.Clean(text))
	switch {
	case text == "":
		return "", refuse("the note is empty; say what to remember")
	case len(text) > MaxNote:
		return "", refuse("the note has %d bytes and may have at most %d; shorten it to what matters later", len(text), MaxNote)
	case secret.Looks(text):
		return "", refuse("the note looks as if it holds a password or a key, and notes are sent to models; write down where the secret is stored instead")
	}
	var b strings.Builder
	b.WriteString("- ")
	if scope == Daily {
		b.WriteString(s.cfg.Now().Format("15:04 "))
	}
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if len(line) > MaxLine {
			return "", refuse("a line of the note has %d bytes and may have at most %d; break it up", len(line), MaxLine)
		}
		if line == "" {
			continue
		}
		if !first {
			b.WriteString("  ")
		}
		first = false
		b.WriteString(line + "\n")
	}
	return b.String(), nil
}
