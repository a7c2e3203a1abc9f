package tool

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"scorel/internal/platform/sandbox"
)

// ripgrep names the files below the folder by a child, those with a match only
// when there is a pattern. It is false when ripgrep is not there or could not do
// it; what was emitted then is not all. The child only proposes: which lines
// match, and in which order files stand, is decided here for both engines.
func (s *searchRoot) ripgrep(ctx context.Context, re *pattern, depth int, emit func(rel string)) bool {
	if s.in.ripgrep == "" || re != nil && re.rg == "" {
		return false
	}
	args := []string{"--no-config", "--color=never", "--no-ignore-global", "--null"}
	if depth > 0 {
		args = append(args, "--max-depth="+strconv.Itoa(depth))
	}
	for _, closed := range []string{s.in.files.Reach(), "/proc", "/sys", "/dev"} {
		if rel, err := filepath.Rel(s.path.Abs, closed); err == nil && filepath.IsLocal(rel) && closed != "" {
			args = append(args, "--glob=!/"+escapeGlob(rel))
		}
	}
	if re == nil {
		args = append(args, "--files")
	} else {
		// All files as text: which are binary is decided here, too.
		args = append(args, "--files-with-matches", "--text", "--regexp="+re.rg)
	}
	out := &nulSplitter{emit: emit}
	problems := &lineSplitter{emit: s.unreadByRipgrep}
	child, err := s.in.spawn.Start(ctx, sandbox.Cmd{Path: s.in.ripgrep, Args: append(args, "./"),
		Dir: s.path.Abs, Env: s.in.environ, Stdout: out, Stderr: problems})
	if err != nil {
		return false
	}
	exit := child.Wait()
	// 0: found, 1: nothing found, 2: an error, which with output is that of
	// single files that cannot be read.
	return exit.Code <= 1 && exit.Err == nil || exit.Code == 2 && out.n > 0
}

func escapeGlob(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if strings.IndexByte(`*?[]{}\!`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// nulSplitter emits the names in a stream that NULs end.
type nulSplitter struct {
	emit func(rel string)
	part []byte
	n    int
}

// Write implements [io.Writer].
func (w *nulSplitter) Write(p []byte) (int, error) {
	size := len(p)
	for {
		name, rest, ok := bytes.Cut(p, []byte{0})
		w.part = append(w.part, name...)
		if !ok {
			return size, nil
		}
		w.n++
		w.emit(strings.TrimPrefix(string(w.part), "./"))
		w.part, p = w.part[:0], rest
	}
}

// unreadByRipgrep notes the file or folder of which a line of ripgrep's messages says that it
// cannot be read. Within its sandbox more may be unreadable, so it is tried here.
func (s *searchRoot) unreadByRipgrep(line string) {
	line = strings.TrimPrefix(line, "rg: ")
	name, _, found := strings.Cut(line, ": ")
	if !found || !strings.HasSuffix(line, ")") || !strings.Contains(line, "(os error ") {
		return
	}
	rel := strings.TrimPrefix(name, "./")
	if !filepath.IsLocal(rel) {
		return
	}
	f, err := s.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		s.unread(rel, err)
		return
	}
	_ = f.Close() // nothing was read
}

// lineSplitter emits the lines of a stream, but for what is too long to be one.
type lineSplitter struct {
	emit func(line string)
	part []byte
}

// Write implements [io.Writer].
func (w *lineSplitter) Write(p []byte) (int, error) {
	size := len(p)
	for {
		line, rest, ok := bytes.Cut(p, []byte("\n"))
		if len(w.part) < 8<<10 {
			w.part = append(w.part, line...)
		}
		if !ok {
			return size, nil
		}
		w.emit(string(w.part))
		w.part, p = w.part[:0], rest
	}
}
