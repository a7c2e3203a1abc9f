package tool

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a workspace with an environment for tools.
type bench struct {
	t     testing.TB
	env   *env
	root  string // the workspace
	out   string // a folder outside
	reach string // Scorel's own folder
	blobs map[string][]byte
}

// env is what the tools of a bench have.
type env struct {
	Setting
	Session
}

func (e *env) bind(t Tool) Tool { return Bind([]Tool{t}, e.Setting, e.Session)[0] }

type storedResults func(ctx context.Context, id string) (io.ReadCloser, error)

func (f storedResults) StoredResult(ctx context.Context, id string) (io.ReadCloser, error) {
	return f(ctx, id)
}

type putBlob func(ctx context.Context, r io.Reader) (string, error)

func (f putBlob) PutBlob(ctx context.Context, r io.Reader) (string, error) { return f(ctx, r) }

type todos []protocol.Todo

func (l todos) Todos() []protocol.Todo { return l }

// asked answers the questions of a model.
type asked func(ctx context.Context, callID string, qs []protocol.Question) (protocol.Answers, error)

func (f asked) Ask(ctx context.Context, callID string, qs []protocol.Question) (protocol.Answers, error) {
	return f(ctx, callID, qs)
}

func (asked) Plan(context.Context, string, string) (PlanVerdict, error) { return PlanVerdict{}, nil }
func (asked) EnterPlan(context.Context, string, string) (PlanProposal, error) {
	return PlanProposal{}, nil
}

// toldProtected is told of protected files.
type toldProtected func(n protocol.ProtectedNotice, text string)

func (f toldProtected) NotifyProtected(n protocol.ProtectedNotice, text string) { f(n, text) }

func newBench(t testing.TB) *bench {
	t.Helper()
	return benchIn(t, t.TempDir())
}

func benchIn(t testing.TB, base string) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, root: filepath.Join(base, "work"), out: filepath.Join(base, "out"),
		reach: filepath.Join(base, "home", ".scorel"), blobs: map[string][]byte{}}
	for _, dir := range []string{b.root, b.out, b.reach} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := files.New(files.Config{Root: b.root, Home: filepath.Dir(b.reach), Reach: b.reach})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	b.env = &env{
		Setting: Setting{Files: opened, Spawn: sandbox.New(sandbox.Config{}), Environ: sandbox.Environ(os.Environ(), nil), Window: 200_000},
		Session: Session{Seen: files.NewSeen(nil), Dir: NewDir(opened.Root()), Results: storedResults(func(_ context.Context, id string) (io.ReadCloser, error) {
			if id != "c1" {
				return nil, os.ErrNotExist
			}
			return io.NopCloser(strings.NewReader("one\n" + strings.Repeat("é", 3000) + "\nlast")), nil
		}), Blobs: putBlob(func(_ context.Context, r io.Reader) (string, error) {
			data, err := io.ReadAll(r)
			b.blobs[files.Sum(data)] = data
			return files.Sum(data), err
		})},
	}
	return b
}

func (b *bench) write(rel, content string) string {
	b.t.Helper()
	path := rel
	if !filepath.IsAbs(rel) {
		path = filepath.Join(b.root, rel)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) content(rel string) string {
	b.t.Helper()
	if !filepath.IsAbs(rel) {
		rel = filepath.Join(b.root, rel)
	}
	data, err := os.ReadFile(rel)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) prepare(tool string, input any) (Prepared, error) {
	b.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		b.t.Fatal(err)
	}
	tools, err := Select("none", []string{tool})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.env.bind(tools[0]).Prepare(b.t.Context(), Call{ID: "c", Input: raw})
}

// run prepares and runs a call and returns its text; an error is its text.
func (b *bench) run(tool string, input any) (string, Result) {
	b.t.Helper()
	p, err := b.prepare(tool, input)
	if err != nil {
		return err.Error(), Result{Content: []protocol.Block{protocol.Text(err.Error())}, IsError: true}
	}
	defer p.Close()
	r, err := p.Run(b.t.Context(), nil)
	if err != nil {
		return err.Error(), Result{Content: []protocol.Block{protocol.Text(err.Error())}, IsError: true}
	}
	if r.Full != nil {
		defer r.Full.Close()
	}
	return r.Content[0].Text, r
}

func (b *bench) ok(tool string, input any) string {
	b.t.Helper()
	text, r := b.run(tool, input)
	if r.IsError {
		b.t.Fatalf("%s %v fails: %s", tool, input, text)
	}
	return text
}

// fails wants an error that contains each of the texts.
func (b *bench) fails(tool string, input any, want ...string) {
	b.t.Helper()
	text, r := b.run(tool, input)
	if !r.IsError {
		b.t.Fatalf("%s %v works: %s", tool, input, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.t.Errorf("%s %v says %q, which lacks %q", tool, input, text, w)
		}
	}
}

type in = map[string]any

func edits(path string, pairs ...string) in {
	var list []in
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, in{"old_string": pairs[i], "new_string": pairs[i+1]})
	}
	return in{"path": path, "edits": list}
}

func TestAllToolsAreSortedAndDescribeValidSchemas(t *testing.T) {
	var names []string
	for _, tool := range All() {
		s := tool.Spec()
		names = append(names, s.Name)
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if schema.Type != "object" || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: the schema takes more than its properties", s.Name)
		}
		for _, r := range schema.Required {
			if _, ok := schema.Properties[r]; !ok {
				t.Errorf("%s: %s is required and not described", s.Name, r)
			}
		}
		if len(s.Description) < 80 || s.Kind == "" {
			t.Errorf("%s is not described", s.Name)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
}

func TestSelectGivesPresetsAndLists(t *testing.T) {
	for _, c := range []struct {
		preset string
		allow  []string
		want   string
	}{
		{"coding", nil, "AppendDaily AskUser Bash DiscoverSkills Edit EnterPlanMode ExecuteSkill Glob Grep Monitor NotebookEdit Read ScheduleCreate ScheduleDelete ScheduleList Skill Task TaskOutput TaskStop TodoWrite WebFetch WebSearch Write"},
		{"all", []string{"Read"}, "AppendDaily AskUser Bash DiscoverSkills Edit EnterPlanMode ExecuteSkill Glob Grep Monitor NotebookEdit Read ScheduleCreate ScheduleDelete ScheduleList Skill Task TaskOutput TaskStop TodoWrite WebFetch WebSearch Write"},
		{"readonly", nil, "AskUser DiscoverSkills Glob Grep Read ScheduleList Skill TodoWrite"},
		{"readonly", []string{"Edit", "Edit"}, "AskUser DiscoverSkills Edit Glob Grep Read ScheduleList Skill TodoWrite"},
		{"none", nil, ""},
		{"", []string{"Write", "Read"}, "Read Write"},
	} {
		tools, err := Select(c.preset, c.allow)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Spec().Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("Select(%q, %v) = %q, want %q", c.preset, c.allow, got, c.want)
		}
	}
	if _, err := Select("everything", nil); err == nil {
		t.Error("an unknown preset is taken")
	}
	if _, err := Select("none", []string{"Raed"}); err == nil || !strings.Contains(err.Error(), "Read") {
		t.Errorf("an unknown name gives %v", err)
	}
}

func TestTodoWriteReplacesTheListAndClearsItWhenAllIsDone(t *testing.T) {
	b := newBench(t)
	old := []protocol.Todo{{Content: "a", Status: "pending"}}
	b.env.Todos = todos(old)
	text, r := b.run("TodoWrite", in{"todos": []protocol.Todo{{Content: "a", Status: "completed"}, {Content: "b", Status: "in_progress"}}})
	d := r.Details.(protocol.ToolDetails)
	if !strings.Contains(text, "[x] a\n[>] b") || len(d.OldTodos) != 1 || len(d.Todos) != 2 {
		t.Errorf("%q %+v", text, d)
	}
	text, r = b.run("TodoWrite", in{"todos": []protocol.Todo{{Content: "a", Status: "completed"}}})
	if d := r.Details.(protocol.ToolDetails); len(d.Todos) != 0 || !strings.Contains(text, "cleared") {
		t.Errorf("%q %+v", text, d)
	}
}

func TestSeenKeepsThatAVersionIsKnownAsAWhole(t *testing.T) {
	s := files.NewSeen([]protocol.FileState{{Path: "/a", SHA256: "1", Whole: true}, {Path: "/a", SHA256: "1"}, {Path: "/b", SHA256: "1", Whole: true}, {Path: "/b", SHA256: "2"}})
	if got, _ := s.Lookup("/a"); !got.Whole {
		t.Error("a part of the same version took the whole away")
	}
	if got, _ := s.Lookup("/b"); got.Whole || got.SHA256 != "2" {
		t.Errorf("another version is %+v", got)
	}
	if _, ok := s.Lookup("/c"); ok {
		t.Error("an unseen file is known")
	}
}

func TestSeenAddsUpThePartsOfAVersion(t *testing.T) {
	part := func(hash string, from, to int) protocol.FileState {
		return protocol.FileState{Path: "/a", SHA256: hash, From: from, To: to, Of: 30}
	}
	for _, c := range []struct {
		name  string
		parts []protocol.FileState
		whole bool
	}{
		{"in order", []protocol.FileState{part("1", 1, 10), part("1", 11, 20), part("1", 21, 30)}, true},
		{"backwards and overlapping", []protocol.FileState{part("1", 15, 30), part("1", 5, 16), part("1", 1, 4)}, true},
		{"a gap", []protocol.FileState{part("1", 1, 10), part("1", 12, 30)}, false},
		{"the end is missing", []protocol.FileState{part("1", 1, 29)}, false},
		{"two versions", []protocol.FileState{part("1", 1, 15), part("2", 16, 30)}, false},
		{"back to the first version", []protocol.FileState{part("1", 1, 15), part("2", 1, 1), part("1", 16, 30)}, false},
	} {
		if got, _ := files.NewSeen(c.parts).Lookup("/a"); got.Whole != c.whole {
			t.Errorf("%s: whole is %v", c.name, got.Whole)
		}
	}
}

func TestToolsMayBeUsedConcurrently(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "alpha\n")
	b.env.Ripgrep, _ = exec.LookPath("rg")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for tool, input := range map[string]in{"Read": {"path": "a.txt"}, "Glob": {"pattern": "*.txt"}, "Grep": {"pattern": "alpha"}} {
				if text, r := b.run(tool, input); r.IsError {
					t.Errorf("%s: %s", tool, text)
				}
			}
		})
	}
	group.Wait()
}
