package tuitest

import (
	"strings"
	"testing"
)

func TestATerminalShowsWhatAProgramWritesAndHandsOnWhatIsTyped(t *testing.T) {
	m := NewTmux(t, Options{Width: 40, Height: 10, Env: []string{"NAME=a 'quoted' name", "PATH=/bin:/usr/bin"}},
		"/bin/sh", "-c", `printf 'hello \033[1m%s\033[m\n' "$NAME"; read x; echo "got $x"; read y; echo "size $(stty size)"; exit 3`)
	m.WaitFor("hello a 'quoted' name")
	if !strings.Contains(m.Styled(), "\x1b[1ma 'quoted' name") {
		t.Errorf("%q", m.Styled())
	}
	m.Type("text; -x")
	m.Keys("Enter")
	m.WaitFor("got text; -x")
	if column, row, shown := m.Cursor(); column != 0 || row != 3 || !shown {
		t.Errorf("the cursor is at %d, %d, shown %t", column, row, shown)
	}
	m.Resize(30, 8)
	m.Paste("a\n")
	m.WaitFor("size 8 30")
	if code := m.WaitEnd(); code != 3 {
		t.Errorf("it ended with %d", code)
	}
}

func TestTheScrollbackIsWhole(t *testing.T) {
	m := NewTmux(t, Options{Width: 20, Height: 5}, "/bin/sh", "-c", "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; read x")
	m.WaitFor("line 299")
	if all := m.All(); !strings.HasPrefix(all, "line 0\nline 1\n") || strings.Count(all, "\n") != 299 {
		t.Errorf("%d lines: %.100s", strings.Count(all, "\n"), all)
	}
	if pid := m.PID(); pid <= 0 {
		t.Error(pid)
	}
}
