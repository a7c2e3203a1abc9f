package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"scorel/internal/dev/harness"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/daemon"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rpc.ChildName { // which the program starts as itself
		os.Exit(Main(os.Args[1:]))
	}
	// A program with the race detector waits a second at its end for reports of what
	// goes on after it; the scripts run hundreds, in which nothing does.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	testscript.Main(m, map[string]func(){
		"scorel": func() {
			testOnlyCodec = true
			os.Exit(Main(os.Args[1:]))
		},
	})
}

// TestCommands runs the txtar scripts of testdata with the real program.
func TestCommands(t *testing.T) {
	docs, err := filepath.Abs(filepath.Join("..", "..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	traps := map[string]*trap{} // by $WORK; each script uses its own
	var mu sync.Mutex
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", os.Getenv("PATH"))
			if plain := harness.Plain(filepath.Base(env.WorkDir), "SCOREL_TEST_CLI"); plain != "" {
				env.Setenv("PATH", filepath.Dir(plain)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			}
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("DOCS", docs)
			env.Defer(func() { // a script that fails may leave its host
				if info, live, _ := daemon.Find(filepath.Join(home, ".scorel")); live && info.PID > 0 {
					_ = syscall.Kill(info.PID, syscall.SIGKILL)
				}
			})
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"zip": zipFolder,
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
			// hashof NAME sets $NAME to the hash of the files of this project that could
			// act.
			"hashof": func(ts *testscript.TestScript, _ bool, args []string) {
				_ = ts.Exec("scorel", "trust", "--json")
				var report struct{ Hash string }
				if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &report); err != nil {
					ts.Fatalf("scorel trust --json: %v", err)
				}
				ts.Setenv(args[0], report.Hash)
			},
			// waitfor TEXT waits until a session log contains TEXT.
			"waitfor": func(ts *testscript.TestScript, _ bool, args []string) {
				wait(ts, func() bool {
					logs, _ := filepath.Glob(filepath.Join(ts.Getenv("HOME"), ".scorel", "sessions", "*.jsonl"))
					return slices.ContainsFunc(logs, func(name string) bool {
						data, err := os.ReadFile(name)
						return err == nil && strings.Contains(string(data), args[0])
					})
				})
			},
			// waitps TEXT waits until scorel ps prints TEXT.
			"waitps": func(ts *testscript.TestScript, _ bool, args []string) {
				wait(ts, func() bool {
					err := ts.Exec("scorel", "ps")
					return err == nil && strings.Contains(ts.ReadFile("stdout"), args[0])
				})
			},
			// killserving sends SIGKILL to the host that serves.
			"killserving": func(ts *testscript.TestScript, _ bool, _ []string) {
				info, _, err := daemon.Find(filepath.Join(ts.Getenv("HOME"), ".scorel"))
				if err != nil || info.PID == 0 {
					ts.Fatalf("no host runs: %v", err)
				}
				if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
					ts.Fatalf("kill %d: %v", info.PID, err)
				}
				ts.Setenv("KILLED", fmt.Sprint(info.PID))
			},
			// waitserving waits until another host serves than the one that was killed.
			"waitserving": func(ts *testscript.TestScript, _ bool, _ []string) {
				wait(ts, func() bool {
					info, live, err := daemon.Find(filepath.Join(ts.Getenv("HOME"), ".scorel"))
					return err == nil && live && info.Ready() && fmt.Sprint(info.PID) != ts.Getenv("KILLED")
				})
			},
			"hostile": func(ts *testscript.TestScript, _ bool, args []string) {
				mu.Lock()
				defer mu.Unlock()
				hostile(ts, traps, args)
			},
			"unharmed": func(ts *testscript.TestScript, _ bool, args []string) {
				mu.Lock()
				defer mu.Unlock()
				unharmed(ts, traps, args)
			},
			"refusals": func(ts *testscript.TestScript, _ bool, args []string) { refusals(ts, args) },
			// waitexists FILE waits until the file is there.
			"waitexists": func(ts *testscript.TestScript, _ bool, args []string) {
				wait(ts, func() bool { _, err := os.Stat(ts.MkAbs(args[0])); return err == nil })
			},
			// gone FILE waits until the process whose id FILE holds has ended.
			"gone": func(ts *testscript.TestScript, _ bool, args []string) {
				pid := strings.TrimSpace(ts.ReadFile(args[0]))
				wait(ts, func() bool {
					stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
					return err != nil || strings.Contains(string(stat), ") Z ")
				})
			},
			// killhost [interrupt] sends SIGKILL, or SIGINT, to the process that holds
			// the newest session.
			"killhost": func(ts *testscript.TestScript, _ bool, args []string) {
				sig := syscall.SIGKILL
				if len(args) == 1 && args[0] == "interrupt" {
					sig = syscall.SIGINT
				}
				locks, _ := filepath.Glob(filepath.Join(ts.Getenv("HOME"), ".scorel", "sessions", "*.lock"))
				if len(locks) == 0 {
					ts.Fatalf("no session is locked")
				}
				var owner struct{ PID int }
				text, _, _ := strings.Cut(ts.ReadFile(locks[len(locks)-1]), "\n") // after it is the lock's own
				if err := json.Unmarshal([]byte(text), &owner); err != nil {
					ts.Fatalf("who holds the session: %v", err)
				}
				if err := syscall.Kill(owner.PID, sig); err != nil {
					ts.Fatalf("kill %d: %v", owner.PID, err)
				}
			},
			// docscript PAGE NAME writes the code of a page of docs that is marked as
			// <!-- test: NAME --> into the file NAME.
			"docscript": func(ts *testscript.TestScript, _ bool, args []string) {
				page, err := os.ReadFile(filepath.Join(docs, args[0]))
				ts.Check(err)
				_, code, ok := strings.Cut(string(page), "<!-- test: "+args[1]+" -->\n```")
				_, code, _ = strings.Cut(code, "\n")
				code, _, ended := strings.Cut(code, "\n```")
				if !ok || !ended {
					ts.Fatalf("%s has no script %s", args[0], args[1])
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(code+"\n"), 0o700))
			},
			// devserver FILE… starts a server with a page, and writes its address for
			// DEVSERVER into the files.
			"devserver": func(ts *testscript.TestScript, _ bool, args []string) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/html")
					if r.URL.Path == "/search" {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, `{"results":[{"title":"Found","url":"https://example.com/found","content":"here"}]}`)
						return
					}
					_, _ = io.WriteString(w, "<title>Dev</title><h1>It runs</h1><script>no()</script>")
				}))
				ts.Defer(srv.Close)
				addr := strings.Replace(srv.Listener.Addr().String(), "127.0.0.1", "localhost", 1)
				for _, name := range args {
					text := strings.ReplaceAll(ts.ReadFile(name), "DEVSERVER", addr)
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
				}
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

// wait polls a condition of another process until it holds.
func wait(ts *testscript.TestScript, holds func() bool) {
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			ts.Fatalf("waited for %v", patience)
		}
	}
}
