package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"scorel/protocol"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestBashGivesOutputAndExitCode(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name, command, want string
		code                int
	}{
		{"both streams in order", "echo a; echo b >&2; echo c", "a\nb\nc\n[exit code 0]", 0},
		{"failure", "echo no; exit 3", "no\n[exit code 3]", 3},
		{"nothing", "true", "[no output; exit code 0]", 0},
		{"no last line feed", "printf x", "x\n[exit code 0]", 0},
		{"input is at its end", "cat; read x || echo end", "end\n[exit code 0]", 0},
		{"several lines", "for i in 1 2; do\necho $i\ndone", "1\n2\n[exit code 0]", 0},
		{"line numbers of errors", "\n{ echo $LINENO; }", "2\n[exit code 0]", 0},
		{"NUL and invalid bytes", `printf 'a\0b\xffc\xc3'`, "a\uFFFDb\uFFFDc\uFFFD\n[exit code 0]", 0},
		{"signal", "kill -TERM $$", "[no output; ended by SIGTERM, exit code 143]", 143},
		{"no profile", "shopt -q login_shell && echo login; echo $-", "hBc\n[exit code 0]", 0},
		{"no key", "echo ${OPENAI_API_KEY-none}", "none\n[exit code 0]", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, r := b.run("Bash", in{"command": c.command})
			if text != c.want || r.IsError != (c.code != 0) {
				t.Errorf("%q, error %v, want %q", text, r.IsError, c.want)
			}
			if d := r.Details.(protocol.ToolDetails); d.ExitCode == nil || *d.ExitCode != c.code {
				t.Errorf("details are %+v", d)
			}
		})
	}
}

func TestBashRefusesWhatCannotRun(t *testing.T) {
	b := newBench(t)
	b.fails("Bash", in{"command": " \n"}, "empty")
	b.fails("Bash", in{"command": "a\x00b"}, "NUL")
	b.fails("Bash", in{"command": strings.Repeat("x", maxCommand+1)}, "write a script")
}

func TestBashKeepsItsWorkingDirectory(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(filepath.Join(b.root, "a b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, want string }{
		{"cd 'a b'", "a b"},
		{"pwd; false", "a b"},
		{"cd ..; exit 4", ""},
		{"(cd 'a b')", ""},
		{"set -e; cd 'a b'; false; cd ..", "a b"},
		{"if", "a b"}, // does not parse
		{"cd /nowhere", "a b"},
	} {
		_, r := b.run("Bash", in{"command": c.command})
		want := filepath.Join(b.root, c.want)
		if got := r.Details.(protocol.ToolDetails).Dir; got != want || b.env.Dir.Path() != want {
			t.Errorf("after %q it is %s, want %s", c.command, got, want)
		}
	}
	p, err := b.prepare("Bash", in{"command": "cd ."})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if a := p.Action(); a.Dir != filepath.Join(b.root, "a b") || a.Command != "cd ." {
		t.Errorf("the action is %+v", a)
	}
	if err := os.Remove(filepath.Join(b.root, "a b")); err != nil {
		t.Fatal(err)
	}
	if text := b.ok("Bash", in{"command": "pwd"}); !strings.HasPrefix(text, b.root+"\n") || !strings.Contains(text, "is gone") {
		t.Error(text)
	}
}

func TestBashCutsTheMiddleAndKeepsTheWhole(t *testing.T) {
	b := newBench(t)
	p, err := b.prepare("Bash", in{"command": "seq 1 100000"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var streamed strings.Builder
	r, err := p.Run(t.Context(), func(s string) { streamed.WriteString(s) })
	if err != nil {
		t.Fatal(err)
	}
	text := r.Content[0].Text
	if n := utf8.RuneCountInString(text); n > maxOutput+200 || n < maxOutput {
		t.Errorf("%d characters", n)
	}
	if !strings.HasPrefix(text, "1\n2\n") || !strings.HasSuffix(text, "99999\n100000\n[exit code 0]") || !strings.Contains(text, "bytes are left out here; the whole is kept") {
		t.Errorf("%.50q … %q", text, text[len(text)-50:])
	}
	whole, err := io.ReadAll(r.Full)
	r.Full.Close()
	if err != nil || len(whole) != 588_895 || !strings.HasPrefix(streamed.String(), string(whole)) {
		t.Errorf("the whole has %d bytes, %d were streamed, %v", len(whole), streamed.Len(), err)
	}
}

func TestBashOutputThatNeverEndsIsBounded(t *testing.T) {
	b := newBench(t)
	p, err := b.prepare("Bash", in{"command": "head -c 80000000 /dev/zero | tr '\\0' x"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	streamed := 0
	r, err := p.Run(t.Context(), func(s string) { streamed += len(s) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Full.Close()
	n, err := io.Copy(io.Discard, r.Full)
	if n != maxFull || err != nil || len(r.Content[0].Text) > maxOutput+200 || streamed > maxStream+100_000 {
		t.Errorf("whole %d, %v, text %d, streamed %d", n, err, len(r.Content[0].Text), streamed)
	}
	if !strings.Contains(r.Content[0].Text, "the first 64 MiB are kept") {
		t.Error("it does not say that the whole is cut")
	}
}

func TestBashFoldsAProgressBarAndKeepsTheWhole(t *testing.T) {
	b := newBench(t)
	for _, n := range []int{100, 5_000, 100_000} {
		p, err := b.prepare("Bash", in{"command": fmt.Sprintf(`for i in $(seq %d); do printf '\r%%7d of %d' $((i-1)); printf '\r%%7d of %d' $i; done; echo; echo fetched`, n, n, n)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		text := r.Content[0].Text
		if len(text) > 1000 || !strings.HasPrefix(text, fmt.Sprintf("      0 of %d\r[", n)) || !strings.Contains(text, fmt.Sprintf("\r%7d of %d\nfetched\n[", n, n)) {
			t.Errorf("%d: %d bytes: %.200q", n, len(text), text)
		}
		if whole := r.Full != nil; whole != (n > 100) {
			t.Errorf("%d: the whole is kept: %v", n, whole)
		}
		if r.Full != nil {
			size, err := io.Copy(io.Discard, r.Full)
			if r.Full.Close(); err != nil || size < int64(n*20) {
				t.Errorf("%d: %d bytes are kept, %v", n, size, err)
			}
		}
	}
}

func TestCaptureCountsCharacters(t *testing.T) {
	for _, c := range []struct {
		piece string
		times int
		cut   bool
	}{
		{"é", maxOutput, false}, {"é", maxOutput + 1, true}, {"😀", maxOutput, false}, {"😀", 3 * maxOutput, true}, {"x", maxOutput, false}, {"x", maxOutput + 1, true},
	} {
		out := newCapture(nil)
		whole := strings.Repeat(c.piece, c.times)
		for at := 0; at < len(whole); at += 1001 { // pieces that cut characters
			if _, err := out.Write([]byte(whole[at:min(at+1001, len(whole))])); err != nil {
				t.Fatal(err)
			}
		}
		text, full := out.finish()
		if full != nil {
			data, _ := io.ReadAll(full)
			full.Close()
			if string(data) != whole {
				t.Errorf("%d × %s: the whole has %d bytes", c.times, c.piece, len(data))
			}
		}
		if (full != nil) != c.cut || !c.cut && text != whole {
			t.Errorf("%d × %s: cut %v", c.times, c.piece, full != nil)
		}
		if n := strings.Count(text, c.piece); c.cut && c.piece != "x" && n != maxOutput {
			t.Errorf("%d × %s: %d are shown", c.times, c.piece, n)
		}
	}
}

// dead waits until the process is gone.
func dead(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for syscall.Kill(pid, 0) == nil {
		if data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); strings.Contains(string(data), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestBashTimeoutKillsTheWholeGroup(t *testing.T) {
	b := newBench(t)
	started := 0
	for limit := 1; started < 2; limit *= 2 { // longer where much else runs
		text, r := b.run("Bash", in{"command": "sleep 1000 & echo $!; (sleep 1000 & echo $!; wait); wait", "timeout_seconds": limit})
		d := r.Details.(protocol.ToolDetails)
		if !r.IsError || !d.TimedOut || d.Cancelled || !strings.Contains(text, fmt.Sprintf("timed out after %d s", limit)) {
			t.Fatalf("%s %+v", text, d)
		}
		started = 0
		for line := range strings.Lines(text) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				dead(t, pid)
				started++
			}
		}
	}
}

func TestBashCancelGivesWhatCameSoFar(t *testing.T) {
	b := newBench(t)
	p, err := b.prepare("Bash", in{"command": "echo $$; sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var streamed strings.Builder
	r, err := p.Run(ctx, func(s string) {
		streamed.WriteString(s)
		cancel()
	})
	if err != nil {
		t.Fatal(err)
	}
	text, d := r.Content[0].Text, r.Details.(protocol.ToolDetails)
	if !r.IsError || !d.Cancelled || d.TimedOut || !strings.HasPrefix(text, streamed.String()) || !strings.Contains(text, "Cancelled by user") {
		t.Errorf("%q %+v", text, d)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(streamed.String()))
	dead(t, pid)
}

func TestBashDoesNotWaitForWhatRunsInTheBackground(t *testing.T) {
	b := newBench(t)
	start := time.Now()
	text := b.ok("Bash", in{"command": "cd /; sleep 1000 & echo $!"})
	if time.Since(start) > 30*time.Second {
		t.Error("it waited")
	}
	pid, _ := strconv.Atoi(strings.Split(text, "\n")[0])
	dead(t, pid)
	if b.env.Dir.Path() != "/" {
		t.Errorf("the directory is %s", b.env.Dir.Path())
	}
}

func TestBashNamesProtectedFilesThatChanged(t *testing.T) {
	b := newBench(t)
	b.write(".git/hooks/pre-commit", "old")
	text, r := b.run("Bash", in{"command": "echo new > .git/hooks/pre-commit; echo x > .envrc; echo y > ordinary"})
	want := []string{filepath.Join(b.root, ".envrc"), filepath.Join(b.root, ".git/hooks/pre-commit")}
	if d := r.Details.(protocol.ToolDetails); !slices.Equal(d.ChangedProtected, want) {
		t.Errorf("details: %q, want %q", d.ChangedProtected, want)
	}
	for _, name := range want {
		if !strings.Contains(text, "protected files changed") || !strings.Contains(text, name) {
			t.Errorf("%s is not named: %s", name, text)
		}
	}
	if text, r = b.run("Bash", in{"command": "true"}); strings.Contains(text, "protected") || r.Details.(protocol.ToolDetails).ChangedProtected != nil {
		t.Errorf("nothing changed: %s", text)
	}
	text, r = b.run("Bash", in{"command": "mkdir .agents; for i in {1..150}; do echo > .agents/$i; done"})
	if d := r.Details.(protocol.ToolDetails); len(d.ChangedProtected) != maxChanged || !strings.Contains(text, "and 140 more") {
		t.Errorf("%d named, %s", len(d.ChangedProtected), text)
	}
}
