package sandbox

import (
	"slices"
	"strings"
	"testing"
)

func TestSocketsAreFoundInVariables(t *testing.T) {
	for value, want := range map[string]string{
		"/a/b": "/a/b", "unix:///run/x.sock": "/run/x.sock", "unix:path=/run/bus,guid=1": "/run/bus", "/tmp/tmux-0/default,1,0": "/tmp/tmux-0/default",
		"tcp://1.2.3.4": "", "unix:abstract=x": "", "": "",
	} {
		if got := socketPath(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestMountsAreReadWithTheirEscapes(t *testing.T) {
	got := parseMounts([]byte("22 27 0:21 / /proc rw - proc proc rw\nshort line\n5 6 8:1 /a\\040b /c\\134d\\012e rw,relatime shared:1 - ext4 /dev/x rw\n"))
	want := []mount{{"0:21", "/", "/proc"}, {"8:1", "/a b", "/c\\d\ne"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStatusSaysWhatIsMissingAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name          string
		s             Status
		level         Level
		missing, none string
	}{
		{"all", status(true, nil, always, 7, true, false), Full, "", "."},
		{"no namespaces", status(false, nil, never, 7, true, false), Partly, "Without user namespaces protected files", "Commands are not confined"},
		{"old Landlock", status(true, nil, always, 4, true, false), Partly, "A command can send signals", "Commands are not confined"},
		{"no Landlock", status(true, nil, always, 0, true, false), Partly, "Landlock is missing", "Commands are not confined"},
		{"Landlock too old alone", status(false, nil, never, 2, true, false), Unconfined, "Commands are not confined", "signals"},
		{"Landlock without seccomp", status(false, nil, never, 7, false, false), Unconfined, "Commands are not confined", "signals"},
		{"nothing", status(false, nil, never, 0, false, false), Unconfined, "can do all that you can", "signals"},
	} {
		if c.s.Level != c.level || !strings.Contains(c.s.Missing, c.missing) || strings.Contains(c.s.Missing, c.none) {
			t.Errorf("%s: %d %q", c.name, c.s.Level, c.s.Missing)
		}
		for _, a := range c.s.Abilities {
			if !a.Holds && a.Advice == "" || a.Holds && (a.Advice != "" || a.Text == "") {
				t.Errorf("%s: %+v", c.name, a)
			}
		}
	}
	if a, ok := status(false, nil, never, 7, true, true).Ability("user namespaces"); !ok || !strings.Contains(a.Advice, "itself runs in a sandbox") {
		t.Errorf("inside a sandbox: %+v", a)
	}
	if a, ok := status(true, nil, always, 7, true, false).Network(); !ok || !a.Holds || a.Advice != "" {
		t.Errorf("with network namespaces: %+v", a)
	}
	if a, ok := status(true, nil, never, 7, true, false).Network(); !ok || a.Holds || !strings.Contains(a.Advice, "loopback") {
		t.Errorf("without network namespaces: %+v", a)
	}
}

func TestWhatTheSystemCannotHoldDoesNotStart(t *testing.T) {
	s := status(true, nil, never, 7, false, false)
	k := confined{}
	if err := k.spaces(Profile{Network: false}, s); err == nil || !strings.Contains(err.Error(), "network cannot be taken away") {
		t.Errorf("no network without any means: %v", err)
	}
}

func always() bool { return true }
