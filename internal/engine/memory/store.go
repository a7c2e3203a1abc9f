package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"scorel/internal/platform/disk"
	"scorel/internal/text/promptsafe"
)

// Bounds of the notes.
const (
	MaxFile  = 256 << 10 // bytes of a file; a note that does not fit is refused
	MaxLine  = 2 << 10   // bytes of a line of a note
	MaxNote  = 8 << 10   // bytes of a note
	maxDaily = 14        // daily files that are looked at, the newest ones
)

// Scope says whose notes they are.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for all projects
	Project Scope = "project" //
	Daily   Scope = "daily"   // of the project, and of a day
)

// Config is what a [Store] needs.
type Config struct {
	FS disk.FS
	// Dir is the folder of all notes, ~/.scorel/memory; it need not exist.
	Dir string
	// Key names the project, see [Key].
	Key string
	// Resolve follows links, so that a file that a person keeps elsewhere is written
	// there; nil follows none. Its error is a sentence.
	Resolve func(path string) (string, error)
	Now     func() time.Time // its zone says where a day begins
}

// Store is the memory as one project sees it.
type Store struct{ cfg Config }

// New makes a store. It touches nothing.
func New(cfg Config) *Store {
	if cfg.Resolve == nil {
		cfg.Resolve = func(path string) (string, error) { return path, nil }
	}
	return &Store{cfg}
}

// keySlug is how many characters of a project's name its key begins with.
const keySlug = 40

// Key names a project by where its repository is, which linked worktrees share, or by
// its folder without one: readable in front, and 12 hexadecimal digits of the path's
// SHA-256. Both are absolute and without links; commonDir is "" without a repository.
func Key(root, commonDir string) string {
	path, name := root, filepath.Base(root)
	if commonDir != "" {
		path, name = commonDir, filepath.Base(commonDir)
		if name == ".git" {
			name = filepath.Base(filepath.Dir(commonDir))
		}
		name = strings.TrimSuffix(name, ".git")
	}
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		if slug.Len() == keySlug {
			break
		}
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' {
			slug.WriteRune(r)
		} else {
			slug.WriteByte('-')
		}
	}
	sum := sha256.Sum256([]byte(path))
	return strings.TrimLeft(slug.String()+"-", ".-") + hex.EncodeToString(sum[:6])
}

func (s *Store) project() string { return filepath.Join(s.cfg.Dir, "projects", s.cfg.Key) }

func (s *Store) daily() string { return filepath.Join(s.project(), "daily") }

// Path returns the file of a scope; of the daily notes that of today.
func (s *Store) Path(scope Scope) string {
	switch scope {
	case User:
		return filepath.Join(s.cfg.Dir, "MEMORY.md")
	case Daily:
		return filepath.Join(s.daily(), s.cfg.Now().Format(dayForm)+dayEnd)
	}
	return filepath.Join(s.project(), "MEMORY.md")
}

// The names of daily files.
const (
	dayForm = time.DateOnly
	dayEnd  = ".md"
)

// File is a file of notes as it was read.
type File struct {
	Scope Scope
	Day   string // of a daily one, as 2026-11-20
	Path  string
	Size  int64
	// Text is the first MaxFile bytes of it without what nobody sees, see [promptsafe.Clean]; Cut says that there is more.
	Text string
	Cut  bool
}

// Read returns the files that hold notes: the user's, the project's, and the newest
// daily ones by day. What cannot be read, or is not UTF-8, is left out whole, and the error
// names it.
func (s *Store) Read() ([]File, error) {
	files := []File{{Scope: User, Path: s.Path(User)}, {Scope: Project, Path: s.Path(Project)}}
	days, err := s.days()
	days = days[max(0, len(days)-maxDaily):]
	for _, day := range days {
		files = append(files, File{Scope: Daily, Day: day, Path: s.dayPath(day)})
	}
	out := files[:0]
	for _, f := range files {
		data, size, rerr := readHead(s.cfg.FS, f.Path)
		switch {
		case errors.Is(rerr, fs.ErrNotExist):
			continue
		case rerr != nil:
			err = errors.Join(err, fmt.Errorf("the notes in %s cannot be read: %w", f.Path, rerr))
			continue
		}
		f.Size, f.Text, f.Cut = size, promptsafe.Clean(string(data)), size > MaxFile
		if strings.TrimSpace(f.Text) != "" {
			out = append(out, f)
		}
	}
	return out, err
}

func (s *Store) dayPath(day string) string { return filepath.Join(s.daily(), day+dayEnd) }

// days returns the days that have notes, oldest first.
func (s *Store) days() ([]string, error) {
	entries, err := s.cfg.FS.ReadDir(s.daily())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the daily notes in %s cannot be read: %w", s.daily(), err)
	}
	var days []string
	for _, e := range entries {
		day, ok := strings.CutSuffix(e.Name(), dayEnd)
		if !ok || e.IsDir() {
			continue
		}
		if _, err := time.Parse(dayForm, day); err == nil {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return days, nil
}

// errNotText says that a file is none of notes: what of it could be read would be half of what
// a person has written.
var errNotText = errors.New("they are not UTF-8; save the file as UTF-8")

// readHead reads at most MaxFile bytes of a file, whole characters, and returns its size.
func readHead(fsys disk.FS, name string) ([]byte, int64, error) {
	f, err := fsys.Open(name, disk.ReadOnly)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil {
		return nil, 0, err
	}
	data := make([]byte, min(size, MaxFile))
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	data = data[:n] // shorter when it was replaced meanwhile
	if size > MaxFile {
		for cut := 0; cut < utf8.UTFMax-1 && len(data) > 0; cut++ { // of a character that goes on
			if r, width := utf8.DecodeLastRune(data); r != utf8.RuneError || width != 1 {
				break
			}
			data = data[:len(data)-1]
		}
	}
	if !utf8.Valid(data) {
		return nil, 0, errNotText
	}
	return data, size, nil
}

// lock takes the lock of all notes, making their folder.
func (s *Store) lock() (disk.Unlocker, error) {
	if err := s.folder(s.cfg.Dir); err != nil {
		return nil, err
	}
	return disk.WaitLock(s.cfg.FS, filepath.Join(s.cfg.Dir, ".lock"))
}

// folder makes a folder and those above it, durably.
func (s *Store) folder(dir string) error {
	if err := s.cfg.FS.MkdirAll(dir); err != nil {
		return err
	}
	for at := dir; ; at = filepath.Dir(at) { // up to the folder of Scorel, which is there
		if err := s.cfg.FS.SyncDir(filepath.Dir(at)); err != nil {
			return err
		}
		if at == s.cfg.Dir || at == filepath.Dir(at) {
			return nil
		}
	}
}
