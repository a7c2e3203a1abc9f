package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
)

const review = "---\nname: review\ndescription: Looks at\n  changes.\ntools: Read, Grep, Task\ndeny: [Write]\nmodel: small\npermissionMode: plan\nmaxSteps: 12\n---\n\nYou review.\n"

func TestAFileSaysAllThatAnAgentHas(t *testing.T) {
	d, err := Parse("agents/r.md", []byte(review), Project, false)
	want := Definition{Name: "review", Description: "Looks at changes.", Path: "agents/r.md", Scope: Project, Tools: []string{"Read", "Grep", "Task"},
		Deny: []string{"Write"}, Model: "small", Mode: permission.Plan, MaxSteps: 12, Prompt: "You review."}
	if err != nil || fmt.Sprintf("%+v", *d) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v (%v), want %+v", d, err, want)
	}
	bare, err := Parse("agents/bare.md", []byte("---\ndescription: x\nmodel: inherit\npermissionMode:\n---\ndo"), User, false)
	if err != nil || bare.Name != "bare" || bare.Mode != "" || bare.Model != "" || bare.Preset != "" || bare.Tools != nil {
		t.Errorf("%+v (%v)", bare, err)
	}
}

func TestWhatIsWrongWithAFileIsSaidInOneSentence(t *testing.T) {
	for text, want := range map[string]string{
		"You review.":                                                     "a.md:1: an agent begins with fields between two lines of ---; it needs a description",
		"---\nname: x\n---\ndo":                                           "a.md:1: description is missing; it says when the agent is to be used",
		"---\ndescription: x\n---\n \n":                                   "a.md:4: the prompt is missing; it is the text after the fields",
		"---\ndescription: x\ntool: Read\n---\ndo":                        `a.md:3: an agent has no field "tool" (did you mean tools?); there are name, description, tools, deny, model, permissionMode, maxSteps, color, effort, background, skills, initialPrompt, hooks`,
		"---\ndescription: x\ntools: Bash(git log:*)\n---\ndo":            `a.md:3: tools has "Bash(git log:*)", which is not a name of a tool; rules about what a tool may do are in config.toml`,
		"---\ndescription: x\nname: a b\n---\ndo":                         `a.md:3: "a b" is not a name for an agent; use up to 64 letters, digits, - and _`,
		"---\ndescription: x\npermissionMode: yolo\n---\ndo":              `a.md:3: "yolo" is not a permission mode; use default, acceptEdits, plan, dontAsk or bypassPermissions`,
		"---\ndescription: x\nmaxSteps: 0\n---\ndo":                       "a.md:3: maxSteps must be a whole number from 1 to 1000",
		"---\ndescription: x\nmodel: [a]\n---\ndo":                        "a.md:3: model must be one text",
		"---\ndescription: x\n---\n" + strings.Repeat("x", MaxPrompt+1):   "a.md:4: the prompt has 65537 bytes; at most 65536 are possible",
		"---\ndescription: x\nisolation: worktree\n---\ndo":               "a.md:3: an agent has no field \"isolation\"",
		"---\ndescription: x\ncolor: beige\n---\ndo":                      "a.md:3: \"beige\" is not a color of an agent; use red, orange",
		"---\ndescription: x\neffort: huge\n---\ndo":                      "a.md:3: \"huge\" is not an effort; it can be off, minimal",
		"---\ndescription: x\nbackground: maybe\n---\ndo":                 "a.md:3: background must be true or false",
		"---\ndescription: x\nskills: [a,b,c,d,e,f,g,h,i,j,k]\n---\ndo":   "a.md:3: skills names 11 skills; at most 10 are possible",
		"---\ndescription: x\nhooks: []\n---\ndo":                         "a.md:3: a project's agent cannot have hooks",
		"---\ndescription: x\ninitialPrompt: [a]\n---\ndo":                "a.md:3: initialPrompt must be one text",
		"---\ndescription: x\npermissionMode: bypassPermissions\n---\ndo": "a.md:3: a project's agent cannot have the permission mode bypassPermissions",
	} {
		if _, err := Parse("a.md", []byte(text), Project, false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	if d, err := Parse("a.md", []byte("---\ndescription: x\npermissionMode: bypassPermissions\n---\ndo"), User, false); err != nil || d.Mode != permission.Bypass {
		t.Errorf("the user's own: %+v, %v", d, err)
	}
}

func TestFieldsOfOtherProgramsAreUnderstoodOnlyInTheirFolders(t *testing.T) {
	text := "---\nname: x\ndescription: y\ncolor: red\nisolation: worktree\neffort: 3\ndisallowedTools: Bash\nmaxTurns: 3\ntools: Read, LS\n---\ndo"
	d, err := Parse("x.md", []byte(text), Project, true)
	if err != nil || !slices.Equal(d.Deny, []string{"Bash"}) || d.MaxSteps != 3 || d.Color != "red" || d.Effort != "" || !strings.Contains(d.Note, "isolation has no effect") || !strings.Contains(d.Note, "effort has no effect") || !strings.Contains(d.Note, `no built-in tool "LS"`) {
		t.Errorf("%+v (%v)", d, err)
	}
}

// world is a user's folder and a project, with the names of files that are trusted.
type world struct {
	t             *testing.T
	user, project string
	trusted       map[string]bool
}

func newWorld(t *testing.T, files map[string]string) *world {
	w := &world{t: t, user: t.TempDir(), project: t.TempDir(), trusted: map[string]bool{}}
	for name, text := range files {
		dir := w.project
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			dir, name = w.user, rest
		} else if rest, ok := strings.CutPrefix(name, "!"); ok { // not trusted
			name = rest
		} else {
			w.trusted[name] = true
		}
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) find() *Set {
	return Find(Config{UserDir: w.user, Root: w.project, Read: func(root, name string, _ int64) ([]byte, bool, error) {
		data, err := os.ReadFile(filepath.Join(root, name))
		return data, w.trusted[name], err
	}})
}

func file(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\ndo it"
}

func states(s *Set) string {
	var out []string
	for _, e := range s.Entries {
		out = append(out, fmt.Sprintf("%s %s %s", e.Name, e.Scope, e.State))
	}
	return strings.Join(out, "\n")
}

func TestTheNearestTrustedAgentOfANameCounts(t *testing.T) {
	w := newWorld(t, map[string]string{
		".scorel/agents/a.md": file("a", "project"), ".claude/agents/a.md": file("a", "other program"), "~/a.md": file("a", "user"),
		"!.scorel/agents/b.md": file("b", "untrusted"), "~/b.md": file("b", "user"),
		"!.scorel/agents/only.md": file("only", "untrusted"), "~/broken.md": "no", "~/general.md": file("general", "mine"),
		"~/README.md": "x", "~/notes.txt": "x", "~/.hidden.md": "x",
	})
	s := w.find()
	want := `a project ok
a project shadowed
a user shadowed
b user ok
b project untrusted
broken user broken
explore builtin ok
general user ok
general builtin shadowed
only project untrusted
plan builtin ok`
	if got := states(s); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	for name, about := range map[string]string{"a": "project", "b": "user", "general": "mine"} {
		if d, err := s.Named(name); err != nil || d.Description != about {
			t.Errorf("%s is %+v (%v)", name, d, err)
		}
	}
	for name, part := range map[string]string{"only": "is not trusted", "broken": "broken.md:1: an agent begins with fields", "none": "there are a, b, explore, general, plan"} {
		if _, err := s.Named(name); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, e := range s.Entries {
		if e.State == Untrusted && (e.Description != "" || e.Prompt != "") {
			t.Errorf("text of an untrusted file is given: %+v", e)
		}
	}
}

func TestFoldersAreBoundedAndNothingIsWaitedFor(t *testing.T) {
	files := map[string]string{"~/big.md": "---\ndescription: x\n---\n" + strings.Repeat("x", MaxFile)}
	for i := range MaxFiles + 20 {
		files[fmt.Sprintf(".scorel/agents/f%03d.md", i)] = file(fmt.Sprintf("f%03d", i), "x")
	}
	w := newWorld(t, files)
	if err := syscall.Mkfifo(filepath.Join(w.user, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := w.find()
	if n := len(s.Usable()); n != MaxFiles+3 {
		t.Errorf("%d agents", n)
	}
	if len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "has 120 agents; only the first 100 count") {
		t.Errorf("problems %q", s.Problems)
	}
	for name, part := range map[string]string{"big": "larger than 128 KiB", "pipe": "not a regular file"} {
		if _, err := s.Named(name); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := Find(Config{UserDir: filepath.Join(w.user, "none")}); len(s.Entries) != 3 || len(s.Problems) > 0 {
		t.Errorf("without folders: %+v", s)
	}
}

func TestAnAgentGetsNoToolThatItsSessionLacks(t *testing.T) {
	from := func(names ...string) []tool.Tool {
		tools, err := tool.Select("none", names)
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}
	all := from("Read", "Grep", "Write", "Bash", "Task")
	for _, c := range []struct {
		d      Definition
		from   []tool.Tool
		deeper bool
		want   string
	}{
		{Definition{}, all, true, "Bash Grep Read Write"},
		{Definition{Preset: "coding", Deny: []string{"Bash"}}, all, true, "Grep Read Write"},
		{Definition{Preset: "readonly"}, all, true, "Grep Read"},
		{Definition{Preset: "none"}, all, true, ""},
		{Definition{Tools: []string{"Read", "Task", "WebFetch"}}, all, true, "Read Task"},
		{Definition{Tools: []string{"Read", "Task"}}, all, false, "Read"},
		{Definition{Tools: []string{"Bash", "Read"}}, from("Read", "Task"), true, "Read"},
		{Definition{Tools: []string{"Read"}, Deny: []string{"Read"}}, all, true, ""},
	} {
		var names []string
		for _, x := range c.d.Pick(c.from, c.deeper) {
			names = append(names, x.Spec().Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v gets %q, want %q", c.d, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(review)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse("a.md", []byte(text), Project, len(text)%2 == 0)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.md:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		if d.Description == "" || d.Prompt == "" || !validName(d.Name) || d.Mode == permission.Bypass {
			t.Errorf("%+v", d)
		}
	})
}

func TestFilesOfClaudeCodeAreNeverBrokenByWhatScorelDoesNotKnow(t *testing.T) {
	text := "---\nname: rev\ndescription: Use this when: there is a diff. \"Quoted\"\ntools: Read, MultiEdit, Bash(git log:*), BashOutput, LSP, mcp__x__y\nmodel: sonnet\n" +
		"permissionMode: bypassPermissions\nmaxTurns: many\nsomething-new: {a: b}\n---\nReview."
	d, err := Parse("rev.md", []byte(text), Project, true)
	if err != nil {
		t.Fatal(err)
	}
	if d.Description != `Use this when: there is a diff. "Quoted"` || !slices.Equal(d.Tools, []string{"Read", "Edit", "Bash", "TaskOutput", "mcp__x__y"}) || d.Model != "sonnet" || d.Mode != "" || d.MaxSteps != 0 {
		t.Errorf("%+v", d)
	}
	for _, want := range []string{"MultiEdit is Edit", "of Bash(git log:*) only the tool counts", "no tool LSP", "bypassPermissions", "maxTurns is not a number", "something-new has no effect"} {
		if !strings.Contains(d.Note, want) {
			t.Errorf("the note lacks %q: %s", want, d.Note)
		}
	}
	if d, err := Parse("a.md", []byte("---\ndescription: x\ntools: '*'\npermissionMode: delegate\n---\ndo"), User, true); err != nil || d.Tools != nil || d.Preset != "" || d.Mode != "" || !strings.Contains(d.Note, "delegate") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := Parse("a.md", []byte("---\ndescription: x\ntools: LSP\n---\ndo"), User, true); err != nil || d.Preset != "none" {
		t.Errorf("an agent whose tools do not exist gets %+v, %v", d, err)
	}
}

func TestTheUsersAgentsOfClaudeCodeCountAfterScorels(t *testing.T) {
	w := newWorld(t, map[string]string{"~/a.md": file("a", "scorel"), ".claude/agents/p.md": file("p", "project")})
	foreign := t.TempDir()
	for name, text := range map[string]string{"a.md": file("a", "claude"), "b.md": file("b", "claude"), "p.md": file("p", "claude")} {
		if err := os.WriteFile(filepath.Join(foreign, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Find(Config{UserDir: w.user, ForeignDir: foreign, Root: w.project, Read: func(root, name string, _ int64) ([]byte, bool, error) {
		data, err := os.ReadFile(filepath.Join(root, name))
		return data, true, err
	}})
	for name, about := range map[string]string{"a": "scorel", "b": "claude", "p": "project"} {
		if d, err := s.Named(name); err != nil || d.Description != about {
			t.Errorf("%s is %+v (%v)", name, d, err)
		}
	}
}
