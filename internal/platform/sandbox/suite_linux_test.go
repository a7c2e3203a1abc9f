package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/platform/sandbox/sandboxtest"
)

const sentinel = "only-the-host-may-know"

// world is a home with keys and a workspace, services that listen, and another
// process of the user.
type world struct {
	base, home, ws, out, temp string
	socks                     string // where services listen
	other                     int
	environ                   []string // of the host
	profile                   Profile
}

type layout struct {
	above        bool // the workspace is the home, and so contains ~/.scorel
	noNamespaces bool
	linkedClosed bool // ~/.scorel is a symlink
}

func newWorld(t *testing.T, base string, l layout) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	base, err = os.MkdirTemp(base, "w") // a new one for each
	if err != nil {
		t.Fatal(err)
	}
	w := &world{base: base, home: filepath.Join(base, "h'o \"m\\e\n$ü"), out: filepath.Join(base, "out")}
	w.ws = filepath.Join(w.home, "my work")
	if l.above {
		w.ws = w.home
	}
	closed := filepath.Join(w.home, ".scorel")
	if l.linkedClosed {
		real := filepath.Join(base, "real store")
		must(t, os.MkdirAll(real, 0o700), os.MkdirAll(w.home, 0o755), os.Symlink(real, closed))
	}
	for _, name := range []string{".scorel/key", ".ssh/id", ".netrc", ".aws/credentials", ".config/gh/hosts.yml", ".docker/config.json", ".kube/config",
		".gnupg/key", ".git-credentials", ".config/gcloud/token"} {
		write(t, filepath.Join(w.home, name), sentinel)
	}
	for _, name := range []string{".git/hooks/pre-commit", ".git/config", ".git/HEAD", ".claude/settings.json", ".agents/a", ".mcp.json", ".vscode/tasks.json", ".envrc", "file"} {
		write(t, filepath.Join(w.ws, name), "old\n")
	}
	must(t, os.Symlink(closed, filepath.Join(w.ws, "way in")))
	for _, name := range []string{"file", "victim", "moved", "dir/inner", "times"} {
		write(t, filepath.Join(w.out, name), "old\n")
	}
	if os.Getuid() == 0 { // like the node of a disk, which root could read
		for _, dir := range []string{w.ws, w.out} {
			must(t, syscall.Mknod(filepath.Join(dir, "device"), syscall.S_IFCHR|0o600, 1<<8|5))
		}
	}
	must(t, os.Mkdir(filepath.Join(base, "tmp"), 0o700))
	temp, err := NewTemp(filepath.Join(base, "tmp"), "ses_test")
	must(t, err)
	t.Cleanup(func() { _ = temp.Close() })
	w.temp = temp.Dir
	w.listen(t)
	w.environ = append(os.Environ(), "TMUX_TMPDIR="+w.socks+"/tmux", "SSH_AUTH_SOCK="+w.socks+"/agent.sock", "XDG_RUNTIME_DIR="+w.socks+"/xdg",
		"DOCKER_HOST=unix://"+w.socks+"/docker.sock", "DBUS_SESSION_BUS_ADDRESS=unix:path="+w.socks+"/bus.sock,guid=1",
		"GNUPGHOME="+filepath.Join(base, "moved gpg"), "KUBECONFIG=/nowhere:"+filepath.Join(base, "kube", "a"), "XDG_CONFIG_HOME="+filepath.Join(base, "xdg"),
		"DOCKER_CONFIG="+filepath.Join(w.ws, "for the work"), "NETRC="+base) // above the work: it stays open
	for _, name := range []string{"moved gpg/key", "kube/a", "xdg/gh/hosts.yml"} {
		write(t, filepath.Join(base, name), sentinel)
	}
	write(t, filepath.Join(w.ws, "for the work", "config.json"), "a key for the work")
	other := exec.Command("sleep", "1000")
	other.Env = []string{"KEY=" + sentinel}
	must(t, other.Start())
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	w.other = other.Process.Pid
	w.profile = Profile{Mode: WorkspaceWrite, Network: true, Home: w.home, Closed: []string{closed}, Roots: []string{w.ws}, TempDir: w.temp,
		Environ: w.environ, noNamespaces: l.noNamespaces}
	return w
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
}

// listen makes sockets where services have theirs. Each connection is taken and
// closed.
func (w *world) listen(t *testing.T) {
	t.Helper()
	var err error
	w.socks, err = os.MkdirTemp("/tmp", "s") // the path of a socket has at most 107 bytes
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(w.socks) })
	places := []string{w.socks + "/tmux/tmux-" + strconv.Itoa(os.Getuid()) + "/default", w.socks + "/agent.sock", w.socks + "/xdg/bus", w.socks + "/docker.sock",
		w.socks + "/bus.sock", "@scorel-test-" + filepath.Base(w.socks)}
	if os.Getuid() == 0 {
		if c, err := net.Dial("unix", "/run/crio/crio.sock"); err == nil {
			_ = c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) { // left by a test that was killed
			must(t, os.RemoveAll("/run/crio"))
		}
		if _, err := os.Stat("/run/crio"); os.IsNotExist(err) { // as root also where a container service is
			must(t, os.Mkdir("/run/crio", 0o755))
			t.Cleanup(func() { _ = os.RemoveAll("/run/crio") })
			places = append(places, "/run/crio/crio.sock")
		}
	}
	for _, place := range places {
		if place[0] == '/' {
			must(t, os.MkdirAll(filepath.Dir(place), 0o755))
		}
		l, err := net.Listen("unix", place)
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() { // ends when l is closed
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
	}
}

// call runs a script under the profile, or unconfined for nil.
func (w *world) call(t *testing.T, p *Profile, script string, env ...string) (string, Exit) {
	t.Helper()
	var out bytes.Buffer
	c := bash(script, &out)
	c.Dir = w.ws
	probe, err := os.Executable()
	must(t, err)
	c.Env = append(c.Env, "HOME="+w.home, "WS="+w.ws, "OUT="+w.out, "BASE="+w.base, "SOCKS="+w.socks, "HOST="+strconv.Itoa(os.Getpid()), "OTHER="+strconv.Itoa(w.other),
		"PROBE="+probe, "SECRET="+sentinel, "UID_="+strconv.Itoa(os.Getuid()), "LC_ALL=C",
		"GORACE=atexit_sleep_ms=0") // else each call of a probe with the race detector waits a second at its end
	c.Env = append(c.Env, env...)
	child, err := New(Config{Profile: p}).Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	exit := child.Wait()
	return out.String(), exit
}

// attempt is something that a confined command must not be able to do. Its
// script succeeds when it could.
type attempt struct {
	name, script string
	ns           bool // held only with namespaces
	root         bool // only root could do it anyway
}

// holds reports that a file has the sentinel.
func holdsSecret(path string) string { return `grep -qs "$SECRET" ` + path }

func attempts() []attempt {
	a := []attempt{
		{name: "read Scorel's folder by a link", script: holdsSecret(`"$WS/way in/key"`)},
		{name: "list Scorel's folder", script: `ls -A "$HOME/.scorel/" | grep -q key`},
		{name: "read the host's environment", script: `grep -qs . /proc/$HOST/environ`},
		{name: "open the host's memory", script: `(exec 9< /proc/$HOST/mem)`},
		{name: "read through the host's root", script: holdsSecret(`"/proc/$HOST/root$HOME/.scorel/key"`)},
		{name: "read another process's environment", script: holdsSecret(`/proc/$OTHER/environ`)},
		{name: "write a new file outside", script: `echo x > "$OUT/new"`},
		{name: "append to a file outside", script: `echo x >> "$OUT/file"`},
		{name: "truncate a file outside", script: `truncate -s 1 "$OUT/file"`},
		{name: "write outside by a symbolic link", script: `ln -sf "$OUT/file" "$WS/l" && echo x >> "$WS/l"`},
		{name: "write outside by a hard link", script: `ln -f "$OUT/file" "$WS/h" && echo x >> "$WS/h"`},
		{name: "rename out of the workspace", script: `echo x > "$WS/f" && "$PROBE" rename "$WS/f" "$OUT/f"`},
		{name: "rename into the workspace", script: `"$PROBE" rename "$OUT/moved" "$WS/moved"`},
		{name: "make a folder outside", script: `mkdir "$OUT/d"`},
		{name: "remove a file outside", script: `rm -f "$OUT/victim"`},
		{name: "write to the home", script: `[ "$WS" != "$HOME" ] && echo x > "$HOME/x"`},
		{name: "change the mode of a file outside", script: `chmod 700 "$OUT/times"`, ns: true},
		{name: "change the times of a file outside", script: `"$PROBE" utime "$OUT/times"`, ns: true},
		{name: "write to the process table", script: `echo 5 > /proc/self/oom_score_adj; [ "$(cat /proc/self/oom_score_adj)" = 5 ] || echo 5 > /proc/$$/oom_score_adj`},
		{name: "signal another process", script: `kill -CONT $OTHER`},
		{name: "signal the host", script: `kill -CONT $HOST`},
		{name: "limit another process", script: `"$PROBE" prlimit $OTHER`},
		{name: "take its mark off", script: `ulimit -R 5`, ns: true},
		{name: "unmount what hides", script: `umount -l "$HOME/.scorel" 2>&1; ` + holdsSecret(`"$HOME/.scorel/key"`)},
		{name: "hide no more in a namespace", script: `unshare -Urm sh -c 'umount -l "$HOME/.scorel"; grep -qs "$SECRET" "$HOME/.scorel/key"'`},
		{name: "make a user namespace", script: `unshare -U true`},
		{name: "mount over the system", script: `unshare -Urm sh -c 'mount -t tmpfs none /mnt'`},
		{name: "make the system writable", script: `mount -o remount,rw,bind / && touch "$OUT/remounted"`, root: true},
		{name: "open a device that lies around", script: `head -c 1 "$OUT/device" > /dev/null`, root: true, ns: true},
		{name: "open a device of the workspace", script: `head -c 1 "$WS/device" > /dev/null`, root: true, ns: true},
		{name: "read the system's passwords", script: `grep -q . /etc/shadow`, root: true, ns: true},
		{name: "use io_uring", script: `"$PROBE" iouring`},
		{name: "use a key ring", script: `"$PROBE" keyctl`},
		{name: "make a vsock", script: `"$PROBE" socket 40`},
		{name: "read in the background", script: `rm -f "$WS/bg"; mkfifo "$WS/bg"; (setsid sh -c 'grep -qs "$SECRET" "$HOME/.scorel/key" && echo yes > "$WS/bg" || echo no > "$WS/bg"' > /dev/null 2>&1 &) ; read -r x < "$WS/bg"; [ $x = yes ]`},
	}
	for _, name := range []string{".scorel/key", ".ssh/id", ".netrc", ".aws/credentials", ".config/gh/hosts.yml", ".docker/config.json", ".kube/config", ".gnupg/key",
		".git-credentials", ".config/gcloud/token"} {
		a = append(a, attempt{name: "read ~/" + name, script: holdsSecret(`"$HOME/` + name + `"`)})
	}
	for _, name := range []string{"moved gpg/key", "kube/a", "xdg/gh/hosts.yml"} {
		a = append(a, attempt{name: "read " + name, script: holdsSecret(`"$BASE/` + name + `"`)})
	}
	for _, name := range []string{".git/hooks/pre-commit", ".git/config", ".claude/settings.json", ".agents/a", ".mcp.json", ".vscode/tasks.json", ".envrc"} {
		a = append(a, attempt{name: "change " + name, script: `echo x >> "$WS/` + name + `"`, ns: true},
			attempt{name: "replace " + name, script: `echo x > "$WS/r" && mv -f "$WS/r" "$WS/` + name + `"`, ns: true})
	}
	a = append(a, attempt{name: "add a hook", script: `echo x > "$WS/.git/hooks/post-commit"`, ns: true},
		attempt{name: "move the repository away", script: `mv "$WS/.git" "$WS/.git2" && mv "$WS/.git2" "$WS/.git"`, ns: true})
	for _, path := range []string{"$SOCKS/tmux/tmux-$UID_/default", "$SOCKS/agent.sock", "$SOCKS/xdg/bus", "$SOCKS/docker.sock", "$SOCKS/bus.sock", "/run/crio/crio.sock"} {
		a = append(a, attempt{name: "connect to " + path, script: `"$PROBE" unix "` + path + `"`, root: strings.HasPrefix(path, "/run/crio")})
	}
	return append(a, attempt{name: "connect to an abstract socket", script: `"$PROBE" unix "@scorel-test-$(basename "$SOCKS")"`})
}

// try runs all attempts in one command and returns the names of those that
// succeeded.
func (w *world) try(t *testing.T, p *Profile, list []attempt) map[string]bool {
	t.Helper()
	var b strings.Builder
	for i, a := range list {
		fmt.Fprintf(&b, "( %s ) >/dev/null 2>&1 && echo could %d\n", a.script, i)
	}
	b.WriteString("echo ended\n")
	out, exit := w.call(t, p, b.String())
	if exit.Code != 0 || !strings.HasSuffix(out, "ended\n") {
		t.Fatalf("%+v: %s", exit, out)
	}
	could := map[string]bool{}
	for line := range strings.Lines(out) {
		var i int
		if _, err := fmt.Sscanf(line, "could %d", &i); err == nil {
			could[list[i].name] = true
		}
	}
	return could
}

// eachAttempt checks that nothing succeeds that must not, several times in this
// process, and that without confinement each attempt does succeed: an attempt
// that cannot would prove nothing.
func eachAttempt(t *testing.T, base string, l layout, times int) {
	list := attempts()
	confined := newWorld(t, base, l)
	for range times {
		could := confined.try(t, &confined.profile, list)
		for _, a := range list {
			if could[a.name] && (!a.ns || !l.noNamespaces) {
				t.Errorf("a confined command could %s", a.name)
			}
		}
		if t.Failed() {
			return
		}
	}
	free := newWorld(t, base, l)
	could := free.try(t, nil, list)
	for _, a := range list {
		if !could[a.name] && (!a.root || os.Getuid() == 0) && (a.name != "write to the home" || !l.above) {
			t.Errorf("an unconfined command could not %s: the attempt proves nothing", a.name)
		}
	}
}

func suite(t *testing.T, base string) {
	for name, l := range map[string]layout{
		"workspace in the home":              {},
		"workspace above Scorel's folder":    {above: true},
		"Scorel's folder is a symlink":       {linkedClosed: true},
		"without user namespaces":            {noNamespaces: true},
		"without, Scorel's folder a symlink": {noNamespaces: true, linkedClosed: true},
	} {
		t.Run(name, func(t *testing.T) {
			times := 1
			if l == (layout{}) {
				times = heldTimes
			}
			before := state(t)
			eachAttempt(t, base, l, times)
			if after := state(t); after != before {
				t.Errorf("the host is not as before:\n%s\nbefore:\n%s", after, before)
			}
			write(t, filepath.Join(base, "by the host"), "x") // and it still writes where it likes
		})
	}
}

// state is what confinement would change of this process.
func state(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	must(t, err)
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		for _, front := range []string{"Cap", "NoNewPrivs", "Seccomp", "Uid", "Gid", "Umask"} {
			if strings.HasPrefix(line, front) {
				b.WriteString(line)
			}
		}
	}
	for _, ns := range []string{"user", "mnt", "net", "ipc"} {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		must(t, err)
		b.WriteString(link + "\n")
	}
	return b.String()
}

// needConfinement ends a test where the system cannot hold everything. As root,
// as in CI, that is a failure; on the machine of somebody whose system forbids
// user namespaces it cannot be otherwise.
func needConfinement(t *testing.T) {
	t.Helper()
	s := Detect()
	switch {
	case s.Level == Full:
	case os.Getuid() == 0:
		t.Fatalf("this suite needs a system that holds everything: %s %s", s.Missing, advice(s))
	default:
		t.Skipf("this suite needs a system that holds everything: %s %s", s.Missing, advice(s))
	}
}

// needRoot ends a test of what only root can set up.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make what this test needs; CI runs it")
	}
}

// CI runs it with the race detector, and more often without.
func TestAConfinedCommandIsHeld(t *testing.T) {
	needConfinement(t)
	suite(t, t.TempDir())
}

func TestAConfinedCommandOfAnOrdinaryUserIsHeld(t *testing.T) {
	needConfinement(t)
	sandboxtest.AsUser(t, suite)
}

func TestReadOnlyHoldsTheWorkspaceToo(t *testing.T) {
	needConfinement(t)
	for _, l := range []layout{{}, {noNamespaces: true}} {
		w := newWorld(t, t.TempDir(), l)
		w.profile.Mode = ReadOnly
		out, _ := w.call(t, &w.profile, `cat "$WS/file"; echo x > "$WS/file"; echo y > "$WS/new"; echo z > "$TMPDIR/t" && cat "$TMPDIR/t"`)
		if data, _ := os.ReadFile(filepath.Join(w.ws, "file")); string(data) != "old\n" {
			t.Errorf("%+v: the workspace was written: %q", l, data)
		}
		if _, err := os.Stat(filepath.Join(w.ws, "new")); err == nil {
			t.Errorf("%+v: a file was made", l)
		}
		if !strings.HasPrefix(out, "old\n") || !strings.HasSuffix(out, "z\n") {
			t.Errorf("%+v: %s", l, out)
		}
	}
}

func TestAConfinedCommandHasNoCapabilities(t *testing.T) {
	needConfinement(t)
	for _, l := range []layout{{}, {noNamespaces: true}} {
		w := newWorld(t, t.TempDir(), l)
		out, _ := w.call(t, &w.profile, `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status`)
		if l.noNamespaces && os.Getuid() != 0 { // its bounding set needs a capability to be emptied, and with no_new_privs means nothing
			out = regexp.MustCompile(`CapBnd:\t[0-9a-f]+`).ReplaceAllString(out, "CapBnd:\t0000000000000000")
		}
		want := "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
		if out != want {
			t.Errorf("%+v: %s", l, out)
		}
	}
}

func TestAConfinedCommandWorksInItsWorkspace(t *testing.T) {
	needConfinement(t)
	for _, l := range []layout{{}, {above: true}, {noNamespaces: true}} {
		w := newWorld(t, t.TempDir(), l)
		old := syscall.Umask(0o027)
		out, exit := w.call(t, &w.profile, `set -e
			pwd -P
			echo a > new; mkdir -p d/e; mv new d/e/; ln d/e/new hard; ln -s d soft; chmod 600 hard; rm soft
			cat < <(echo substituted) 
			echo t > "$TMPDIR/t"; f=$(mktemp); echo m > "$f"; cat "$f"
			mkdir -p "$XDG_CACHE_HOME" && echo c > "$XDG_CACHE_HOME/x"
			echo n > /dev/null; head -c 3 /dev/urandom | wc -c; echo err > /dev/stderr
			stat -c %a d
			readlink /proc/self/fd/* 2>/dev/null | grep -c socket || true
			cat "$WS/for the work/config.json"`)
		syscall.Umask(old)
		if want := w.ws + "\nsubstituted\nm\n3\nerr\n750\n0\na key for the work"; out != want || exit.Code != 0 {
			t.Errorf("%+v: %+v %q, want %q", l, exit, out, want)
		}
	}
}

func TestAConfinedCommandHasTerminalsAndSharedMemoryOfItsOwn(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	out, _ := w.call(t, &w.profile, `ls /dev/pts /dev/shm; "$PROBE" pty; echo x > /dev/shm/x && echo shared; stat -f -c %T /dev/shm`)
	if !strings.Contains(out, "ptmx") || !strings.Contains(out, "pty\n") || !strings.Contains(out, "shared\ntmpfs\n") {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat("/dev/shm/x"); err == nil {
		t.Error("the shared memory is the host's")
	}
}

func TestLockedMountFlagsStay(t *testing.T) {
	needRoot(t)
	base := t.TempDir()
	w := newWorld(t, base, layout{})
	inner := filepath.Join(w.ws, "mounted")
	must(t, os.Mkdir(inner, 0o755), syscall.Mount("none", inner, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""))
	defer syscall.Unmount(inner, syscall.MNT_DETACH)
	out, exit := w.call(t, &w.profile, `cd mounted && echo '#!/bin/sh
echo ran' > x && chmod 755 x && { ./x || echo held; }; grep mounted /proc/self/mountinfo | cut -d' ' -f6`)
	if exit.Code != 0 || !strings.Contains(out, "held\n") || !strings.Contains(out, "rw,nosuid,nodev,noexec,relatime\n") {
		t.Errorf("%+v %s", exit, out)
	}
}

func TestWhatIsClosedIsClosedAtABindMountToo(t *testing.T) {
	needRoot(t)
	w := newWorld(t, t.TempDir(), layout{})
	for name, from := range map[string]string{"whole": w.home, "store": filepath.Join(w.home, ".scorel")} {
		at := filepath.Join(w.base, "seen again "+name)
		must(t, os.Mkdir(at, 0o755), syscall.Mount(from, at, "", syscall.MS_BIND, ""))
		defer syscall.Unmount(at, syscall.MNT_DETACH)
	}
	script := `cat "$BASE/seen again whole/.scorel/key" "$BASE/seen again whole/.ssh/id" "$BASE/seen again store/key"`
	if out, _ := w.call(t, nil, script); strings.Count(out, sentinel) != 3 {
		t.Fatalf("the attempt proves nothing: %s", out)
	}
	if out, _ := w.call(t, &w.profile, script); strings.Contains(out, sentinel) {
		t.Errorf("it was read: %s", out)
	}
}

func TestRootWorksOnFilesOfAnotherUserAndNotOutside(t *testing.T) {
	needRoot(t)
	w := newWorld(t, t.TempDir(), layout{})
	for _, name := range []string{w.ws, filepath.Join(w.ws, "file"), filepath.Join(w.out, "file")} {
		must(t, os.Chown(name, 12345, 12345), os.Chmod(name, 0o700))
	}
	out, _ := w.call(t, &w.profile, `echo x >> file && touch new && stat -c %u file; echo x >> "$OUT/file" || echo held; chown 1 "$OUT/file" || echo held`)
	if !strings.HasPrefix(out, "12345\n") || strings.Count(out, "held\n") != 2 {
		t.Errorf("%s", out)
	}
}

func TestAStageWithoutItsHostRefuses(t *testing.T) {
	exe, err := os.Executable()
	must(t, err)
	for _, args := range [][]string{{"__spawn"}, {"__spawn", "7"}, {"__spawn", "1"}, {"__spawn", "x", "y"}} {
		cmd := exec.Command(exe, args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "see scorel --help") {
			t.Errorf("%q: %d %s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

func TestTheStageWorksWhenItsBinaryIsGone(t *testing.T) {
	exe, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	copied := filepath.Join(dir, "copy")
	data, err := os.ReadFile(exe)
	must(t, err, os.WriteFile(copied, data, 0o755))
	cmd := exec.Command(copied, "-test.run=^TestAConfinedCommandHasNoCapabilities$", "-test.count=1")
	cmd.Env = append(os.Environ(), "REMOVE_BINARY="+copied)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if _, err := os.Stat(copied); err == nil {
		t.Error("the binary was not removed, so nothing is proved")
	}
}

func TestACommandInAClosedFolderDoesNotStart(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	p := w.profile
	p.Roots = []string{filepath.Join(w.home, ".ssh")}
	c := bash("true", nil)
	c.Dir = w.ws
	_, err := New(Config{Profile: &p}).Start(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "closed to commands") || !strings.Contains(err.Error(), `mode = "off"`) {
		t.Errorf("%v", err)
	}
}

func TestWithoutNamespacesAWorkspaceAboveScorelsFolderIsRefused(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{above: true, noNamespaces: true})
	c := bash("true", nil)
	c.Dir = w.ws
	_, err := New(Config{Profile: &w.profile}).Start(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "cannot be closed without user namespaces") {
		t.Errorf("%v", err)
	}
}

func TestALinkInPlaceOfAProtectedFileOpensNothing(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	must(t, os.RemoveAll(filepath.Join(w.ws, ".vscode")), os.Symlink("/", filepath.Join(w.ws, ".vscode")),
		os.RemoveAll(filepath.Join(w.ws, ".envrc")), os.Symlink("nowhere", filepath.Join(w.ws, ".envrc")))
	out, exit := w.call(t, &w.profile, `echo x > new && cat new; echo x > "$OUT/new"`)
	if exit.Code == 0 || !strings.HasPrefix(out, "x\n") {
		t.Errorf("%+v %s", exit, out)
	}
}

func TestAFailingStageIsAnErrorOfStart(t *testing.T) {
	needConfinement(t)
	for want, breaks := range map[string]func(w *world, c *Cmd){
		"the sandbox cannot be made: mount on ": func(w *world, _ *Cmd) { // a file where a folder must be
			w.profile.TempDir = filepath.Join(filepath.Dir(w.temp), "file")
			write(t, w.profile.TempDir, "")
		},
		"cannot be executed": func(w *world, c *Cmd) {
			c.Path = filepath.Join(w.ws, "program")
			must(t, os.WriteFile(c.Path, []byte("\x7fELF but not really"), 0o755))
		},
	} {
		w := newWorld(t, t.TempDir(), layout{})
		var out bytes.Buffer
		c := bash("echo ran", &out)
		c.Dir = w.ws
		breaks(w, &c)
		_, err := New(Config{Profile: &w.profile, RunDir: filepath.Join(w.base, "run")}).Start(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("want %q: %v %s", want, err, out.String())
		}
		if left, _ := os.ReadDir(filepath.Join(w.base, "run")); len(left) > 0 {
			t.Errorf("records are left: %v", left)
		}
	}
}

func TestTemporaryFilesOfOtherSessionsAreHidden(t *testing.T) {
	needConfinement(t)
	for _, l := range []layout{{}, {noNamespaces: true}} {
		w := newWorld(t, t.TempDir(), l)
		other, err := NewTemp(filepath.Join(w.base, "tmp"), "ses_other")
		must(t, err)
		defer other.Close()
		write(t, filepath.Join(other.Dir, "x"), sentinel)
		if out, _ := w.call(t, &w.profile, `cat "$TMPDIR/../ses_other/x"; echo mine > "$TMPDIR/x"; cat "$TMPDIR/x"`); !strings.HasSuffix(out, "mine\n") || strings.Contains(out, sentinel) {
			t.Errorf("%+v: %s", l, out)
		}
	}
}

func TestTheTemporaryFolderMayLieInTheWorkspace(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	must(t, os.Mkdir(filepath.Join(w.ws, "tmp"), 0o700))
	temp, err := NewTemp(filepath.Join(w.ws, "tmp"), "ses_x")
	must(t, err)
	defer temp.Close()
	w.profile.TempDir = temp.Dir
	out, exit := w.call(t, &w.profile, `echo mine > "$TMPDIR/x" && cat "$TMPDIR/x"; ls -A ~/.scorel/ ~/.ssh; echo x > new && cat new`)
	if exit.Code != 0 || !strings.HasPrefix(out, "mine\n") || strings.Contains(out, "key") || !strings.HasSuffix(out, "x\n") {
		t.Errorf("%+v %s", exit, out)
	}
}

func TestAWorkspaceThatIsTheWholeSystemIsRefused(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	w.profile.Roots = []string{"/"}
	if _, err := New(Config{Profile: &w.profile}).Start(t.Context(), bash("true", nil)); err == nil || !strings.Contains(err.Error(), "the workspace is /") {
		t.Errorf("%v", err)
	}
}

func TestTheAgentIsReachedOnlyWhenItIsAllowed(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	write(t, filepath.Join(w.home, ".ssh", "known_hosts"), "a host\n")
	script := `"$PROBE" unix "$SSH_AUTH_SOCK" && echo reached; cat ~/.ssh/known_hosts ~/.ssh/id`
	if out, _ := w.call(t, &w.profile, script); strings.Contains(out, "reached") || strings.Contains(out, "a host") || strings.Contains(out, sentinel) {
		t.Errorf("not allowed: %s", out)
	}
	temp, err := NewTemp(w.socks, "ses_agent") // a short path: that of a socket has at most 107 bytes
	must(t, err)
	defer temp.Close()
	w.profile.TempDir, w.profile.Agent = temp.Dir, w.socks+"/agent.sock"
	must(t, syscall.Mkfifo(filepath.Join(temp.Dir, "ssh-agent"), 0o600)) // as a command may have left there
	if out, _ := w.call(t, &w.profile, script); !strings.HasPrefix(out, "reached\na host\n") || strings.Contains(out, sentinel) {
		t.Errorf("allowed: %s", out)
	}
}

func TestCancelAndTimeReachAConfinedCommand(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	ctx, cancel := context.WithCancel(t.Context())
	r, out := io.Pipe()
	c := bash("sleep 1000 & echo started; sleep 1000", out)
	c.Dir = w.ws
	run := filepath.Join(w.base, "run")
	child, err := New(Config{Profile: &w.profile, RunDir: run}).Start(ctx, c)
	must(t, err)
	line(t, r)
	if left, _ := os.ReadDir(run); len(left) != 1 || left[0].Name() != strconv.Itoa(child.PID()) {
		t.Errorf("the group is not recorded: %v", left)
	}
	cancel()
	if exit := child.Wait(); exit.Signal != "SIGTERM" {
		t.Errorf("%+v", exit)
	}
	if left, _ := os.ReadDir(run); len(left) != 0 {
		t.Errorf("records are left: %v", left)
	}
}

func TestALinkThatACommandMadeOpensNothing(t *testing.T) {
	needConfinement(t)
	for what, plant := range map[string]func(w *world) string{
		"an additional folder": func(w *world) string {
			extra := filepath.Join(w.ws, "extra")
			must(t, os.Symlink(w.out, extra))
			w.profile.Roots = append(w.profile.Roots, extra)
			return "that a command may have made"
		},
		"the workspace, by a command of another session": func(w *world) string {
			must(t, os.Rename(w.ws, w.ws+".old"))
			must(t, os.Symlink(w.out, w.ws))
			return "leads to " + w.out + " now, so nothing is run in it"
		},
		"the temporary folder": func(w *world) string {
			must(t, os.Mkdir(filepath.Join(w.ws, "t"), 0o700))
			w.profile.TempDir = filepath.Join(w.ws, "t", "x")
			must(t, os.Symlink(w.out, w.profile.TempDir))
			return "is gone or was replaced"
		},
		"the caches": func(w *world) string {
			w.profile.CacheDir = filepath.Join(w.ws, "c")
			must(t, os.Symlink(w.out, w.profile.CacheDir))
			return "" // it starts, with other caches
		},
	} {
		for _, l := range []layout{{}, {noNamespaces: true}} {
			w := newWorld(t, t.TempDir(), l)
			want := plant(w)
			var out bytes.Buffer
			c := bash("echo x > '"+w.out+"/new'; echo $GOCACHE", &out)
			c.Dir = w.ws
			child, err := New(Config{Profile: &w.profile}).Start(t.Context(), c)
			if want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", what, err)
				}
			} else if must(t, err); child.Wait().Err != nil || !strings.Contains(out.String(), w.temp) {
				t.Errorf("%s: %s", what, out.String())
			}
			if _, err := os.Stat(filepath.Join(w.out, "new")); err == nil {
				t.Errorf("%s: a file was made", what)
			}
		}
	}
}

func TestAFolderInTheWorkspaceMayBeNamedBesideIt(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{})
	inner := filepath.Join(w.ws, "inner")
	write(t, filepath.Join(inner, ".envrc"), "old")
	w.profile.Roots = append(w.profile.Roots, inner)
	out, exit := w.call(t, &w.profile, `echo a > inner/a && cat inner/a; mv inner moved && echo moved; echo x > inner/.envrc || echo held`)
	if exit.Code != 0 || !strings.HasPrefix(out, "a\n") || !strings.HasSuffix(out, "held\n") || strings.Contains(out, "moved\n") {
		t.Errorf("%+v %s", exit, out)
	}
}
