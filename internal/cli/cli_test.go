package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"scorel": func() {
			testOnlyCodec = true
			os.Exit(Main(os.Args[1:]))
		},
	})
}

// TestCommands runs the txtar scripts of testdata with the real program.
func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", os.Getenv("PATH"))
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits CODE runs "scorel ARGS…" and wants that exit code.
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits CODE scorel ARGS…")
				}
				err := ts.Exec(args[1], args[2:]...)
				got := "0"
				if err != nil {
					got = strings.TrimPrefix(err.Error(), "exit status ")
				}
				if got != args[0] {
					ts.Fatalf("exit code %s, want %s", got, args[0])
				}
			},
			// session NAME sets $NAME to the id of the newest session.
			"session": func(ts *testscript.TestScript, _ bool, args []string) {
				logs, err := filepath.Glob(filepath.Join(ts.Getenv("HOME"), ".scorel", "sessions", "*.jsonl"))
				if err != nil || len(logs) == 0 {
					ts.Fatalf("there is no session")
				}
				ts.Setenv(args[0], strings.TrimSuffix(filepath.Base(logs[len(logs)-1]), ".jsonl"))
			},
			// event NAME TEXT sets $NAME to the id of the newest event of the newest
			// session whose line contains TEXT.
			"event": func(ts *testscript.TestScript, _ bool, args []string) {
				logs, _ := filepath.Glob(filepath.Join(ts.Getenv("HOME"), ".scorel", "sessions", "*.jsonl"))
				for line := range strings.Lines(ts.ReadFile(logs[len(logs)-1])) {
					if _, rest, ok := strings.Cut(line, `"id":"`); ok && strings.Contains(line, args[1]) {
						id, _, _ := strings.Cut(rest, `"`)
						ts.Setenv(args[0], id)
					}
				}
				if ts.Getenv(args[0]) == "" {
					ts.Fatalf("no event contains %q", args[1])
				}
			},
		},
	})
}
