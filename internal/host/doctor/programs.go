package doctor

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"scorel/internal/platform/sandbox"
)

// Program is one that Scorel or the model uses.
type Program struct {
	Name     string // as it is looked up
	Title    string // what its version line begins with
	Least    int    // first number of the oldest version that is known to work
	Required bool
	Without  string // what happens without it, for people
}

// Programs are those that doctor looks for.
func Programs() []Program {
	return []Program{
		{"bash", "GNU bash, version ", 4, true, "the Bash tool cannot run"},
		{"git", "git version ", 2, false, "the model cannot use Git; Scorel itself does not need it"},
		{"rg", "ripgrep ", 12, false, "searches use the built-in one, with the same answers, slower in large trees"},
	}
}

// maxVersion is how much of a version text is read, in bytes.
const maxVersion = 4 << 10

// Installed checks that a program is there and says its version. Find gives its
// absolute path, "" when it is not there; env is its environment.
func Installed(p Program, find func(string) string, start sandbox.Spawner, env []string) Check {
	return Check{p.Name, func(ctx context.Context) Finding {
		advice := "Install " + p.Name + ", or put it on PATH: without it " + p.Without + "."
		bad := Warn
		if p.Required {
			bad = Fail
		}
		path := find(p.Name)
		if path == "" {
			if p.Name == "rg" {
				return OK("ripgrep is not installed: %s", p.Without)
			}
			return bad(p.Name+" is not on PATH, leaving out folders in which commands write", advice)
		}
		out := &limited{}
		child, err := start.Start(ctx, sandbox.Cmd{Path: path, Args: []string{"--version"}, Dir: "/", Env: env, Stdout: out, Stderr: out})
		if err != nil {
			return bad(fmt.Sprintf("%s cannot be started: %v", path, cause(err)), advice)
		}
		stop := context.AfterFunc(ctx, child.Kill)
		exit := child.Wait()
		stop()
		line, _, _ := strings.Cut(out.String(), "\n")
		version, is := strings.CutPrefix(strings.TrimSpace(line), p.Title)
		version, _, _ = strings.Cut(version, " ")
		switch {
		case ctx.Err() != nil:
			return bad(path+" --version does not end", advice)
		case exit.Code != 0 || exit.Err != nil || !is:
			return bad(path+" does not say its version", advice)
		}
		first, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(first); err != nil || n < p.Least {
			return bad(fmt.Sprintf("%s is version %s; %d or later is needed", path, version, p.Least), "Install a newer one: with this one "+p.Without+".")
		}
		return OK("%s %s", path, version)
	}}
}

// limited keeps the beginning of what is written.
type limited struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := maxVersion - l.buf.Len(); room > 0 {
		l.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
