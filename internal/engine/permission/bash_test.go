package permission

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

// stubs is a folder of programs that note how they were called. A line that runs
// with it as the whole PATH can do nothing else.
type stubs struct{ dir, work, log, bash string }

func newStubs(t *testing.T) stubs {
	t.Helper()
	bashPath, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("bash is needed: %v", err)
	}
	s := stubs{dir: t.TempDir(), work: t.TempDir(), bash: bashPath}
	s.log = filepath.Join(s.dir, "log")
	// One write for each call, so that programs of a pipe do not mix.
	script := "#!" + bashPath + "\ns=${0##*/}; for a; do s+=$'\\x1f'$a; done; printf '%s\\x1e' \"$s\" >>'" + s.log + "'\n"
	for _, name := range []string{"git", "make", "ls", "cat", "find", "env", "timeout", "grep", "rm", "curl", "tee", "go", "xargs", "npm", "status", "x", "bash", "sh"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs a line in bash and returns the words of each program that it started.
func (s stubs) run(t *testing.T, src string) [][]string {
	t.Helper()
	if err := os.WriteFile(s.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-c", src)
	cmd.Dir, cmd.Env = s.work, []string{"PATH=" + s.dir, "HOME=" + s.work}
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // how it ends does not matter, nor what it prints
	data, err := os.ReadFile(s.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var calls [][]string
	for _, record := range strings.Split(string(data), "\x1e") {
		if record != "" {
			calls = append(calls, strings.Split(record, "\x1f"))
		}
	}
	return calls
}

// startsOnlyAllowed runs an allowed line and judges each program that bash really
// started by itself.
func startsOnlyAllowed(t *testing.T, s stubs, p *Policy, src string) int {
	t.Helper()
	calls := s.run(t, src)
	for _, words := range calls {
		alone := shellparse.Quote(words)
		if v := p.Judge(bash(alone)); v.Decision != protocol.DecisionAllow {
			t.Errorf("%q is allowed, but bash started %q: %s", src, alone, v.Reason)
		}
	}
	return len(calls)
}

func TestBashStartsOnlyAllowedCommandsForAllowedLines(t *testing.T) {
	s := newStubs(t)
	p := compile(t, Default, testRules())
	started := 0
	for _, c := range commands() {
		if c.want == "a" && !strings.Contains(c.src, "while true") {
			started += startsOnlyAllowed(t, s, p, c.src)
		}
	}
	if started < 60 {
		t.Errorf("only %d programs were started: the test sees nothing", started)
	}
}

// TestRandomLinesThatAreAllowedStartOnlyAllowedCommands looks for lines that bash
// reads differently from the parser: random tokens, judged, and run when allowed.
func TestRandomLinesThatAreAllowedStartOnlyAllowedCommands(t *testing.T) {
	tokens := []string{"git status", "git", "status", "rm", "x", " ", " ", " ", ";", "&&", "||", "|", "&", "\n", "$(", ")", "(", "`", "\"", "'", "\\", "\\\n",
		"{", "}", "{ ", "; }", "<", ">", "<<EOF", "\nEOF\n", "<<'E'", "\nE\n", "<<-x", "/dev/null", "2>&1", "#", "$", "$'", "$\"", "${", "$((", "))", "((", "[[", "]]", "[", "]", "!",
		"if ", "then ", "fi", "for f in ", "do ", "done", "case x in ", "esac", "x)", ";;", "time ", "~", "*", "=", "x=1 ", "-s", "--", ",", "..", "-", "true", "\t", "ü", "1", "<(", ">(", "|&", "&>", ":"}
	s := newStubs(t)
	p := compile(t, Default, Layer{Allow: []string{"Bash(git status:*)", "Bash(ls:*)"}})
	random := rand.New(rand.NewPCG(7, 11)) // fixed, so that a failure comes again
	tried := map[string]bool{}
	allowedLines, started := 0, 0
	for range 400_000 {
		var b strings.Builder
		b.WriteString("git status ")
		for range 1 + random.IntN(9) {
			b.WriteString(tokens[random.IntN(len(tokens))])
			if random.IntN(3) == 0 {
				b.WriteByte(' ')
			}
		}
		src := b.String()
		if tried[src] {
			continue
		}
		tried[src] = true
		if p.judge(bash(src)).Decision != protocol.DecisionAllow || boring(src) {
			continue
		}
		allowedLines++
		started += startsOnlyAllowed(t, s, p, src)
		if allowedLines >= 400 {
			break
		}
	}
	if allowedLines < 200 || started < 200 {
		t.Errorf("only %d lines were allowed and %d programs started: the test sees nothing", allowedLines, started)
	}
}

// boring reports whether a line has nothing in which shells could differ.
func boring(src string) bool {
	special := 0
	for _, mark := range []string{"$", "`", "\"", "'", "\\", "<", ">", "{", "(", "#", "\n", "|", ";", "!", "["} {
		if strings.Contains(src, mark) {
			special++
		}
	}
	return special < 2
}
