package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"scorel/internal/engine/discovery"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// reported is what a call of ExecuteSkill told beside its result.
type reported struct {
	mu     sync.Mutex
	events []protocol.ProcessUpdate
	lines  []string
}

// skillWorld is a bench with a skill "x" of the user.
func skillWorld(t *testing.T, fields, script string) *bench {
	t.Helper()
	b := newBench(t)
	dir := filepath.Join(b.reach, "skills", "x")
	b.write(filepath.Join(dir, "SKILL.md"), "---\nentry: run.sh\n"+fields+"---\nText.\n")
	b.write(filepath.Join(dir, "run.sh"), script)
	found := skill.NewFinder(b.reach).Find(t.Context(), []discovery.Place{{Dir: filepath.Join(b.reach, "skills"), Scope: discovery.User, Label: "user"}}, func(string) bool { return false })
	b.env.Skills = skill.NewSet(found.Counting(), b.reach, func(string) bool { return false })
	return b
}

// execute runs the skill and returns its text.
func (b *bench) execute(ctx context.Context, input string) (string, Result, *reported) {
	b.t.Helper()
	r := &reported{}
	p, err := b.env.bind(executeTool{}).Prepare(ctx, Call{ID: "c", Input: json.RawMessage(`{"name":"x","input":` + input + `}`),
		Process: func(u protocol.ProcessUpdate) { r.mu.Lock(); r.events = append(r.events, u); r.mu.Unlock() },
		Stderr:  func(l string) { r.mu.Lock(); r.lines = append(r.lines, l); r.mu.Unlock() }})
	if err != nil {
		b.t.Fatal(err)
	}
	defer p.Close()
	res, err := p.Run(ctx, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return (&protocol.Message{Content: res.Content}).PlainText(), res, r
}

func TestAProgramGetsOneDocumentAndGivesOne(t *testing.T) {
	b := skillWorld(t, "", `cat; echo; pwd >&2; echo "$SKILL_DIR|$SKILL_WORKSPACE" >&2; env | grep -c SCOREL_ >&2; true`)
	text, res, r := b.execute(t.Context(), `{"a": [1, "é"]}`)
	dir := filepath.Join(b.reach, "skills", "x")
	if res.IsError || text != `{"a": [1, "é"]}` {
		t.Errorf("%q, %+v", text, res)
	}
	if got := strings.Join(r.lines, " "); got != dir+" "+dir+"|"+b.root+" 0" {
		t.Errorf("stderr: %q", got)
	}
}

func TestEveryWayToFailIsSaidToTheModelAndToPeople(t *testing.T) {
	for name, c := range map[string]struct{ fields, script, text, stage, lines string }{
		"exit":     {"", "echo partial; echo one >&2; echo two >&2; exit 3", "The skill x failed with exit code 3.\n\nIts output began:\npartial\n\nThe end of what it wrote to stderr:\none\ntwo", "skill-exit", "one two"},
		"signal":   {"", "kill -9 $$", "The skill x was ended by SIGKILL.", "skill-exit", ""},
		"nothing":  {"", "true", "The skill x ended well, but its output cannot be read: it is empty; the program must write one JSON document to stdout.", "skill-output", ""},
		"no JSON":  {"", "echo done", "it is not a JSON document", "skill-output", ""},
		"two":      {"", "echo '{} {}'", "something stands behind the JSON document", "skill-output", ""},
		"torn":     {"", `printf '{"a":'`, "it is not a JSON document (unexpected EOF)", "skill-output", ""},
		"binary":   {"", `printf '"\377"'`, "it is not valid UTF-8", "skill-output", ""},
		"time":     {"timeoutMs: 300\n", "echo began >&2; sleep 100", "The skill x timed out after 300ms: it and its children were ended.\n\nThe end of what it wrote to stderr:\nbegan", "skill-timeout", "began"},
		"flood":    {"", "yes '\"xxxxxxxxxxxxxxxxxxxxxxxxxxxx\"'", "The skill x wrote more than 4 MiB to stdout and was ended", "skill-output", ""},
		"terminal": {"", `printf '\033[2Jgone\n' >&2; exit 1`, "The end of what it wrote to stderr:\n[2Jgone", "skill-exit", "\x1b[2Jgone"},
	} {
		t.Run(name, func(t *testing.T) {
			b := skillWorld(t, c.fields, c.script)
			text, res, r := b.execute(t.Context(), `{"taskId":"t-1"}`)
			if !res.IsError || !strings.Contains(text, c.text) {
				t.Errorf("result %q, want %q", text, c.text)
			}
			if strings.Join(r.lines, " ") != c.lines {
				t.Errorf("lines %q", r.lines)
			}
			if len(r.events) != 1 {
				t.Fatalf("%d events", len(r.events))
			}
			e := r.events[0]
			if e.Stage != c.stage || e.Status != protocol.ProcessFailed || e.Level != protocol.ProcessError || e.Source != protocol.ProcessByRuntime || e.TargetType != protocol.ProcessOfSkill || e.TaskID != "t-1" || e.Message == "" || strings.Contains(e.Message, "\n") {
				t.Errorf("event %+v", e)
			}
		})
	}
}

// unable starts nothing.
type unable struct{}

func (unable) Start(context.Context, sandbox.Cmd) (sandbox.Child, error) {
	return nil, errors.New("no room")
}

func TestAProgramThatDoesNotStartIsSaid(t *testing.T) {
	b := skillWorld(t, "", "true")
	b.env.Spawn = unable{}
	text, res, r := b.execute(t.Context(), `null`)
	if !res.IsError || text != "the skill x did not start: no room" || len(r.events) != 1 || r.events[0].Stage != "skill-start" {
		t.Errorf("%q, %+v", text, r.events)
	}
}

// unknown fails as the system does for a program that it cannot execute.
type unknown struct{}

func (unknown) Start(_ context.Context, c sandbox.Cmd) (sandbox.Child, error) {
	return nil, &fs.PathError{Op: "fork/exec", Path: c.Args[len(c.Args)-1], Err: fmt.Errorf("no such file in %s", c.Dir)}
}

func TestProgramThatDoesNotStartNamesNoPathOfTheHost(t *testing.T) {
	b := skillWorld(t, "", "true")
	b.env.Spawn = unknown{}
	text, _, r := b.execute(t.Context(), `null`)
	if !strings.HasPrefix(text, "the skill x did not start: fork/exec ") || !strings.HasSuffix(text, ": no such file in .") || strings.Contains(text, "/skills/") || len(r.events) != 1 || strings.Contains(r.events[0].Message, "/skills/") {
		t.Errorf("%q, %+v", text, r.events)
	}
}

func TestACancelledProgramIsEndedAndTheRuntimeTellsOfIt(t *testing.T) {
	b := skillWorld(t, "", `echo $$ > "$SKILL_WORKSPACE/pid"; sleep 1000`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the file, or the test
		for ctx.Err() == nil {
			if data, err := os.ReadFile(filepath.Join(b.root, "pid")); err == nil && strings.HasSuffix(string(data), "\n") {
				cancel()
			}
			runtime.Gosched()
		}
	}()
	text, res, r := b.execute(ctx, `null`)
	if !res.IsError || !strings.HasPrefix(text, "Cancelled by user") || len(r.events) != 0 {
		t.Errorf("%q, %+v", text, r.events)
	}
	pid := strings.TrimSpace(b.content("pid"))
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Errorf("process %s still runs", pid)
	}
}

func TestLinesOfStderrAreEventsOrKeptInOrderWhateverTheirLength(t *testing.T) {
	r := &reported{}
	p := &childLog{max: 1 << 20, full: func() { t.Error("ended") }, call: Call{
		Process: func(u protocol.ProcessUpdate) {
			r.events = append(r.events, u)
			r.lines = append(r.lines, "event "+u.Message)
		},
		Stderr: func(l string) { r.lines = append(r.lines, l) }}}
	long := strings.Repeat("x", progress.MaxLine)
	input := "one\r\n{\"type\":\"process_event\",\"message\":\"m1\"}\n" + long + "yz\n\n{\"type\":\"process_event\",\"message\":\"" + long + "\"}\nlast {\n{\"type\":\"process_event\",\"stage\":\"end\"}"
	for i := 0; i < len(input); i += 4093 {
		if n, err := p.Write([]byte(input[i:min(len(input), i+4093)])); err != nil || n == 0 {
			t.Fatal(n, err)
		}
	}
	p.end()
	var short []string
	for _, l := range r.lines {
		if len(l) > 40 {
			l = fmt.Sprintf("%d bytes", len(l))
		}
		short = append(short, l)
	}
	const head = len(`{"type":"process_event","message":"`)
	if got, want := strings.Join(short, "|"), fmt.Sprintf("one|event m1|%d bytes|yz||%d bytes|%s\"}|last {|event ", progress.MaxLine, progress.MaxLine, strings.Repeat("x", head)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.events[1].Stage != "end" {
		t.Errorf("%+v", r.events)
	}
	if n := len(p.text()); n != maxStderrTail {
		t.Errorf("%d bytes of stderr in a result", n)
	}
}

func TestStderrHasABoundInMemoryAndInAll(t *testing.T) {
	ended := 0
	p := &childLog{max: 4 << 20, full: func() { ended++ }}
	block := []byte(strings.Repeat("0123456789abcde\n", 4096))
	for range int(p.max)/len(block) + 10 {
		_, _ = p.Write(block)
	}
	if ended != 1 || !p.over() || cap(p.tail) > 1<<20 || cap(p.line) > 2*progress.MaxLine {
		t.Errorf("ended %d times, over %v, %d and %d bytes are kept", ended, p.over(), cap(p.tail), cap(p.line))
	}
}

func TestAnInputThatIsWrittenAsATextIsTaken(t *testing.T) {
	b := skillWorld(t, "input:\n  type: object\n  required: [n]\n", "cat")
	if text, res, _ := b.execute(t.Context(), `"{\"n\": 1}"`); res.IsError || text != `{"n": 1}` {
		t.Errorf("%q", text)
	}
	if _, err := b.env.bind(executeTool{}).Prepare(t.Context(), Call{Input: json.RawMessage(`{"name":"x","input":"{}"}`)}); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("%v", err)
	}
	if _, err := b.env.bind(executeTool{}).Prepare(t.Context(), Call{Input: json.RawMessage(`{"name":"x","input":"` + strings.Repeat("x", maxSkillInput) + `"}`)}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}

func TestFilesOfASkillAreReadButNotWritten(t *testing.T) {
	b := skillWorld(t, "", "true")
	dir := filepath.Join(b.reach, "skills", "x")
	b.write(filepath.Join(b.reach, "host.token"), "secret")
	if err := os.Symlink(filepath.Join(b.reach, "host.token"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	files, err := files.New(files.Config{Root: b.root, Home: filepath.Dir(b.reach), Reach: b.reach, Readable: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(files.Close)
	b.env.Files = files
	if text, res := b.run("Read", map[string]any{"path": dir + "/SKILL.md"}); res.IsError || !strings.Contains(text, "Text.") {
		t.Errorf("Read: %s", text)
	}
	if text, res := b.run("Grep", map[string]any{"pattern": "Text", "path": dir}); res.IsError || !strings.Contains(text, "SKILL.md") {
		t.Errorf("Grep: %s", text)
	}
	for _, c := range []struct {
		tool  string
		input map[string]any
	}{
		{"Read", map[string]any{"path": dir + "/link"}}, {"Read", map[string]any{"path": b.reach + "/host.token"}},
		{"Write", map[string]any{"path": dir + "/new", "content": "x"}}, {"Write", map[string]any{"path": dir + "/SKILL.md", "content": "x"}},
		{"Edit", map[string]any{"path": dir + "/SKILL.md", "old_string": "Text", "new_string": "x"}}, {"Grep", map[string]any{"pattern": "secret", "path": b.reach}},
	} {
		if text, res := b.run(c.tool, c.input); !res.IsError || !strings.Contains(text, "Scorel's own folder") {
			t.Errorf("%s %v: %s", c.tool, c.input, text)
		}
	}
}
