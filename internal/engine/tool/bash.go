package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"scorel/internal/engine/background"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/repository"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

//go:embed bash.md
var bashText string

const (
	bashTimeout = 120 * time.Second
	// maxCommand is below the longest argument that Linux passes to a program
	// (MAX_ARG_STRLEN, 128 KiB).
	maxCommand = 100_000
	maxDir     = 4096
)

// keepDir makes the shell write its last working directory to descriptor 3. It
// stands on the first line of the command, so that line numbers in errors stay
// right.
const keepDir = "trap 'builtin pwd -P >&3' EXIT; "

type bashTool struct {
	files     *files.Files
	spawn     sandbox.Spawner
	environ   []string
	workDir   *Dir
	tasks     *background.Set
	protected Protected
}

// With implements [Needy].
func (t bashTool) With(g Setting, s Session) Tool {
	t.files, t.spawn, t.environ, t.workDir, t.tasks, t.protected = g.Files, g.Spawn, g.Environ, s.Dir, s.Tasks, s.Protected
	return t
}

type bashInput struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout_seconds"`
	Background bool   `json:"run_in_background"`
}

// bashInfo is what the tool means to others.
var bashInfo = protocol.ToolInfo{Name: "Bash", Kind: protocol.ToolRuns, View: protocol.ViewCommand, TitleField: "command", Rule: protocol.RuleCommand, Tells: protocol.TellsDir, PiNames: []string{"bash"}}

// bashSchema is the JSON Schema of its input.
var bashSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"command":{"type":"string","minLength":1,"description":"The bash source to run."},` +
		`"timeout_seconds":{"type":"integer","minimum":1,"maximum":600,"description":"The time limit in seconds; 120 without it, none in the background."},` +
		`"run_in_background":{"type":"boolean","description":"Answer at once with a task id and let the command go on running."}},` +
		`"required":["command"],"additionalProperties":false}`)

// Spec implements [Tool].
func (bashTool) Spec() Spec {
	return Spec{ToolInfo: bashInfo, Description: bashText, Schema: bashSchema}
}

// Prepare implements [Tool].
func (t bashTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[bashInput](call)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Command) == "":
		return nil, errors.New("the command is empty")
	case strings.ContainsRune(in.Command, 0):
		return nil, errors.New("the command contains a NUL byte")
	case len(in.Command) > maxCommand:
		return nil, fmt.Errorf("the command has %d bytes, at most %d can be run; write a script with Write and run that", len(in.Command), maxCommand)
	}
	c := &bashCall{tool: t, id: call.ID, command: in.Command, timeout: bashTimeout, background: in.Background, dir: t.workDir.Path()}
	if in.Background {
		c.timeout = 0
	}
	if in.Timeout > 0 {
		c.timeout = time.Duration(in.Timeout) * time.Second
	}
	if info, err := os.Stat(c.dir); err != nil || !info.IsDir() {
		c.gone, c.dir = c.dir, t.files.Root()
	}
	return c, nil
}

type bashCall struct {
	tool       bashTool
	id         string
	command    string
	timeout    time.Duration // 0: none, in the background
	background bool
	dir        string
	gitRuled   bool   // a rule about Git allowed it
	gone       string // the working directory that is no longer there
}

// Action implements [Prepared].
func (c *bashCall) Action() permission.Action {
	return permission.Action{Tool: bashInfo.Name, Kind: bashInfo.Kind, Command: c.command, Dir: c.dir, Background: c.background, Resolve: c.tool.files.Resolve, Repository: c.repository, Ignored: c.ignored, Holds: holdsCovered, Names: namesIn}
}

// AllowedByGitRule implements [GitRuled].
func (c *bashCall) AllowedByGitRule() { c.gitRuled = true }

// repository says what Git would use in a folder, in the environment of the command.
func (c *bashCall) repository(dir string) permission.Repository {
	owner := repository.Owner{Roots: c.tool.files.Folders()}
	found, err := repository.Discover(dir, c.tool.environ)
	if err != nil {
		return permission.Repository{Foreign: "which repository Git would use in " + dir + " cannot be told: " + err.Error()}
	}
	return permission.Repository{Foreign: owner.Foreign(found), Fixed: found.Top == dir && slices.Contains(owner.Roots, dir)}
}

// ignored reports whether Git ignores a folder of the workspace.
func (c *bashCall) ignored(dir string) bool { return gitIgnores(c.tool.files, dir) }

// Snapshots implements [Prepared].
func (*bashCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (*bashCall) Close() {}

// Run implements [Prepared].
func (c *bashCall) Run(ctx context.Context, update func(string)) (Result, error) {
	if c.background {
		return c.start(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	dirs, dirIn, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	defer dirs.Close()
	guard := newGuard(c.tool.files, c.tool.protected, c.id)
	defer guard.end()
	out := newCapture(update)
	child, err := c.tool.spawn.Start(limited, sandbox.Cmd{
		Path: "bash", Args: []string{"--noprofile", "--norc", "-c", keepDir + c.command}, Dir: c.dir,
		Env:    c.environ(),
		Stdout: out, Stderr: out, Extra: []*os.File{dirIn},
	})
	dirIn.Close()
	if err != nil {
		out.discard()
		return Result{}, c.notStarted(limited, err)
	}
	exit := child.Wait()
	text, full := out.finish()
	if dir := lastDir(dirs); dir != "" {
		c.dir = dir
	}
	c.tool.workDir.Set(c.dir)

	d := protocol.ToolDetails{ExitCode: &exit.Code, Dir: c.dir}
	harm := guard.end()
	harm.into(&d)
	notes := []string{fmt.Sprintf("exit code %d", exit.Code)}
	if exit.Signal != "" {
		notes = []string{fmt.Sprintf("ended by %s, exit code %d", exit.Signal, exit.Code)}
	}
	switch {
	case ctx.Err() != nil:
		d.Cancelled = true
		notes = append([]string{"Cancelled by user: the command and its children were ended"}, notes...)
	case limited.Err() != nil:
		d.TimedOut = true
		notes = append([]string{fmt.Sprintf("timed out after %d s: the command and its children were ended", int(c.timeout.Seconds()))}, notes...)
	case exit.Err != nil:
		notes = []string{"the exit code is not known: " + exit.Err.Error()}
	}
	if c.gone != "" {
		notes = append(notes, fmt.Sprintf("the working directory %s is gone; this ran in %s", c.gone, c.tool.files.Root()))
	}
	if text == "" {
		notes = append([]string{"no output"}, notes...)
	} else if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	note := "[" + strings.Join(notes, "; ") + "]" + harm.note()
	if len(notes) > 1 || exit.Signal != "" || exit.Err != nil || harm.note() != "" {
		text, note = text+note, "" // people want to know it, too; the exit code stands in the details
	}
	r := shownResult(d, "", text, note)
	r.IsError = exit.Code != 0 || d.Cancelled || d.TimedOut
	if full != nil {
		r.Full = full
	}
	return r, nil
}

// notStarted says why a command did not start. Where it is kept in a folder that
// a command named and none can enter, no later one would start either: so the
// next begins in the workspace.
func (c *bashCall) notStarted(ctx context.Context, err error) error {
	err = fmt.Errorf("start the command: %w", err)
	if root := c.tool.files.Root(); ctx.Err() == nil && c.dir != root {
		c.tool.workDir.Set(root)
		err = fmt.Errorf("%w; the next command runs in %s", err, root)
	}
	return err
}

// environ is the environment of a command: nothing asks, pages or colours.
func (c *bashCall) environ() []string {
	env := append(append([]string{}, c.tool.environ...), "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "BASH_ENV=")
	if c.gitRuled {
		return explicitBare(env)
	}
	return env
}

// explicitBare adds a setting for Git to an environment, after those that it has (see
// GIT_CONFIG_COUNT in git-config(1)): what a rule allows can neither set variables nor use
// the options that would take it back.
func explicitBare(env []string) []string {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	env = slices.DeleteFunc(env, func(entry string) bool {
		value, ok := strings.CutPrefix(entry, count)
		if ok {
			n, _ = strconv.Atoi(value)
			n = max(n, 0)
		}
		return ok
	})
	return append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=safe.bareRepository", n), fmt.Sprintf("GIT_CONFIG_VALUE_%d=explicit", n), count+strconv.Itoa(n+1))
}

// lastDir returns the last directory that the shell wrote, "" when it is none. It
// never waits: who is left over may still hold the other end.
func lastDir(r *os.File) string {
	raw, err := r.SyscallConn()
	if err != nil {
		return ""
	}
	buf := make([]byte, maxDir+1)
	n := 0
	err = raw.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), buf) // the descriptor does not block
		return true
	})
	if err != nil || n < 2 || n > maxDir {
		return ""
	}
	dir := strings.TrimSuffix(string(buf[:n]), "\n")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
