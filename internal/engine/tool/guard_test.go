package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

// gitBench is a bench whose workspace is a repository, with a bare one of which Git would
// run the fsmonitor in docs/api. told gets what people are told.
func gitBench(t *testing.T) (b *bench, told chan protocol.ProtectedNotice) {
	b = backgroundBench(t)
	b.ok("Bash", in{"command": "git init -q . && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x"})
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/k": "", "refs/k": "",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"echo ran >> ran; false\"\n"} {
		b.write("docs/api/"+name, text)
	}
	told = make(chan protocol.ProtectedNotice, 10)
	b.env.Protected = toldProtected(func(n protocol.ProtectedNotice, text string) {
		if !strings.HasPrefix(text, "Attention: ") {
			t.Errorf("the model is told %q", text)
		}
		told <- n
	})
	return b, told
}

func TestBashSaysWhichRepositoryGitWouldUse(t *testing.T) {
	b, _ := gitBench(t)
	policy, err := permission.Compile(permission.Config{Root: b.root, UID: 1000, Confined: true, Layers: []permission.Layer{{Allow: []string{"Bash(git status:*)", "Bash(cp:*)"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]protocol.Decision{"git status": protocol.DecisionAllow, "cd docs && git status": protocol.DecisionAllow,
		"cd docs/api && git status": protocol.DecisionAsk, "cd docs/api/refs && git status": protocol.DecisionAsk,
		"cp -r docs/api docs/.git; cd docs && git status": protocol.DecisionAsk, "cp -r docs/api docs/.git; git status": protocol.DecisionAllow} {
		p, err := b.prepare("Bash", in{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if v := policy.Judge(p.Action()); v.Decision != want {
			t.Errorf("%s: %s %s", command, v.Decision, v.Reason)
		}
		p.Close()
	}
}

func TestOnlyLinesThatARuleAboutGitAllowsRefuseBareRepositories(t *testing.T) {
	b, _ := gitBench(t)
	b.env.Environ = append(b.env.Environ, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=me")
	for _, ruled := range []bool{true, false} {
		p, err := b.prepare("Bash", in{"command": "git config user.name; cd docs/api; git status --short"})
		if err != nil {
			t.Fatal(err)
		}
		if ruled {
			p.(GitRuled).AllowedByGitRule()
		}
		r, err := p.Run(t.Context(), func(string) {})
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		text := r.Content[0].Text
		if strings.Contains(text, "cannot use bare repository") != ruled || !strings.Contains(text, "me\n") {
			t.Errorf("ruled %v: %s", ruled, text)
		}
		if _, err := os.Stat(filepath.Join(b.root, "docs/api/ran")); (err != nil) != ruled {
			t.Errorf("ruled %v: the repository's program ran: %v", ruled, err == nil)
		}
	}
}

func TestWhatLeadsGitElsewhereIsMovedAndToldAtTheEndOfACommand(t *testing.T) {
	b, told := gitBench(t)
	text, r := b.run("Bash", in{"command": "echo ../docs/api > .git/commondir; mkdir -p .git/modules/m; cp -r docs/api/. .git/modules/m; echo x > .envrc"})
	d := r.Details.(protocol.ToolDetails)
	var paths []string
	for _, a := range d.SetAside {
		paths = append(paths, a.Path)
		if _, err := os.Lstat(a.To); err != nil || a.Why == "" || strings.Contains(text, a.To) {
			t.Errorf("%+v: %v, %s", a, err, text)
		}
	}
	if want := []string{b.root + "/.git/commondir", b.root + "/.git/modules/m"}; !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}
	if want := []string{b.root + "/.envrc"}; !slices.Equal(d.ChangedProtected, want) {
		t.Errorf("changed: %q", d.ChangedProtected)
	}
	if n := <-told; !slices.Equal(n.SetAside, d.SetAside) || n.ToolCallID == "" {
		t.Errorf("%+v", n)
	}
	if n := <-told; !slices.Equal(n.Changed, d.ChangedProtected) {
		t.Errorf("%+v", n)
	}
	if text = b.ok("Bash", in{"command": "git status --short"}); strings.Contains(text, "Attention") {
		t.Error(text)
	}
}

func TestWhatLeadsGitElsewhereIsMovedWhileABackgroundCommandRuns(t *testing.T) {
	b, told := gitBench(t)
	id, _, _ := b.background("echo ../docs/api > .git/commondir; sleep 1000")
	select {
	case n := <-told:
		if len(n.SetAside) != 1 || n.SetAside[0].Path != b.root+"/.git/commondir" || n.SetAside[0].To == "" {
			t.Errorf("%+v", n)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was told")
	}
	if text := b.ok("TaskStop", in{"task_id": id}); strings.Contains(text, "commondir") {
		t.Errorf("the model is told twice: %s", text)
	}
}
