package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/platform/sandbox/sandboxtest"
)

// world is a home and a project.
type world struct {
	t    *testing.T
	dir  string // ~/.scorel
	root string
	s    *Store
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(base, "home", ".scorel"), root: filepath.Join(base, "project")}
	w.s = New(Config{Dir: w.dir})
	for _, d := range []string{w.dir, w.root} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(to, name string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(to, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) look() *Report {
	w.t.Helper()
	r, err := w.s.Look(w.t.Context(), w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) trust() *Report {
	w.t.Helper()
	r, _, err := w.s.Trust(w.t.Context(), w.root, w.look().Hash)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// states returns one word an item: "config .scorel/config.toml trusted".
func states(r *Report) string {
	var out []string
	for _, it := range r.Items {
		out = append(out, fmt.Sprintf("%s %s %s", it.Kind, it.Name, it.Status))
	}
	return strings.Join(out, "\n")
}

func same(t *testing.T, what, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, w)
	}
}

// full has an item of every kind, and much that is none.
func full() map[string]string {
	return map[string]string{
		".scorel/config.toml":                      "[[hooks]]\nevent='Stop'\ncommand='bash \"$PROJECT/tools/check.sh\" x; other/run && make'\n",
		"tools/check.sh":                           "echo check",
		"other/run":                                "echo run",
		"Makefile":                                 "all:",
		".mcp.json":                                `{"mcpServers":{"a":{"command":"npx","args":["-y","thing"],"env":{"NODE_OPTIONS":"--require ./x.js","A":"1"}},"b":{"url":"https://x.example"}}}`,
		".scorel/mcp.json":                         "{}",
		".scorel/agents/reviewer.md":               "You review.",
		".scorel/agents/notes.txt":                 "none",
		".scorel/commands/deploy.md":               "Look:\n!`git log`\n",
		".scorel/commands/test.md":                 "![[ -f x ]] && ls\n",
		".scorel/commands/plain.md":                "Only text ![image](x)\n![also](y)",
		".scorel/skills/run/SKILL.md":              "---\nname: x\nentry: run.sh\n---\nbody",
		".scorel/skills/run/run.sh":                "echo run",
		".scorel/skills/run/lib/data.json":         "{}",
		".scorel/skills/text/SKILL.md":             "---\nname: x\n---\nentry: not here",
		".claude/skills/c/SKILL.md":                "---\n\"entry\" : go.py\n---",
		".agents/skills/d/SKILL.md":                "---\r\nentry: a\r\n---\r\n",
		".scorel/extensions/a.ts":                  "export default {}",
		".scorel/extensions/b/index.ts":            "export default {}",
		".scorel/extensions/b/node_modules/x/i.js": "1",
		".scorel/autonomy/HEARTBEAT.md":            "tasks:\n- name: a\n  interval: 30s\n  prompt: look\n",
		".scorel/autonomy/AGENTS.md":               "Be brief.",
		".scorel/autonomy/notes.md":                "none",
		".scorel/templates/fix.md":                 "Repair $1",
		".scorel/templates/notes.txt":              "none",
		".scorel/instructions.md":                  "text",
		"AGENTS.md":                                "text",
	}
}

func TestWhatCouldActIsListedAndNothingElse(t *testing.T) {
	w := newWorld(t, full())
	r := w.look()
	same(t, "items", states(r),
		"config .scorel/config.toml untrusted",
		"hook other/run untrusted",
		"hook tools/check.sh untrusted",
		"mcp .mcp.json untrusted",
		"mcp .scorel/mcp.json untrusted",
		"agent .scorel/agents/reviewer.md untrusted",
		"command .scorel/commands/deploy.md untrusted",
		"command .scorel/commands/test.md untrusted",
		"skill .agents/skills/d untrusted",
		"skill .claude/skills/c untrusted",
		"skill .scorel/skills/run untrusted",
		"extension .scorel/extensions untrusted",
		"heartbeat .scorel/autonomy/HEARTBEAT.md untrusted",
		"template .scorel/templates/fix.md untrusted")
	var names []string
	for _, f := range r.Find(KindSkill, ".scorel/skills/run").Files {
		names = append(names, f.Name)
	}
	same(t, "files of a skill", strings.Join(names, "\n"), ".scorel/skills/run/SKILL.md", ".scorel/skills/run/lib/data.json", ".scorel/skills/run/run.sh")
	if n := len(r.Find(KindExtension, ".scorel/extensions").Files); n != 2 {
		t.Errorf("the extensions have %d files", n)
	}
	for kind, want := range map[Kind]string{KindMCP: "a starts (sets A, NODE_OPTIONS): npx -y thing|b connects to x.example: https://x.example", KindCommand: "!`git log`",
		KindSkill: "entry: a", KindHook: `bash "$PROJECT/tools/check.sh" x; other/run && make`} {
		i := slices.IndexFunc(r.Items, func(it Item) bool { return it.Kind == kind })
		if got := strings.Join(r.Items[i].Does, "|"); got != want {
			t.Errorf("%s does %q, want %q", kind, got, want)
		}
	}
	if !r.TrustedAt.IsZero() || r.Warning != "" || r.Problem != "" {
		t.Errorf("%+v", r)
	}
}

func TestAChangeTakesTrustFromItsItemAlone(t *testing.T) {
	w := newWorld(t, full())
	if r := w.trust(); strings.Count(states(r), " trusted") != len(r.Items) || r.TrustedAt.IsZero() {
		t.Fatalf("after trusting:\n%s", states(r))
	}
	all := len(w.look().Items)
	check := func(what string, kind Kind, name string, want Status) *Item {
		t.Helper()
		r := w.look()
		it := r.Find(kind, name)
		if it == nil || it.Status != want {
			t.Fatalf("%s: %+v", what, it)
		}
		if n := strings.Count(states(r), " trusted"); want != StatusNew && n != all-1 {
			t.Errorf("%s: %d of %d items are trusted\n%s", what, n, all, states(r))
		}
		return it
	}
	w.write(".scorel/skills/run/run.sh", "echo evil")
	it := check("changed file", KindSkill, ".scorel/skills/run", StatusChanged)
	if it.Files[2].Change != "changed" || it.Files[0].Change != "" {
		t.Errorf("changes: %+v", it.Files)
	}
	w.write(".scorel/skills/run/run.sh", "echo run")
	w.write(".scorel/skills/run/more.sh", "x")
	if it := check("added file", KindSkill, ".scorel/skills/run", StatusChanged); it.Files[2].Change != "new" {
		t.Errorf("changes: %+v", it.Files)
	}
	_ = os.Remove(w.path(".scorel/skills/run/more.sh"))
	_ = os.Remove(w.path(".scorel/skills/run/lib/data.json"))
	if it := check("removed file", KindSkill, ".scorel/skills/run", StatusChanged); !slices.Equal(it.Gone, []string{".scorel/skills/run/lib/data.json"}) {
		t.Errorf("gone: %v", it.Gone)
	}
	w.write(".scorel/skills/run/lib/data.json", "{}")
	w.write("tools/check.sh", "echo other")
	check("hook file", KindHook, "tools/check.sh", StatusChanged)
	w.write("tools/check.sh", "echo check")
	w.write(".scorel/commands/plain.md", "!`now it runs`")
	check("a text that became a program", KindCommand, ".scorel/commands/plain.md", StatusNew)
	// The same content by another way is another thing.
	w.write(".scorel/commands/plain.md", "text")
	_ = os.Rename(w.path(".mcp.json"), w.path("elsewhere.json"))
	w.link("elsewhere.json", ".mcp.json")
	check("a file that became a symlink", KindMCP, ".mcp.json", StatusChanged)
}

func TestOnlyTheListThatWasShownIsTrusted(t *testing.T) {
	w := newWorld(t, full())
	shown := w.look().Hash
	w.write(".mcp.json", `{"mcpServers":{"evil":{"command":"sh"}}}`)
	_, _, err := w.s.Trust(t.Context(), w.root, shown)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Report.Hash == shown || len(conflict.Report.Items) == 0 {
		t.Fatalf("trusting another list: %v", err)
	}
	if r := w.look(); strings.Contains(states(r), " trusted") {
		t.Errorf("something is trusted:\n%s", states(r))
	}
	if _, err := os.Stat(filepath.Join(w.dir, "trust.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("trust.json was written: %v", err)
	}
	if _, _, err := w.s.Trust(t.Context(), w.root, conflict.Report.Hash); err != nil {
		t.Error(err)
	}
}

func TestTheHashDoesNotDependOnTheOrderOfFiles(t *testing.T) {
	files := full()
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	w := newWorld(t, nil)
	seen := ""
	for round := range 3 {
		if err := os.RemoveAll(w.root); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(names)
		names = append(names[round:], names[:round]...)
		for _, n := range names {
			w.write(n, files[n])
		}
		h := w.look().Hash
		if seen != "" && h != seen {
			t.Errorf("round %d has another hash", round)
		}
		seen = h
	}
	// Names and contents cannot be moved against each other.
	a := Report{Root: "/r", Items: []Item{{Kind: KindMCP, Name: "ab", Files: []File{{Name: "c", SHA256: "d"}}}}}
	b := Report{Root: "/r", Items: []Item{{Kind: KindMCP, Name: "a", Files: []File{{Name: "bc", SHA256: "d"}}}}}
	a.finish()
	b.finish()
	if a.Hash == b.Hash {
		t.Error("two lists have one hash")
	}
}

func TestWhatIsReplacedBetweenCheckAndUseIsNotUsed(t *testing.T) {
	w := newWorld(t, full())
	const name = ".scorel/skills/run/run.sh"
	if data, err := w.look().Find(KindSkill, ".scorel/skills/run").Read(name); !errors.Is(err, ErrChanged) || data != nil {
		t.Errorf("untrusted: %q, %v", data, err)
	}
	w.trust()
	skill := w.look().Find(KindSkill, ".scorel/skills/run")
	if data, err := skill.Read(name); err != nil || string(data) != "echo run" {
		t.Fatalf("%q, %v", data, err)
	}
	for what, swap := range map[string]func(){
		"the same length": func() { w.write(name, "echo bad") },
		"longer":          func() { w.write(name, strings.Repeat("x", 1<<20)) },
		"gone":            func() { _ = os.Remove(w.path(name)) },
		"a symlink":       func() { _ = os.Remove(w.path(name)); w.link("SKILL.md", name) },
		"a pipe":          func() { _ = os.Remove(w.path(name)); _ = syscall.Mkfifo(w.path(name), 0o600) },
		"a way out":       func() { _ = os.Remove(w.path(name)); w.link("/etc/passwd", name) },
	} {
		swap()
		if data, err := skill.Read(name); !errors.Is(err, ErrChanged) || data != nil {
			t.Errorf("%s: %q, %v", what, data, err)
		}
		_ = os.Remove(w.path(name))
		w.write(name, "echo run")
	}
	if data, err := skill.Read(".scorel/config.toml"); !errors.Is(err, ErrChanged) || data != nil {
		t.Errorf("a file of another item: %q, %v", data, err)
	}

	const config = ".scorel/config.toml"
	if data, trusted, _, err := w.s.Read(w.root, KindConfig, config, 1<<20); err != nil || !trusted || len(data) == 0 {
		t.Fatalf("%q %v %v", data, trusted, err)
	}
	w.write(config, "prompt = 'evil'")
	if data, trusted, _, err := w.s.Read(w.root, KindConfig, config, 1<<20); err != nil || trusted || string(data) != "prompt = 'evil'" {
		t.Errorf("%q %v %v", data, trusted, err)
	}
	// The bytes are trusted only as what they were trusted as.
	w.write(".mcp.json", "{}")
	if _, trusted, _, err := w.s.Read(w.root, KindConfig, ".scorel/mcp.json", 1<<20); err != nil || trusted {
		t.Errorf("as another kind: %v %v", trusted, err)
	}
}

func TestFilesAreReadAgainOnlyWhenTheirStatDiffers(t *testing.T) {
	w := newWorld(t, map[string]string{".mcp.json": "{}"})
	w.s.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) } // the file is old enough to be named by its times
	w.trust()
	c, err := w.s.load()
	if err != nil {
		t.Fatal(err)
	}
	rec := c.Folders[w.root].Items[0].Files[0]
	if rec.Stat == (stat{}) {
		t.Fatal("the stat is not kept")
	}
	// Where the stat says that the file is as it was, its recorded hash is taken.
	c.Folders[w.root].Items[0].Files[0].SHA256 = "recorded"
	r, err := w.s.look(t.Context(), w.root, c.Folders[w.root], byStat)
	if err != nil || r.Items[0].Files[0].SHA256 != "recorded" {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = w.s.look(t.Context(), w.root, c.Folders[w.root], all)
	if err != nil || r.Items[0].Files[0].SHA256 != rec.SHA256 {
		t.Fatalf("reading all: %+v, %v", r, err)
	}
	// A change that keeps size and time of change shows in ctime.
	info, err := os.Stat(w.path(".mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	for done := false; !done; { // until the clock of the file system has ticked
		w.write(".mcp.json", "[]")
		if err := os.Chtimes(w.path(".mcp.json"), info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		now, err := os.Stat(w.path(".mcp.json"))
		if err != nil {
			t.Fatal(err)
		}
		done = statOf(now).Changed != rec.Stat.Changed
	}
	if it := w.look().Items[0]; it.Status != StatusChanged {
		t.Errorf("a change with the old time and size: %s", it.Status)
	}
	// A young file is not named by its times.
	w.s.cfg.Now = time.Now
	w.write(".mcp.json", "{ }")
	w.trust()
	if c, err := w.s.load(); err != nil || c.Folders[w.root].Items[0].Files[0].Stat != (stat{}) {
		t.Errorf("a young file's stat is kept: %v", err)
	}
}

func TestTheStatusIsKnownWithoutReadingWhatWasNeverTrusted(t *testing.T) {
	w := newWorld(t, full())
	status := func() *Report {
		t.Helper()
		r, err := w.s.Status(t.Context(), w.root)
		if err != nil {
			t.Fatal(err)
		}
		if r.Hash != "" {
			t.Error("a list that was not read has a hash")
		}
		return r
	}
	r := status()
	same(t, "status", states(r), states(w.look()))
	for _, it := range r.Items {
		for _, f := range it.Files {
			if f.SHA256 != "" {
				t.Errorf("%s was read", f.Name)
			}
		}
	}
	w.trust()
	w.write(".scorel/skills/run/run.sh", "echo bad")
	w.write(".scorel/agents/new.md", "x")
	same(t, "after a change", states(status()), states(w.look()))
	if it := status().Find(KindAgent, ".scorel/agents/new.md"); it.Status != StatusNew || it.Files[0].SHA256 != "" {
		t.Errorf("%+v", it)
	}
}

func TestEveryFileThatAHookCommandNamesIsFound(t *testing.T) {
	w := newWorld(t, map[string]string{"tools/check.sh": "", "a b.sh": "", "run": "", "deep/er/x.py": "",
		"server/index.js": "", "server/package.json": "{}", "server/lib.js": "", "pkg/__main__.py": ""})
	w.link("nothing", "later.sh")
	for command, want := range map[string]string{
		"./tools/check.sh":                             "tools/check.sh",
		"bash tools/check.sh --fast":                   "tools/check.sh",
		"cd tools && ./check.sh":                       "tools/check.sh",
		"cd deep; python er/x.py":                      "deep/er/x.py",
		`"a b.sh"`:                                     "a b.sh",
		`./a\ b.sh`:                                    "a b.sh",
		`bash -c './run; tools/check.sh'`:              "run|tools/check.sh",
		`"$PROJECT/run" ${ROOT}/tools/check.sh`:        "run|tools/check.sh",
		"X=run;$X":                                     "run",
		w.path("run") + " | tee out":                   "run",
		"later.sh":                                     "later.sh",
		"make test ../outside /etc/passwd tools deep/": "",
		"run>out 2>&1;(tools/check.sh)":                "run|tools/check.sh",
		"$(pwd)/tools/check.sh":                        "tools/check.sh",
		"`pwd`/run":                                    "run",
		`"$(git rev-parse --show-toplevel)"/run`:       "run",
		"$(git rev-parse --show-toplevel)/run":         "run",
		"d=$(pwd); $d/run":                             "run",
		"node ./server --x":                            "server/index.js|server/package.json",
		"python pkg":                                   "pkg/__main__.py",
	} {
		n := &namer{project: &project{dir: w.root}}
		files, ok := n.filesIn(command)
		if got := strings.Join(files, "|"); got != want || !ok {
			t.Errorf("%s: %q (%v), want %q", command, got, ok, want)
		}
	}
	// Words without end are not looked for.
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "%d ", i)
	}
	n := &namer{project: &project{dir: w.root}}
	for range 3 {
		if files, ok := n.filesIn(many.String()); !ok || len(files) > 0 {
			t.Errorf("after %d names: %q, %v", n.tries, files, ok)
		}
	}
	for range 2 {
		if _, ok := n.filesIn(many.String()); ok && n.tries > maxTries {
			t.Errorf("%d names were looked for", n.tries)
		}
	}
	if _, ok := n.filesIn("one more"); ok {
		t.Errorf("%d names were looked for", n.tries)
	}
}

func TestWhatLeadsOutOrIsNoFileCannotBeTrusted(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]string{
		".mcp.json": "{}", "inside/tool.sh": "x",
		".scorel/skills/ok/SKILL.md": "---\nentry: tool.sh\n---", ".scorel/skills/out/SKILL.md": "---\nentry: x\n---",
		".scorel/skills/pipe/SKILL.md": "---\nentry: x\n---", ".scorel/skills/circle/SKILL.md": "---\nentry: x\n---",
		".scorel/skills/dangling/SKILL.md": "---\nentry: x\n---", ".scorel/skills/bytes/SKILL.md": "---\nentry: x\n---",
		".scorel/skills/ours/SKILL.md": "---\nentry: x\n---",
	})
	w.link("../../../inside/tool.sh", ".scorel/skills/ok/tool.sh")
	w.link(w.path("inside"), ".scorel/skills/ok/folder") // absolute, and inside all the same
	w.link(secret, ".scorel/skills/out/tool.sh")
	w.link("..", ".scorel/skills/circle/up")
	w.link("nothing", ".scorel/skills/dangling/x")
	w.link(secret, ".scorel/config.toml")
	w.link(filepath.Dir(secret), ".scorel/agents")
	w.link(w.dir, ".scorel/skills/ours/scorel")
	if err := syscall.Mkfifo(w.path(".scorel/skills/pipe/p"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(".scorel/skills/bytes/\xff", "x")
	if err := os.Remove(w.path(".scorel/skills/circle/up")); err != nil {
		t.Fatal(err)
	}
	w.link(".", ".scorel/skills/circle/again")

	r := w.look()
	problems := map[string]string{}
	for _, it := range r.Items {
		problems[it.Name] = it.Problem
	}
	for name, want := range map[string]string{
		".mcp.json": "", ".scorel/skills/ok": "", ".scorel/skills/circle": "",
		".scorel/skills/out":      "holds tool.sh, which leads out of the project",
		".scorel/skills/pipe":     "holds p, which is not a regular file",
		".scorel/skills/dangling": "holds x, which is a symlink that leads nowhere",
		".scorel/skills/bytes":    "holds \xff, which has a name that is not valid UTF-8",
		".scorel/skills/ours":     "holds scorel, which leads into Scorel's own folder",
		".scorel/config.toml":     "leads out of the project",
		".scorel/agents":          "leads out of the project",
	} {
		if got, there := problems[name]; !there || got != want {
			t.Errorf("%s: %q (%v), want %q", name, got, there, want)
		}
	}
	ok := r.Find(KindSkill, ".scorel/skills/ok")
	if len(ok.Files) != 3 || ok.Files[2].Target != "inside/tool.sh" {
		t.Errorf("files behind symlinks: %+v", ok.Files)
	}
	w.trust()
	if got := strings.Count(states(w.look()), " trusted"); got != 3 {
		t.Errorf("%d items are trusted", got)
	}
	// What a symlink leads to is what is trusted.
	w.write("inside/tool.sh", "evil")
	if it := w.look().Find(KindSkill, ".scorel/skills/ok"); it.Status != StatusChanged {
		t.Errorf("a changed target: %s", it.Status)
	}
	if _, _, _, err := w.s.Read(w.root, KindConfig, ".scorel/config.toml", 100); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Errorf("a configuration from outside: %v", err)
	}
}

func TestUnreadableFilesAreSaid(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, _ string) {
		w := newWorld(t, map[string]string{".mcp.json": "{}", ".scorel/agents/a.md": "x"})
		for _, name := range []string{".mcp.json", ".scorel/agents"} {
			if err := os.Chmod(w.path(name), 0); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(w.path(name), 0o700)
		}
		for _, it := range w.look().Items {
			if it.Problem != "cannot be read: permission denied" {
				t.Errorf("%s: %q", it.Name, it.Problem)
			}
		}
		// A trust.json that cannot be read trusts nothing and is left alone.
		name := filepath.Join(w.dir, "trust.json")
		if err := os.WriteFile(name, []byte("{}"), 0); err != nil {
			t.Fatal(err)
		}
		if r := w.look(); !strings.Contains(r.Warning, "cannot be used: permission denied") {
			t.Errorf("warning %q", r.Warning)
		}
		w.write(".scorel/mcp.json", "{}")
		if _, _, err := w.s.Trust(t.Context(), w.root, w.look().Hash); err == nil {
			t.Error("it was written over")
		}
	})
}

func TestTooMuchCannotBeTrusted(t *testing.T) {
	limits := map[string]func(w *world){
		"more than 50 of its files": func(w *world) {
			for i := range 50 {
				w.write(fmt.Sprintf(".scorel/extensions/%d.ts", i), "")
			}
		},
		"more than 64 MiB": func(w *world) {
			w.write(".scorel/extensions/big", "")
			if err := os.Truncate(w.path(".scorel/extensions/big"), 1<<40); err != nil { // a hole: it takes no room
				t.Fatal(err)
			}
		},
		"more than 200 names": func(w *world) {
			for i := range 200 {
				if err := os.MkdirAll(w.path(fmt.Sprintf(".scorel/agents/%d", i)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			w.write(".scorel/agents/x.md", "")
		},
		"more than 64 folders in each other": func(w *world) { w.write(".scorel/extensions/"+strings.Repeat("d/", 70)+"x", "") },
	}
	for want, make := range limits {
		w := newWorld(t, map[string]string{".mcp.json": "{}"})
		if w.s.bounds != (bounds{5000, 64 << 20, 20_000}) {
			t.Fatalf("bounds %+v", w.s.bounds)
		}
		w.s.bounds.files, w.s.bounds.entries = 50, 200
		w.trust()
		make(w)
		r := w.look()
		if !strings.HasPrefix(r.Problem, "The project cannot be trusted: ") || !strings.Contains(r.Problem, want) || len(r.Items) > 0 {
			t.Errorf("%s: %q, %d items", want, r.Problem, len(r.Items))
		}
		if _, _, err := w.s.Trust(t.Context(), w.root, r.Hash); err == nil || err.Error() != r.Problem {
			t.Errorf("%s: trusting gives %v", want, err)
		}
	}
	w := newWorld(t, map[string]string{".scorel/config.toml": "[[hooks]]\ncommand = '" + strings.Repeat("x ", maxHooked) + "'"})
	if it := w.look().Items[0]; it.Problem != tooMuch {
		t.Errorf("a long hook command: %q", it.Problem)
	}
	w = newWorld(t, map[string]string{".scorel/config.toml": "[[hooks]]\ncommand = 'echo a # " + strings.Repeat("-", 290) + "'\n[[hooks]]\ncommand = \"true # is it\\ntouch x\""})
	if does := w.look().Items[0].Does; len(does) != 2 || does[1] != "a hook runs true # is it ↵ touch x" {
		t.Errorf("what hooks run is shown as %q", does)
	}
}

func TestADamagedListTrustsNothingAndIsSetAside(t *testing.T) {
	for what, text := range map[string]string{"cut": `{"version":1,"fold`, "empty": "", "no version": "{}", "too large": strings.Repeat(" ", MaxStore+1)} {
		w := newWorld(t, map[string]string{".mcp.json": "{}"})
		w.trust()
		name := filepath.Join(w.dir, "trust.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := w.look()
		if r.Items[0].Status != StatusUntrusted || !strings.Contains(r.Warning, "is damaged") {
			t.Errorf("%s: %s, %q", what, r.Items[0].Status, r.Warning)
		}
		if _, trusted, warning, err := w.s.Read(w.root, KindMCP, ".mcp.json", 100); trusted || warning == "" || err != nil {
			t.Errorf("%s: read: %v %q %v", what, trusted, warning, err)
		}
		if list, warning := w.s.List(); len(list) > 0 || warning == "" {
			t.Errorf("%s: list: %v %q", what, list, warning)
		}
		if data, _ := os.ReadFile(name); string(data) != text {
			t.Fatalf("%s: looking changed the file", what)
		}
		if was, aside, err := w.s.Revoke(w.root); was || aside != "" || err != nil {
			t.Errorf("%s: revoke: %v %q %v", what, was, aside, err)
		}
		_, aside, err := w.s.Trust(t.Context(), w.root, r.Hash)
		if err != nil || aside == "" {
			t.Fatalf("%s: trusting gives %q, %v", what, aside, err)
		}
		if data, _ := os.ReadFile(aside); string(data) != text {
			t.Errorf("%s: what was set aside is another", what)
		}
		if r := w.look(); r.Items[0].Status != StatusTrusted || r.Warning != "" {
			t.Errorf("%s: afterwards: %+v", what, r)
		}
	}
	w := newWorld(t, map[string]string{".mcp.json": "{}"})
	name := filepath.Join(w.dir, "trust.json")
	if err := os.WriteFile(name, []byte(`{"version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.s.Trust(t.Context(), w.root, w.look().Hash); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a newer file: %v", err)
	}
	if data, _ := os.ReadFile(name); string(data) != `{"version":2}` {
		t.Error("a newer file was written over")
	}
}

func TestTheListIsPrivateAndBounded(t *testing.T) {
	w := newWorld(t, map[string]string{".mcp.json": "{}"})
	w.trust()
	name := filepath.Join(w.dir, "trust.json")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	_, err := w.s.update(func(c *content) (bool, error) {
		for i := range MaxFolders {
			c.Folders[fmt.Sprintf("/old/%04d", i)] = &folderRecord{TrustedAt: int64(i)}
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := w.s.List()
	if len(list) != MaxFolders || list[0].Root != "/old/0001" || !slices.ContainsFunc(list, func(f Folder) bool { return f.Root == w.root }) {
		t.Errorf("%d folders, the first %s", len(list), list[0].Root)
	}
	was, _, err := w.s.Revoke(w.root)
	if err != nil || !was {
		t.Fatal(was, err)
	}
	if it := w.look().Items[0]; it.Status != StatusUntrusted {
		t.Errorf("after revoking: %s", it.Status)
	}
	if was, _, err := w.s.Revoke("/nowhere"); was || err != nil {
		t.Errorf("revoking what is not trusted: %v, %v", was, err)
	}
}

func TestTwoProcessesThatTrustAtOnceBothCount(t *testing.T) {
	if root := os.Getenv("TRUST_ROOT"); root != "" {
		s := New(Config{Dir: os.Getenv("TRUST_DIR")})
		for i := range 20 {
			own := filepath.Join(root, fmt.Sprint(i))
			r, err := s.Look(context.Background(), own)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Trust(context.Background(), own, r.Hash); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	w := newWorld(t, nil)
	var running []*exec.Cmd
	for p := range 3 {
		for i := range 20 {
			w.write(fmt.Sprintf("%d/%d/.mcp.json", p, i), "{}")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcessesThatTrustAtOnceBothCount$")
		cmd.Env = append(os.Environ(), "TRUST_DIR="+w.dir, "TRUST_ROOT="+w.path(fmt.Sprint(p)))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if list, warning := w.s.List(); len(list) != 60 || warning != "" {
		t.Errorf("%d folders are trusted; %s", len(list), warning)
	}
}

func TestTheHomeAsProjectDoesNotTakeTheUsersOwnFiles(t *testing.T) {
	w := newWorld(t, nil)
	home := filepath.Dir(w.dir)
	for name, text := range map[string]string{".scorel/config.toml": "prompt = 'mine'", ".scorel/skills/a/SKILL.md": "---\nentry: x\n---", ".mcp.json": "{}"} {
		full := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.s.Look(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "items", states(r), "mcp .mcp.json untrusted")
	if data, trusted, _, err := w.s.Read(home, KindConfig, ".scorel/config.toml", 1000); data != nil || trusted || err != nil {
		t.Errorf("%q %v %v", data, trusted, err)
	}
}

func TestAMissingProjectIsAnError(t *testing.T) {
	w := newWorld(t, nil)
	if _, err := w.s.Look(t.Context(), w.path("none")); err == nil {
		t.Error("it was looked at")
	}
	if data, trusted, _, err := w.s.Read(w.root, KindConfig, ".scorel/config.toml", 10); data != nil || trusted || err != nil {
		t.Errorf("a missing file: %q %v %v", data, trusted, err)
	}
}

func FuzzWhatIsLookedInto(f *testing.F) {
	f.Add("---\nentry: a\n---", "bash 'a b' \"$X/c\"")
	f.Add("---\n? entry\n: x", "\\\\'\"")
	f.Add("!`x`", "${a}/b;c")
	p := &namer{project: &project{dir: f.TempDir()}}
	f.Fuzz(func(t *testing.T, text, command string) {
		skillEntry([]byte(text))
		shellLines([]byte(text))
		(&scan{project: p.project}).describe(&Item{Name: ".mcp.json"}, p, map[string][]string{}, mcp.Sources{Project: []mcp.File{{Name: "x", Data: []byte(text)}}})
		hookCommands([]byte(text))
		for _, l := range clip([]string{text, command}) {
			if len(l) > maxLine+len("…") {
				t.Errorf("a line of %d bytes", len(l))
			}
		}
		p.tries = 0
		if files, _ := p.filesIn(command); len(files) > 0 {
			t.Errorf("%q names %q in an empty folder", command, files)
		}
	})
}

func TestAnEntryIsFoundHoweverYAMLWritesIt(t *testing.T) {
	for text, want := range map[string]string{
		"entry: run":                       "entry: run",
		"'entry' : run":                    "'entry' : run",
		"{name: x, \"entry\": run}":        "{name: x, \"entry\": run}",
		`"\x65ntry": run`:                  `"\x65ntry": run`,
		`{a: b, "ent\u0072y": run}`:        `{a: b, "ent\u0072y": run}`,
		"? entry\n: run":                   "? entry",
		"? \"en\\\n  try\"\n: run":         "? \"en\\",
		"{entry\n: run}":                   "{entry",
		"{entry\n# a comment\n\n  : run}":  "{entry",
		"description: how to add an entry": "",
		"description: an entry\nname: x":   "",
		"name: x":                          "",
	} {
		if got := skillEntry([]byte("---\n" + text + "\n---\nentry: not here\n")); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
