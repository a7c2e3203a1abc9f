package repository

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// paths returns where what was set aside had been, below ws, and checks that it is gone.
func paths(t *testing.T, ws string, list []Aside) []string {
	t.Helper()
	var out []string
	for _, a := range list {
		if a.Err != nil || a.Why == "" {
			t.Errorf("%+v", a)
			continue
		}
		if exists(a.Path) || !exists(a.To) || !strings.Contains(a.To, "/scorel-set-aside-20260102T120000Z-") {
			t.Errorf("%+v: it was not moved", a)
		}
		out = append(out, strings.TrimPrefix(a.Path, ws+"/"))
	}
	slices.Sort(out)
	return out
}

func TestWhatWouldHaveGitRunProgramsIsSetAsideAndNothingElse(t *testing.T) {
	ws, other := workspace(t), workspace(t)
	git(t, ws, "worktree", "add", "-q", "tree")
	git(t, ws, "submodule", "--quiet", "add", other, "sub")
	git(t, filepath.Join(ws, "sub"), "config", "filter.lfs.clean", "git-lfs clean") // a person's own
	plant(t, ws+"/.git/modules/sub/hooks/post-commit", "#!/bin/sh\n")
	state := Look([]string{ws})
	if list := state.SetAside(noon, true); len(list) != 0 {
		t.Errorf("nothing had happened: %+v", list)
	}

	git(t, ws, "worktree", "add", "-q", "fine")
	git(t, ws, "submodule", "--quiet", "add", other, "libs/fine")
	git(t, ws, "commit", "-q", "-m", "y")
	plant(t, ws+"/.git/commondir", "../evil\n")
	plant(t, ws+"/.git/gitdir", "x\n")
	for name, commondir := range map[string]string{"evil": "../../../evil\n", "none": ""} {
		plant(t, ws+"/.git/worktrees/"+name+"/HEAD", "ref: refs/heads/main\n")
		plant(t, ws+"/.git/worktrees/"+name+"/gitdir", ws+"/"+name+"/.git\n")
		if commondir != "" {
			plant(t, ws+"/.git/worktrees/"+name+"/commondir", commondir)
		}
	}
	plant(t, ws+"/.git/worktrees/tree/config.worktree", "[core]\n\tfsmonitor = ./x\n")
	bare(t, ws+"/.git/modules/evil", "[core]\n\tfsmonitor = ./x\n")
	bare(t, ws+"/.git/modules/deep/er", "[include]\n\tpath = ../x\n")
	bare(t, ws+"/.git/modules/hook", "")
	plant(t, ws+"/.git/modules/hook/hooks/pre-commit", "#!/bin/sh\n")
	bare(t, ws+"/.git/modules/out", "\tworktree = /etc\n")
	bare(t, ws+"/.git/modules/common", "")
	plant(t, ws+"/.git/modules/common/commondir", "/x\n")
	bare(t, ws+"/.git/modules/sub/modules/inner", "[core]\n\tsshCommand = x\n")
	bare(t, ws+"/.git/worktrees/fine/modules/inner", "[alias]\n\tst = !x\n")
	if err := os.Symlink(ws+"/evil", ws+"/.git/modules/link"); err != nil {
		t.Fatal(err)
	}
	want := []string{".git/commondir", ".git/gitdir", ".git/modules/common", ".git/modules/deep/er", ".git/modules/evil", ".git/modules/hook", ".git/modules/link",
		".git/modules/out", ".git/modules/sub/modules/inner", ".git/worktrees/evil", ".git/worktrees/fine/modules/inner", ".git/worktrees/none", ".git/worktrees/tree"}
	if got := paths(t, ws, state.SetAside(noon, true)); !slices.Equal(got, want) {
		t.Errorf("set aside: %q\nwant %q", got, want)
	}
	if list := state.SetAside(noon, true); len(list) != 0 {
		t.Errorf("set aside twice: %+v", list)
	}
	for _, dir := range []string{"", "fine", "sub", "libs/fine"} {
		git(t, filepath.Join(ws, dir), "status", "--short")
	}
}

func TestAWorktreeThatIsBeingMadeIsLeftAloneOnce(t *testing.T) {
	ws := workspace(t)
	state := Look([]string{ws})
	plant(t, ws+"/.git/worktrees/new/HEAD", "ref: refs/heads/main\n")
	if list := state.SetAside(noon, false); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	plant(t, ws+"/.git/worktrees/evil/HEAD", "ref: refs/heads/main\n")
	if got := paths(t, ws, state.SetAside(noon, false)); !slices.Equal(got, []string{".git/worktrees/new"}) {
		t.Errorf("%q", got)
	}
	if got := paths(t, ws, state.SetAside(noon, true)); !slices.Equal(got, []string{".git/worktrees/evil"}) {
		t.Errorf("%q", got)
	}
}

func TestAGitFileThatLeadsElsewhereIsSetAside(t *testing.T) {
	for name, replace := range map[string]func(ws string){
		"a file": func(ws string) { plant(t, ws+"/.git", "gitdir: "+ws+"/evil\n") },
		"a link": func(ws string) {
			if err := os.Symlink("evil", ws+"/.git"); err != nil {
				t.Fatal(err)
			}
		},
		"a file whose repository names the folder": func(ws string) {
			bare(t, ws+"/evil", "\tworktree = "+ws+"\n\tfsmonitor = ./x\n")
			plant(t, ws+"/.git", "gitdir: "+ws+"/evil\n")
		},
	} {
		ws := folder(t)
		bare(t, ws+"/evil", "\tfsmonitor = ./x\n")
		state := Look([]string{ws})
		replace(ws)
		if got := paths(t, ws, state.SetAside(noon, true)); !slices.Equal(got, []string{".git"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestMoreThanCanBeLookedAtCountsAsOneFinding(t *testing.T) {
	ws := workspace(t)
	state := Look([]string{ws})
	for i := range maxEntries + 1 {
		plant(t, filepath.Join(ws, ".git/worktrees", "w"+strings.Repeat("0", i%7)+string(rune('a'+i%26))+strings.Repeat("x", i/182)[:i/182], "x")+"/", "")
	}
	list := state.SetAside(noon, true)
	for _, a := range list {
		if a.Path != ws+"/.git/worktrees" || a.Err != nil {
			t.Errorf("%+v", a)
		}
	}
	if len(list) != 1 {
		t.Errorf("%d were set aside", len(list))
	}
}

func TestWhatCannotBeMovedIsToldOnce(t *testing.T) {
	ws := workspace(t)
	state := Look([]string{ws})
	plant(t, ws+"/.git/commondir", "../evil\n")
	p := place{base: ws + "/gone", rel: "x"}
	if _, err := p.move(noon); err == nil {
		t.Error("a folder that is not there was opened")
	}
	if list := state.SetAside(noon, true); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

// TestConfigurationsAreReadAsGitReadsThem compares with git config --list: what is read
// is the same, or is refused.
func TestConfigurationsAreReadAsGitReadsThem(t *testing.T) {
	dir := folder(t)
	read := 0
	for _, text := range []string{
		"", "[core]\nbare = false\n", "[core] bare=false\n", "[Core]\n\tFSMonitor\n", "[a \"B.c\"]\nx=1", "[a.B]\nx=1\n", "[a \"q\\\"w\\\\\"]\nx = 1\n",
		"[a]\nx = one \\\n  two\n", "[a]\nx = \"q # r\" ; c\n", "[a]\nx = 1 # c\ny = 2\n", "[a]\nx = t\\tn\\n\n", "# c\n; d\n[a]x=1\n", "[a]\r\nx = 1\r\n",
		"[a]\nx = 'q'\n", "[a]\nx =\n", "[a]\nx = \"\"\n", "[a]\nx = trailing   \n", "[a]\nx = \"keep  \"  \n", "\uFEFF[a]\nx=1\n", "[core]\n\tworktree = ../../x\n\tfsmonitor = \"sh ./x.sh; false\"\n",
		"[a]\nx = 1\\\n", "[a]\n1x = 1\n", "x = 1\n", "[a\nx=1\n", "[a]\nx = \"open\n", "[a]\nx = \\q\n", "[a]\nx y\n", "[a \"b\n\"]\nx=1\n", "[]\nx=1\n", "[a]\nx\x00=1\n",
	} {
		plant(t, dir+"/config", text)
		out, gitErr := tryGit(dir, nil, "config", "--file", "config", "--list", "-z")
		got, err := parseConfig(text)
		if err != nil {
			continue
		}
		read++
		var list strings.Builder
		for _, s := range got {
			list.WriteString(s.key + "\n" + s.value + "\x00")
		}
		want := strings.ReplaceAll(out, "fsmonitor\x00", "fsmonitor\ntrue\x00")
		if gitErr != nil || list.String() != want {
			t.Errorf("%q: read as %q, Git: %q %v", text, list.String(), want, gitErr)
		}
	}
	if read < 18 {
		t.Errorf("only %d were read", read)
	}
}

func FuzzConfigurations(f *testing.F) {
	f.Add("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := parseConfig(text)
		for _, s := range settings {
			_ = s.harmless()
			if !strings.Contains(s.key, ".") {
				t.Errorf("%q: %+v, %v", text, s, err)
			}
		}
	})
}

func TestARepositoryInTheWorkingTreeThatGitWouldLookIntoIsSetAside(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		ws, outside := workspace(t), workspace(t)
		plant(t, ws+"/a/file", "x")
		plant(t, ws+"/a/other", "x")
		git(t, ws, "add", ".")
		git(t, ws, "update-index", "--index-version", version)
		id := git(t, ws, "rev-parse", "HEAD")
		nested := func(name string) {
			git(t, ws, "init", "-q", name)
			git(t, filepath.Join(ws, name), "commit", "-q", "--allow-empty", "-m", "x")
			git(t, ws, "update-index", "--add", "--cacheinfo", "160000,"+id+","+name)
		}
		nested("mine")
		git(t, ws+"/mine", "config", "core.fsmonitor", "./x")
		git(t, ws, "init", "-q", "earlier") // a person's, which the command only adds
		git(t, ws+"/earlier", "config", "core.fsmonitor", "./x")
		git(t, ws, "init", "-q", "alone") // of which the index does not tell
		state := Look([]string{ws})
		state.taken = state.taken.Add(clockStep) // so that what is there is older
		nested("a/fine")
		nested("a/deep/evil")
		git(t, ws+"/a/deep/evil", "config", "core.fsmonitor", "touch "+ws+"/RAN; false")
		git(t, ws+"/alone", "config", "core.fsmonitor", "./x")
		git(t, ws, "update-index", "--add", "--cacheinfo", "160000,"+id+",earlier")
		git(t, ws, "update-index", "--add", "--cacheinfo", "160000,"+id+",led")
		git(t, outside, "config", "core.sshCommand", "x")
		plant(t, ws+"/led/.git", "gitdir: "+outside+"/.git\n")
		list := state.SetAside(noon, true)
		var earlier []string
		list = slices.DeleteFunc(list, func(a Aside) bool {
			if a.Err == errEarlier {
				earlier = append(earlier, strings.TrimPrefix(a.Path, ws+"/"))
			}
			return a.Err == errEarlier
		})
		if got := paths(t, ws, list); !slices.Equal(got, []string{"a/deep/evil/.git", "led/.git"}) {
			t.Errorf("version %s: %q", version, got)
		}
		if !slices.Equal(earlier, []string{"earlier/.git"}) {
			t.Errorf("version %s: told of %q", version, earlier)
		}
		git(t, ws, "-c", "core.fsmonitor=false", "status", "--short", "--ignore-submodules=dirty")
		if list := state.SetAside(noon, true); len(list) != 0 {
			t.Errorf("told twice: %+v", list)
		}
		if _, _ = tryGit(ws, nil, "status", "--short"); exists(ws + "/RAN") {
			t.Error("a status at the root ran the program")
		}
	}
}

func TestARepositoryInANestedOneAndAnIndexThatIsALinkAreLookedAtToo(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(ws string)
		want  string
	}{
		"in a nested one": {func(ws string) {
			for _, in := range []string{"n", "n/m", "n/m/k"} {
				git(t, ws, "init", "-q", in)
			}
			for _, in := range []string{"n/m/k", "n/m", "n"} {
				git(t, filepath.Join(ws, in), "commit", "-q", "--allow-empty", "-m", "x")
				git(t, filepath.Dir(filepath.Join(ws, in)), "add", filepath.Base(in))
			}
			git(t, ws+"/n/m/k", "config", "core.fsmonitor", "touch "+ws+"/RAN; false")
		}, "n/m/k/.git"},
		"behind an index that is a link": {func(ws string) {
			git(t, ws, "init", "-q", "n")
			git(t, ws+"/n", "commit", "-q", "--allow-empty", "-m", "x")
			git(t, ws+"/n", "config", "core.fsmonitor", "touch "+ws+"/RAN; false")
			git(t, ws, "-c", "core.fsmonitor=false", "add", "n")
			if err := errors.Join(os.Rename(ws+"/.git/index", ws+"/index"), os.Symlink("../index", ws+"/.git/index")); err != nil {
				t.Fatal(err)
			}
		}, "n/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			ws := workspace(t)
			state := Look([]string{ws})
			c.plant(ws)
			if got := paths(t, ws, state.SetAside(noon, true)); !slices.Equal(got, []string{c.want}) {
				t.Errorf("set aside: %q", got)
			}
			if _, _ = tryGit(ws, nil, "status", "--short"); exists(ws + "/RAN") {
				t.Error("a status at the root ran the program")
			}
		})
	}
}

func TestARepositoryToWhichManyLinksLeadIsLookedAtOnce(t *testing.T) {
	ws := workspace(t)
	id := git(t, ws, "rev-parse", "HEAD")
	for i := range 12 {
		name := fmt.Sprintf("l%02d", i)
		git(t, ws, "update-index", "--add", "--cacheinfo", "160000,"+id+","+name)
		if err := os.Symlink(".", filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, ws, "update-index", "--add", "--cacheinfo", "160000,"+id+",z") // the last of the index
	git(t, ws, "init", "-q", "z")
	state := Look([]string{ws})
	if n := len(state.found); n != 1 {
		t.Errorf("%d places were looked at", n)
	}
	git(t, ws+"/z", "config", "core.fsmonitor", "x")
	if got := paths(t, ws, state.SetAside(noon, true)); !slices.Equal(got, []string{"z/.git"}) {
		t.Errorf("set aside: %q", got)
	}
}

func FuzzIndexes(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 90)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, id := range []int{20, 32} {
			links, _ := parseIndex(data, id)
			if len(links) > len(data) {
				t.Errorf("%d links of %d bytes", len(links), len(data))
			}
		}
	})
}

func TestIndexThatIsTooLargeToBeLookedThroughIsToldAndStays(t *testing.T) {
	ws := workspace(t)
	state := Look([]string{ws})
	f, err := os.Create(ws + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(maxIndex+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	list := state.SetAside(noon, true)
	if len(list) != 1 || list[0].Path != ws+"/.git/index" || !errors.Is(list[0].Err, errStays) {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(ws + "/.git/index"); err != nil {
		t.Error("the index of a person was moved:", err)
	}
	if list := state.SetAside(noon, true); len(list) != 0 {
		t.Errorf("told again: %+v", list)
	}
}

func TestIndexOfManyNamesIsReadOnce(t *testing.T) {
	dir := folder(t)
	data := append([]byte("DIRC"), make([]byte, 1<<20)...)
	plant(t, dir+"/a/index", string(data))
	plant(t, dir+"/b/", "")
	if err := os.Link(dir+"/a/index", dir+"/b/index"); err != nil {
		t.Fatal(err)
	}
	x := indexes{left: int64(len(data))} // enough for one
	for _, name := range []string{"a", "b"} {
		if _, whole := x.gitlinks(dir + "/" + name); !whole {
			t.Errorf("the index of %s was read again", name)
		}
	}
	plant(t, dir+"/c/index", string(data)+"x")
	if _, whole := x.gitlinks(dir + "/c"); whole {
		t.Error("more was read than a look may")
	}
}
