package registry_test

import (
	"context"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
)

// unlisted is a disk on which the folders cannot be listed in which hosts leave what others
// are to find.
type unlisted struct{ disk.FS }

func (u unlisted) ReadDir(name string) ([]fs.DirEntry, error) {
	for _, folder := range []string{"/.scorel/pending", "/.scorel/run", "/.scorel/mcp/run"} {
		if strings.HasSuffix(name, folder) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
		}
	}
	return u.FS.ReadDir(name)
}

func TestWhatAnEarlierHostLeftAndCannotBeListedIsSaid(t *testing.T) {
	w := hosttest.New(t, serving(), hanging()...)
	if problems := w.Host.ReapAbandoned(context.Background()); len(problems) > 0 {
		t.Errorf("nothing was left: %q", problems)
	}
	w.Config.FS = unlisted{disk.OS()}
	w.Restart()
	harness.Until(t, "a word about queues", func() bool { return w.Reports.Said("queues") })
	problems := strings.Join(w.Host.ReapAbandoned(context.Background()), "\n")
	if n := strings.Count(problems, syscall.EMFILE.Error()); n != 2 {
		t.Errorf("left running: %q", problems)
	}
}
