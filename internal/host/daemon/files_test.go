package daemon

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAnotherTokenCountsAsSoonAsItStandsInTheFile(t *testing.T) {
	dir := home(t)
	if _, err := ReadToken(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	tk, _, err := newTokens(dir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	first := tk.current()
	if file, err := ReadToken(dir); err != nil || file != first || len(first) != 43 {
		t.Errorf("the token is %d characters long: %v", len(first), err)
	}
	second, err := RefreshToken(dir, rand.Reader)
	if err != nil || second == first || tk.current() != second {
		t.Errorf("the new token does not count: %v", err)
	}
	if err := os.Remove(Header(dir)); err != nil || tk.current() != "" {
		t.Errorf("a token counts that is in no file: %v", err)
	}
	write(t, Header(dir), "Authorization: Bearer short\n")
	if tk.current() != "" {
		t.Error("a token counts that is none")
	}
	if _, err := ReadToken(dir); err == nil || strings.Contains(err.Error(), "short") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestAddressesToListenOn(t *testing.T) {
	for text, want := range map[string]address{
		"127.0.0.1:0":          {hostPort: "127.0.0.1:0"},
		"4444":                 {hostPort: "127.0.0.1:4444"},
		":4444":                {hostPort: ":4444"},
		"ws://localhost:80":    {hostPort: "localhost:80", plain: true},
		"http://[::1]:80/":     {hostPort: "[::1]:80", plain: true},
		"wss://desk.example:1": {hostPort: "desk.example:1", secure: true},
	} {
		if got, err := parseAddress(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "a:b:c", "127.0.0.1:70000", "127.0.0.1:", "tcp://x:1", "x"} {
		if got, err := parseAddress(text); err == nil {
			t.Errorf("%q is taken: %+v", text, got)
		}
	}
	for hostPort, want := range map[string]bool{"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "127.8.8.8:1": true, ":1": false, "0.0.0.0:1": false, "10.0.0.1:1": false, "desk:1": false} {
		if loopback(hostPort) != want {
			t.Errorf("%s: loopback is %v", hostPort, !want)
		}
	}
}

func TestALogThatIsFullIsSetAsideOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "host.log")
	l, err := openLog(name, logBound{maxLog, 1}, func() time.Time { return time.UnixMilli(0) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	long := strings.Repeat("x", 2*maxLogLine)
	for i := range 2 * maxLog / maxLogLine {
		l.line("%d\n\x1b[31m%s", i, long)
	}
	var terminal bytes.Buffer
	l.echo = newEcho(&terminal)
	l.line("the last")
	l.echo.close()
	for _, f := range []string{name, name + ".1"} {
		if info, err := os.Stat(f); err != nil || info.Size() > maxLog+2*maxLogLine {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
	if exists(name + ".2") {
		t.Error("a third file was made")
	}
	data, err := os.ReadFile(name)
	if err != nil || !strings.HasSuffix(string(data), fmt.Sprintf("1970-01-01T00:00:00.000Z pid %d: the last\n", os.Getpid())) || bytes.Contains(data, []byte("\x1b")) {
		t.Errorf("the newest file ends with %q: %v", data[max(0, len(data)-100):], err)
	}
	if !strings.Contains(terminal.String(), "the last") {
		t.Error("the line was not echoed")
	}
}

func TestAsManyOldLogsAreKeptAsAreWanted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "host.log")
	l, err := openLog(name, logBound{1000, 3}, func() time.Time { return time.UnixMilli(0) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for i := range 200 {
		l.line("line %d", i)
	}
	for n, want := range map[string]bool{"": true, ".1": true, ".2": true, ".3": true, ".4": false} {
		if exists(name+n) != want {
			t.Errorf("host.log%s: %t, want %t", n, !want, want)
		}
	}
	var all []byte
	for _, n := range []string{".3", ".2", ".1", ""} {
		data, err := os.ReadFile(name + n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(all)), "\n") {
		if first := 200 - strings.Count(string(all), "\n"); !strings.HasSuffix(line, fmt.Sprintf(": line %d", first+i)) {
			t.Fatalf("line %d of the logs is %q", i, line)
		}
	}
}

func TestTheEndOfALog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.log")
	if data, err := Tail(name, 5, 0); err != nil || len(data) > 0 {
		t.Errorf("a missing one: %q %v", data, err)
	}
	write(t, name, "a\nb\nc\n")
	for n, want := range map[int]string{0: "", 1: "c\n", 2: "b\nc\n", 3: "a\nb\nc\n", 9: "a\nb\nc\n"} {
		if got, err := Tail(name, n, 6); err != nil || string(got) != want {
			t.Errorf("%d lines: %q %v", n, got, err)
		}
	}
	if got, _ := Tail(name, 1, 4); string(got) != "b\n" {
		t.Errorf("before a place: %q", got)
	}
	write(t, name, strings.Repeat("x", 100<<10)+"\nend\n")
	if got, _ := Tail(name, 10, 100<<10+5); string(got) != "end\n" {
		t.Errorf("behind a very long line: %d bytes", len(got))
	}
}
