package extension

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestAProjectsProgramStartsOnlyWithFilesThatTrustKnows(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		runs    bool
	}{
		"its own file":              {`["python3", "main.py"]`, true},
		"its own program":           {`["./main.py"]`, true},
		"a file of node_modules":    {`["node", "node_modules/p/x.js"]`, false},
		"a program of node_modules": {`["node_modules/p/x.js"]`, false},
		"a file elsewhere":          {`["bash", "../../../build.sh"]`, false},
		"a link":                    {`["bash", "link.sh"]`, false},
	} {
		root := t.TempDir()
		at := func(name, text string) {
			t.Helper()
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		const dir = ".scorel/extensions/p/"
		at(dir+"scorel.extension.json", `{"kind":"process","command":`+c.command+`}`)
		at(dir+"main.py", "")
		at(dir+"node_modules/p/x.js", "")
		at("build.sh", "")
		if err := os.Symlink("../../../build.sh", filepath.Join(root, dir, "link.sh")); err != nil {
			t.Fatal(err)
		}
		trusted := map[string]string{dir + "scorel.extension.json": "1", dir + "main.py": "2"} // as trust gives them
		found := Find([]Source{{Dir: filepath.Join(root, ".scorel/extensions"), Base: root, Scope: Project,
			Trusted: func() (map[string]string, string) { return trusted, "not trusted" }}}, nil)
		if len(found.Extensions) != 1 {
			t.Fatalf("%s: %+v", name, found)
		}
		e := found.Extensions[0]
		if runs := e.State == protocol.ExtensionFound; runs != c.runs {
			t.Errorf("%s: it is %s: %s", name, e.State, e.Problem)
		}
		if !c.runs && !strings.Contains(e.Problem, "not among the files that are trusted") {
			t.Errorf("%s: the problem is %q", name, e.Problem)
		}
	}
}
