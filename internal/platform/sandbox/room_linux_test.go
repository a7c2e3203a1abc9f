package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestManyConfinedCommandsAtOnceKeepApart(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	run := filepath.Join(w.base, "run")
	s := New(Config{Profile: &w.profile, RunDir: run})
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { // ends with its command
			var out bytes.Buffer
			c := bash(fmt.Sprintf("echo %d; sleep 1000 </dev/null >/dev/null 2>&1 & exit %d", i, i), &out)
			c.Dir = w.ws
			child, err := s.Start(t.Context(), c)
			if err != nil {
				t.Error(err)
				return
			}
			if exit := child.Wait(); exit.Code != i || out.String() != fmt.Sprintln(i) {
				t.Errorf("%d: %+v %q", i, exit, out.String())
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(run); err != nil || len(left) > 0 {
		t.Errorf("%v, records are left: %v", err, left)
	}
}

func TestWhereThereIsNoRoomForAChildItIsSaidWhatToDo(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(len(open) + 2), Max: old.Max}))
	c := bash("true", nil)
	c.Dir = w.ws
	_, err = New(Config{Profile: &w.profile}).Start(t.Context(), c)
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
	if err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("%v", err)
	}
	for errno, want := range map[syscall.Errno]string{syscall.EAGAIN: "ulimit -u", syscall.ENOSPC: "user.max_user_namespaces"} {
		if err := advise(os.NewSyscallError("fork/exec", errno), true); !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	if out, exit := w.call(t, &w.profile, "echo again"); out != "again\n" {
		t.Errorf("%+v %q", exit, out)
	}
}

func TestBashIsNotTakenFromWhereCommandsWrite(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	for _, dir := range []string{"bin", "."} {
		write(t, filepath.Join(w.ws, dir, "bash"), "#!/bin/sh\necho another\n")
		must(t, os.Chmod(filepath.Join(w.ws, dir, "bash"), 0o755))
	}
	linked := filepath.Join(w.base, "linked")
	must(t, os.Symlink(filepath.Join(w.ws, "bin"), linked))
	t.Chdir(w.ws)
	path := os.Getenv("PATH")
	t.Setenv("PATH", ".:bin:"+filepath.Join(w.ws, "bin")+":"+linked+":"+path)
	if out, exit := w.call(t, &w.profile, "echo $BASH_VERSION"); exit.Code != 0 || !strings.Contains(out, "release") {
		t.Errorf("%+v %q", exit, out)
	}
	t.Setenv("PATH", filepath.Join(w.ws, "bin"))
	c := bash("true", nil)
	c.Dir = w.ws
	if _, err := New(Config{Profile: &w.profile}).Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "not on PATH") {
		t.Errorf("%v", err)
	}
}
