package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"scorel/internal/platform/sandbox/sandboxtest"
)

// escape starts a process in a session of its own, which holds no pipe, and
// writes its id to the file that is named.
const escape = `setsid --fork bash -c 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec sleep 1000' "$WS/pid" </dev/null >/dev/null 2>&1
until [ -e "$WS/pid" ]; do sleep 0.01; done`

func (w *world) escaped(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.ws, "pid"))
	must(t, err)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	must(t, err)
	return pid
}

func TestNothingOutlivesAConfinedCommand(t *testing.T) {
	needConfinement(t)
	try := func(t *testing.T, base string) {
		w := newWorld(t, base, layout{})
		if out, exit := w.call(t, &w.profile, escape); exit.Code != 0 {
			t.Fatalf("%+v %s", exit, out)
		}
		waitDead(t, w.escaped(t))
	}
	try(t, t.TempDir())
	sandboxtest.AsUser(t, try)
}

// TestWhoHasEndedIsNotKilledAgain: a command's own end is seen before its number is free, and
// the hunt after it is not to take that for somebody alive.
func TestWhoHasEndedIsNotKilledAgain(t *testing.T) {
	needConfinement(t)
	cmd := exec.Command("true")
	cmd.SysProcAttr = namespaced(0)
	must(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	pid := cmd.Process.Pid
	ns := namespaceOf(pid)
	waitFor(t, func() bool { return isZombie(pid) })
	if ns == 0 || userNamespace(pid) != ns {
		t.Fatalf("its namespace is %d, then %d", ns, userNamespace(pid))
	}
	if killIn(pid, ns) {
		t.Error("who had ended was found alive")
	}
}

// TestReapEndsWhatHasLeftItsSession takes the record of a running command, says
// in it that the leader is somebody else, and reaps.
func TestReapEndsWhatHasLeftItsSession(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := filepath.Join(w.base, "run")
	c := bash(escape+"; sleep 1000", nil)
	c.Dir, c.Stdout, c.Stderr = w.ws, nil, nil
	c.Env = append(c.Env, "WS="+w.ws)
	child, err := New(Config{Profile: &w.profile, RunDir: run}).Start(ctx, c)
	must(t, err)
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(w.ws, "pid")); return err == nil })
	pid := w.escaped(t)
	data, err := os.ReadFile(filepath.Join(run, strconv.Itoa(child.PID())))
	must(t, err)
	reap := func(change func(*group)) int {
		t.Helper()
		var g group
		must(t, json.Unmarshal(data, &g))
		g.Start = "1"
		change(&g)
		dir := t.TempDir()
		g.Folder = identityOf(dir)
		changed, err := json.Marshal(g)
		must(t, err, os.WriteFile(filepath.Join(dir, "1"), changed, 0o600))
		n, err := Reap(dir)
		must(t, err)
		return n
	}
	for what, change := range map[string]func(*group){
		"a namespace whose number is used again": func(g *group) { g.Mark = "/scorel-0/ses_other" },
		"a record without a mark":                func(g *group) { g.Mark = "" },
		"the host's own namespace":               func(g *group) { g.Namespace, g.Mark = userNamespace(os.Getpid()), "/" },
	} {
		if n := reap(change); n != 0 || !alive(pid) {
			t.Fatalf("%s: %d were ended", what, n)
		}
	}
	if n := reap(func(*group) {}); n != 1 {
		t.Errorf("%d were ended", n)
	}
	waitDead(t, pid)
	child.Wait()
}

// TestNothingOutlivesACommandByForking: each of these processes lives for a
// moment only and leaves one child in a group of its own, so who is found may be
// gone by then.
func TestNothingOutlivesACommandByForking(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	for _, n := range []string{"1", "12"} {
		out, exit := w.call(t, &w.profile, `perl -e 'my $end = time + 20; for (1..$ARGV[0]) { next if fork; setpgrp; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null"; while (time < $end) { exit if fork; setpgrp } exit }' `+n+`
			readlink /proc/self/ns/user`)
		var ns uint64
		if _, err := fmt.Sscanf(out, "user:[%d]", &ns); err != nil || exit.Code != 0 {
			t.Fatalf("%+v %s", exit, out)
		}
		for range 10 {
			for _, pid := range processes() {
				if userNamespace(pid) == ns && !isZombie(pid) {
					t.Fatalf("of %s processes %d is left", n, pid)
				}
			}
		}
	}
}

// TestReapSparesWhoHasTheSessionOfAConfinedChild: the number of a session whose
// leader has ended may have been given again.
func TestReapSparesWhoHasTheSessionOfAConfinedChild(t *testing.T) {
	var leader, member int
	out, err := exec.Command("setsid", "bash", "-c", `sleep 1000 >/dev/null 2>&1 & echo $$ $!`).Output()
	must(t, err)
	if _, err := fmt.Sscan(string(out), &leader, &member); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(member, syscall.SIGKILL) })
	reap := func(g group) int {
		t.Helper()
		data, err := json.Marshal(g)
		dir := t.TempDir()
		must(t, err, os.WriteFile(filepath.Join(dir, "1"), data, 0o600))
		n, err := Reap(dir)
		must(t, err)
		return n
	}
	g := group{PGID: leader, Start: "1", Boot: BootID(), Namespace: 1, Mark: "/scorel-0/ses_test"}
	if n := reap(g); n != 0 || !alive(member) {
		t.Errorf("%d were ended", n)
	}
	g.Namespace = 0
	if n := reap(g); n != 1 {
		t.Errorf("without a namespace %d were ended", n)
	}
	waitDead(t, member)
}

// TestAProgramThatCannotBeReadDoesNotOutliveItsCommand: the namespaces of such a
// process are not shown to an ordinary user.
func TestAProgramThatCannotBeReadDoesNotOutliveItsCommand(t *testing.T) {
	needConfinement(t)
	const name = "TEST_UNREADABLE"
	if os.Getuid() == 0 {
		dir, err := os.MkdirTemp("", "unreadable")
		must(t, err, os.Chmod(dir, 0o755))
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		path, err := exec.LookPath("bash")
		must(t, err)
		data, err := os.ReadFile(path)
		must(t, err, os.WriteFile(filepath.Join(dir, "bash"), data, 0o711), os.Chmod(filepath.Join(dir, "bash"), 0o711))
		t.Setenv(name, filepath.Join(dir, "bash"))
	}
	sandboxtest.AsUser(t, func(t *testing.T, base string) {
		shell := os.Getenv(name)
		if shell == "" {
			t.Log("only root can make a program that its owner hides")
			return
		}
		w := newWorld(t, base, layout{})
		out, exit := w.call(t, &w.profile, `setsid --fork "$SHELL_" -c 'ulimit -R unlimited; ulimit -R 5; echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do read -t 1 x <> <(:); done' "$WS/pid" </dev/null >/dev/null 2>&1
			until [ -e "$WS/pid" ]; do sleep 0.01; done`, "SHELL_="+shell)
		if exit.Code != 0 {
			t.Fatalf("%+v %s", exit, out)
		}
		pid := w.escaped(t)
		defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
		waitDead(t, pid)
	})
}
