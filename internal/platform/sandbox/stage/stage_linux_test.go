package stage

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGarbageEndsTheStageWithOneSentence(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	good, err := (&Plan{Network: NetworkOpen, Temp: "/tmp/x/t", Dir: "/", Path: "/bin/echo", Args: []string{"echo", "ran"}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, garbage := range []string{"", "x", "plan\x00scorel-stage 0\x00end\x00end\x00", strings.Repeat("a", 100_000), string(good[:len(good)-8]), string(good) + "more"} {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		cmd := exec.Command(exe, Name, "3")
		cmd.ExtraFiles = []*os.File{theirs}
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		if _, err := ours.WriteString(garbage); err != nil {
			t.Fatal(err)
		}
		if err := unix.Shutdown(fds[0], unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		var reason [4096]byte
		n, _ := ours.Read(reason[:])
		_ = cmd.Wait()
		ours.Close()
		if code := cmd.ProcessState.ExitCode(); code != refused || n == 0 || strings.ContainsRune(string(reason[:n]), '\n') || out.Len() > 0 {
			t.Errorf("%.20q: %d, %q, %q", garbage, code, reason[:n], out.String())
		}
	}
}

func TestGrantsNameEverythingBesideWhatIsClosed(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"home/.scorel", "home/.ssh", "home/.config/gh", "home/.config/other", "home/work"} {
		if err := os.MkdirAll(base+"/"+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(base+"/home/.scorel", base+"/home/way"); err != nil {
		t.Fatal(err)
	}
	list, err := grants([]string{base + "/home/.scorel", base + "/home/.ssh", base + "/home/.config/gh"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"home": false, "home/.scorel": false, "home/.ssh": false, "home/way": false, "home/.config": false, "home/.config/gh": false,
		"home/.config/other": true, "home/work": true} {
		if slices.Contains(list, base+"/"+name) != want {
			t.Errorf("%s: granted %v", name, !want)
		}
	}
	if slices.Contains(list, "/dev") || slices.Contains(list, "/") || !slices.Contains(list, "/usr") {
		t.Errorf("%q", list)
	}
}
