package internal

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/platform/sandbox/stage"
)

// pkg is a package of the module as go list shows it.
type pkg struct {
	ImportPath   string
	Dir          string
	Doc          string
	Imports      []string
	TestImports  []string
	XTestImports []string
	GoFiles      []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles", "scorel/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// layer returns the layer of a package, which is its folder, lowest first: a package
// imports only from layers below its own, or from its own. Programs for developers are
// outside.
func layer(path string) (name string, rank int) {
	switch {
	case under(path, "scorel/protocol"):
		return "contract", 0
	case under(path, "scorel/internal/platform"):
		return "platform", 1
	case under(path, "scorel/internal/text"):
		return "text", 2
	case under(path, "scorel/internal/dev", "scorel/internal/host/hosttest", "scorel/internal/ui/tui/tuitest", "scorel/internal/extension/js/jstest"):
		return "developer", 8
	case under(path, "scorel/internal/engine"):
		return "engine", 3
	case under(path, "scorel/internal/extension"):
		return "extension", 4
	case under(path, "scorel/web"):
		return "page", 0
	case under(path, "scorel/client"):
		return "client", 5
	case under(path, "scorel/internal/host"):
		return "host", 6
	case under(path, "scorel/internal/ui", "scorel/cmd"):
		return "entry", 7
	}
	return "", -1
}

func under(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

// engine is the order of the folders of the engine, lowest first: one imports only from
// floors below its own, or from its own folder.
var engine = [][]string{
	{"archive", "discovery", "export", "fetch", "heartbeat", "model", "permission", "progress", "prompt", "schedule"},
	{"mcp"},
	{"background", "claude", "command", "config", "memory", "session"},
	{"skill", "trust"},
	{"tool"},
	{"agent", "hook", "mcptool", "runtime"},
}

// floor returns the folder of a package of the engine, and its floor.
func floor(path string) (folder string, n int) {
	folder, _, _ = strings.Cut(strings.TrimPrefix(path, "scorel/internal/engine/"), "/")
	return folder, slices.IndexFunc(engine, func(floor []string) bool { return slices.Contains(floor, folder) })
}

func TestTheEngineKeepsItsOrder(t *testing.T) {
	for _, p := range packages(t) {
		if name, _ := layer(p.ImportPath); name != "engine" {
			continue
		}
		folder, n := floor(p.ImportPath)
		if n < 0 {
			t.Errorf("%s is on no floor of the engine", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if name, _ := layer(imp); name != "engine" {
				continue
			}
			if below, m := floor(imp); below != folder && m >= n {
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.ImportPath, n, imp, m)
			}
		}
	}
}

// host is the order of the rooms of the host, lowest first: one imports only from floors
// below its own. The host itself wires them all; "serve" and "daemon" know only the host.
var host = [][]string{
	{"asides", "clients", "diagnostics", "doctor", "failure", "partial", "publish"},
	{"guard", "lane"},
	{"dedup", "registry", "request", "settings"},
	{"audience", "completion", "confinement", "filelist", "pairing", "webpush"},
	{"extensions", "mcpservers"},
	{"channels"},
	{"turnconfig"},
	{"automation", "commands", "jobs", "library", "notes", "subagent", "title", "transfer"},
	{"admin"},
	{""},
	{"serve"},
	{"daemon"},
}

func TestTheHostKeepsItsOrder(t *testing.T) {
	room := func(path string) (folder string, n int) {
		folder, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "scorel/internal/host"), "/"), "/")
		return folder, slices.IndexFunc(host, func(floor []string) bool { return slices.Contains(floor, folder) })
	}
	for _, p := range packages(t) {
		if name, _ := layer(p.ImportPath); name != "host" {
			continue
		}
		folder, n := room(p.ImportPath)
		if n < 0 {
			t.Errorf("%s is on no floor of the host", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if name, _ := layer(imp); name != "host" {
				continue
			}
			if below, m := room(imp); below != folder && m >= n {
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.ImportPath, n, imp, m)
			}
		}
	}
}

func TestPackagesImportOnlyFromTheirLayerAndBelow(t *testing.T) {
	for _, p := range packages(t) {
		name, rank := layer(p.ImportPath)
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, "scorel/") {
				continue
			}
			below, other := layer(imp)
			if other < 0 || rank < 0 && p.ImportPath != "scorel/internal" {
				t.Errorf("%s or %s is in no layer", p.ImportPath, imp)
			}
			if other > rank {
				t.Errorf("%s (%s) imports %s (%s)", p.ImportPath, name, imp, below)
			}
			if name == "client" && other != 0 {
				t.Errorf("the client package %s imports %s; it may know only the protocol", p.ImportPath, imp)
			}
			if name == "host" && below == "client" {
				t.Errorf("%s imports %s; a host does not know its clients", p.ImportPath, imp)
			}
		}
	}
}

func TestEntriesTouchNeitherSessionsNorRuntimesNorTools(t *testing.T) {
	forbidden := []string{"scorel/internal/engine/session", "scorel/internal/engine/runtime", "scorel/internal/engine/tool", "scorel/internal/host/lane", "scorel/internal/host/publish"}
	for _, p := range packages(t) {
		if name, _ := layer(p.ImportPath); name != "entry" {
			continue
		}
		for _, imp := range p.Imports {
			for _, f := range forbidden {
				if imp == f || strings.HasPrefix(imp, f+"/") {
					t.Errorf("%s imports %s", p.ImportPath, imp)
				}
			}
		}
	}
}

func TestOnePackageStartsProcesses(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath == "scorel/internal/platform/sandbox" {
			continue
		}
		if name, _ := layer(p.ImportPath); name == "developer" {
			continue
		}
		if strings.HasPrefix(p.ImportPath, "scorel/internal/platform/sandbox/") { // test helpers
			continue
		}
		for _, imp := range p.Imports {
			if imp == "os/exec" && !startsTheHost(t, p) {
				t.Errorf("%s imports os/exec; children are started through internal/platform/sandbox", p.ImportPath)
			}
		}
	}
}

// startsTheHost reports whether a package is the one that starts a host in the
// background, and does so in that file alone: a host is no child of a session, and
// what confines and ends those must not reach it.
func startsTheHost(t *testing.T, p pkg) bool {
	t.Helper()
	if p.ImportPath != "scorel/internal/host/daemon" {
		return false
	}
	for _, f := range p.GoFiles {
		src, err := os.ReadFile(filepath.Join(p.Dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if f != "start.go" && strings.Contains(string(src), `"os/exec"`) {
			return false
		}
	}
	return true
}

func TestEngineListensOnNoSocket(t *testing.T) {
	for _, p := range packages(t) {
		if _, rank := layer(p.ImportPath); rank < 1 || rank > 4 {
			continue
		}
		for _, f := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(src), "net.Listen") {
				t.Errorf("%s listens on a socket", filepath.Join(p.ImportPath, f))
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if len(strings.Fields(p.Doc)) < 5 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func TestDevelopersProgramsAreNotInTheBinary(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "scorel/cmd/scorel").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		if name, _ := layer(path); name == "developer" {
			t.Errorf("the binary links %s", path)
		}
		switch path {
		case "net/http/httptest", "testing", "google.golang.org/grpc",
			"github.com/alecthomas/chroma/v2", "github.com/alecthomas/chroma/v2/lexers", "github.com/alecthomas/chroma/v2/styles", "github.com/yuin/goldmark",
			"github.com/charmbracelet/glamour", "charm.land/glamour/v2", "github.com/microcosm-cc/bluemonday": // what their package variables cost is felt at every start
			t.Errorf("the binary links %s", path)
		}
	}
}

func TestOnePartOfALaneAppends(t *testing.T) {
	puts := regexp.MustCompile(`(?:pub|Publisher\(\))\.Put\(`)
	for _, p := range packages(t) {
		if !under(p.ImportPath, "scorel/internal/host") || under(p.ImportPath, "scorel/internal/host/publish", "scorel/internal/host/lane/journal") {
			continue
		}
		for _, f := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if puts.Match(src) {
				t.Errorf("%s/%s puts events into a publisher; internal/host/lane/journal does", p.ImportPath, f)
			}
		}
	}
}

// maxInitAllocs bounds what all package initialisers of the binary allocate. The
// number is stable from run to run; what it costs is felt at every start.
const maxInitAllocs = 4_100

// maxBeforeStage bounds how many packages are initialised before a confined command is begun,
// of some 130: each command waits for them.
const maxBeforeStage = 35

func TestPackageInitAllocatesLittle(t *testing.T) {
	dir := t.TempDir()
	if err := harness.Build(dir, "scorel/cmd/scorel"); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "scorel")
	total := 0
	for _, line := range inits(t, program, "--version", 0) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		fields := strings.Fields(line)
		n := 0
		for _, c := range fields[len(fields)-2] {
			n = n*10 + int(c-'0')
		}
		total += n
		if n > 200 {
			t.Log(line)
		}
	}
	t.Logf("%d allocations in package initialisers", total)
	if total == 0 || total > maxInitAllocs {
		t.Errorf("%d allocations in package initialisers; at most %d", total, maxInitAllocs)
	}
	if runtime.GOOS != "linux" {
		return // the stage is of Linux
	}
	before := inits(t, program, stage.Name, 2) // 2: no host has started it
	if len(before) == 0 || len(before) > maxBeforeStage {
		t.Errorf("%d packages are initialised before the stage; at most %d. Which of its imports comes late?\n%s", len(before), maxBeforeStage, strings.Join(before, "\n"))
	}
}

// inits starts a program, which ends with a status, and returns what the runtime says of
// each package with initialisers.
func inits(t *testing.T, program, arg string, status int) (lines []string) {
	t.Helper()
	cmd := exec.Command(program, arg)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != status {
		t.Fatalf("scorel %s: %v\n%s", arg, cmd.ProcessState, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "init ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// TestTheMapOfTheHouseNamesWhatThereIs holds that the files, folders and tests that
// docs/architecture.md names exist.
func TestTheMapOfTheHouseNamesWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`\b(?:internal|protocol|client|cmd|docs|scripts)(?:/[\w.-]+)+`).FindAllString(string(page), -1) {
		if _, err := os.Stat(filepath.Join("..", strings.TrimRight(name, "."))); err != nil {
			t.Errorf("docs/architecture.md: %v", err)
		}
	}
	tests := ""
	files, _ := filepath.Glob("*_test.go")
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(src)
	}
	for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(string(page), -1) {
		if !strings.Contains(tests, "func "+name+"(") {
			t.Errorf("docs/architecture.md names %s, which there is not", name)
		}
	}
}
