package command

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/discovery"
)

func TestATemplateNamesFilesButWhatItsShellLinesPrintDoesNot(t *testing.T) {
	for text, want := range map[string]string{
		"Look at @src/main.go, @docs/a.md.": "src/main.go docs/a.md", "Compare @$1 with @$2": "one two", "mail x@y.z and @ alone": "",
		"(@a) \"@b\" `@c`\n@d": "a b c d", "!echo @secret\nand !`cat @x` but @y": "y", "@a @a": "a", "see $ARGUMENTS": "@two",
	} {
		b, err := ReadBody([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a := Args{Raw: "@@two", Words: []string{"one", "two"}}
		if want == "@two" {
			a, want = Args{Raw: "@two", Words: []string{"@two"}}, "two"
		}
		if got, err := b.Mentions(a); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q names %q (%v), want %q", text, got, err, want)
		}
	}
	b, _ := ReadBody([]byte(strings.Repeat("@a ", 5) + "@" + strings.Repeat("x", maxMention+1)))
	if got, _ := b.Mentions(Args{}); len(got) != 1 {
		t.Errorf("%d names", len(got))
	}
}

func TestCommandsInFoldersHaveTheFoldersInTheirNames(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "commands")
	write(t, filepath.Join(dir, "git", "commit.md"), "---\ndescription: Commits: all\nallowed-tools: Bash(git add:*), Bash(git commit:*)\nmodel: haiku\n---\nx")
	write(t, filepath.Join(dir, "git", "hub", "pr.md"), "x")
	write(t, filepath.Join(dir, "commit.md"), "x")
	write(t, filepath.Join(dir, "bad name", "x.md"), "x")
	write(t, filepath.Join(dir, "a", "b", "c", "d.md"), "x")
	write(t, filepath.Join(dir, "a", "b", "c", "d", "e.md"), "x")
	write(t, filepath.Join(dir, ".git", "x.md"), "x")
	place := discovery.Place{Dir: dir, Scope: discovery.Project, Root: home, Name: ".claude/commands"}
	got, problems := NewTemplates(filepath.Join(home, ".scorel")).Find(context.Background(), []discovery.Place{place})
	var names []string
	for _, c := range got {
		names = append(names, c.Name+" "+c.Trusted()+c.Problem)
	}
	want := []string{"a:b:c:d .claude/commands/a/b/c/d.md", "commit .claude/commands/commit.md", "git:commit .claude/commands/git/commit.md", "git:hub:pr .claude/commands/git/hub/pr.md"}
	if !slices.Equal(names, want) {
		t.Errorf("found %q", names)
	}
	if c := got[2]; c.Description != "Commits: all" || c.Model != "haiku" || !slices.Equal(c.Tools, []string{"Bash(git add:*)", "Bash(git commit:*)"}) {
		t.Errorf("git:commit is %+v", c)
	}
	if len(problems) != 2 || !strings.Contains(strings.Join(problems, "\n"), "at most 3 folders") || !strings.Contains(strings.Join(problems, "\n"), "bad name are left out") {
		t.Errorf("problems %q", problems)
	}
}
