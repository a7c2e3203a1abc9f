package files

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"scorel/internal/text/spelling"
)

const (
	nearScan  = 10_000 // names of a folder are compared
	nearNames = 3      // are suggested
)

// Missing is the error for a path where nothing is, with names that are like it.
func Missing(t *Target, hint string) error {
	text := t.Path.Abs + " does not exist."
	want := t.base
	if len(t.missing) > 0 {
		want = t.missing[0]
		if real, err := realPath(t.dir); err == nil {
			text += fmt.Sprintf(" There is no %q in %s.", want, real)
		}
	}
	if names := near(t.dir, want); len(names) > 0 {
		text += " Near it are: " + strings.Join(names, ", ") + "."
	}
	if hint != "" {
		text += " " + hint
	}
	return fmt.Errorf("%s", text)
}

// near returns the names in dir that are most like name.
func near(dir *os.File, name string) []string {
	fd, err := unix.Openat(int(dir.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	list := os.NewFile(uintptr(fd), ".")
	defer list.Close()
	names, _ := list.Readdirnames(nearScan)
	type candidate struct {
		name string
		away int
	}
	var found []candidate
	low := strings.ToLower(name)
	stem, _, _ := strings.Cut(low, ".")
	for _, n := range names {
		l := strings.ToLower(n)
		away := distance(low, l)
		s, _, _ := strings.Cut(l, ".")
		if len(stem) > 2 && s == stem {
			away = min(away, 1)
		}
		if away <= max(1, len(name)/3) {
			found = append(found, candidate{n, away})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.away != b.away {
			return a.away - b.away
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, c := range found[:min(len(found), nearNames)] {
		out = append(out, c.name)
	}
	return out
}

// distance counts the letters to add, remove or change to make b of a; names
// that differ in length by more than a third are far apart.
func distance(a, b string) int {
	if d := len(a) - len(b); d > len(a)/3+1 || -d > len(a)/3+1 {
		return max(len(a), len(b))
	}
	return spelling.Distance(a, b)
}
