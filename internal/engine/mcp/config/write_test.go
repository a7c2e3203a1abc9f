package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
)

func stdio(name string) Entry {
	return Entry{Name: name, Scope: ScopeUser, Type: TypeStdio, Command: "run-" + name, Args: []string{"<a>&"}}
}

func TestAnEntryThatIsWrittenIsReadAsItWas(t *testing.T) {
	s := Store{disk.OS(), filepath.Join(t.TempDir(), "sub", "mcp.json")}
	full := Entry{Name: "full", Scope: ScopeUser, Type: TypeStdio, Command: "c", Args: []string{"${input:k}", ""}, Env: map[string]string{"A": "${B}"}, EnvFile: "e", Cwd: "/d", TimeoutMS: 5,
		AlwaysLoad: true, Disabled: true, AllowTools: []string{}, DenyTools: []string{"x"}, Sandbox: true, PerSession: true, Sampling: true, Inputs: []Input{{ID: "k", Password: true}}}
	wiki := Entry{Name: "wiki", Scope: ScopeLocal, Type: TypeHTTP, URL: "https://x/?a=1&b=2", Headers: map[string]string{"X": "y"}, HeadersHelper: "h", OAuth: &OAuth{ClientID: "i", Scopes: []string{"a"}}}
	for _, e := range []Entry{full, wiki} {
		if err := s.Add(e.Scope, "/w", e, false); err != nil {
			t.Fatal(err)
		}
	}
	set := Merge(Sources{Root: "/w", User: ReadFile(s.File)})
	for _, want := range []Entry{full, wiki} {
		got, _ := set.Lookup(want.Name)
		got.Source = Source{}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v\n%s", got, want, summary(set))
		}
	}
	info, err := os.Stat(s.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v %v", info.Mode(), err)
	}
}

const handwritten = `// mine
{
    "future": [1.50, 2e3], // kept
    "mcpServers": {
        "z": {"command": "z", "later": {"deep": true}}, // last letter first
        "a": {
            "command": "a" /* here */
        }
    },
    "projects": {}
}
`

func TestWritingKeepsWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s Store) error
		want string
	}{
		{"add", func(s Store) error { return s.Add(ScopeUser, "", stdio("m"), false) }, strings.Replace(handwritten, `            "command": "a" /* here */
        }`, `            "command": "a" /* here */
        },
        "m": {
          "type": "stdio",
          "command": "run-m",
          "args": [
            "<a>&"
          ]
        }`, 1)},
		{"replace", func(s Store) error {
			return s.Add(ScopeUser, "", Entry{Name: "z", Type: TypeSSE, URL: "http://z"}, true)
		}, strings.Replace(handwritten, `{"command": "z", "later": {"deep": true}}`, `{
          "type": "sse",
          "url": "http://z"
        }`, 1)},
		{"remove the first", func(s Store) error { return s.Remove(ScopeUser, "", "z") }, strings.Replace(handwritten, `"z": {"command": "z", "later": {"deep": true}}, `, "", 1)},
		{"remove the last", func(s Store) error { return s.Remove(ScopeUser, "", "a") }, strings.NewReplacer("}}, // last", "}} // last", `        "a": {
            "command": "a" /* here */
        }
`, "").Replace(handwritten)},
		{"disable", func(s Store) error { return s.Enable("/w", stdio("z"), false) }, strings.Replace(handwritten, `{"deep": true}}`, `{"deep": true}, "disabled": true}`, 1)},
		{"enable what is enabled", func(s Store) error { return s.Enable("/w", stdio("z"), true) }, handwritten},
		{"disable another's", func(s Store) error { return s.Enable("/w", Entry{Name: "p", Scope: ScopeProject}, false) }, strings.Replace(handwritten, `"projects": {}`, `"projects": {
      "/w": {
        "enabled": {
          "p": false
        }
      }
    }`, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Store{disk.OS(), filepath.Join(t.TempDir(), "mcp.json")}
			if err := os.WriteFile(s.File, []byte(handwritten), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.do(s); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(s.File)
			if squeeze(string(got)) != squeeze(c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if n, err := parseJSON(got); err != nil || n == nil {
				t.Error(err)
			}
		})
	}
}

// squeeze takes the indentation out: which is chosen for what is new does not matter.
func squeeze(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, strings.TrimSpace(line))
	}
	return strings.Join(out, "\n")
}

func TestWhatIsThereIsReplacedOnlyWithForce(t *testing.T) {
	s := Store{disktest.NewMem(), "/home/mcp.json"}
	if err := s.Add(ScopeUser, "", stdio("a"), false); err != nil {
		t.Fatal(err)
	}
	other := stdio("a")
	other.Command = "other"
	if err := s.Add(ScopeUser, "", other, false); !errors.Is(err, ErrThere) {
		t.Error(err)
	}
	if err := s.Add(ScopeLocal, "/w", other, false); err != nil {
		t.Error(err)
	}
	if err := s.Remove(ScopeUser, "", "b"); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	if err := s.Remove(ScopeLocal, "/x", "a"); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
}

func TestAFileThatIsNoJSONIsNotWrittenOver(t *testing.T) {
	for _, text := range []string{"{\n\"mcpServers\": ", "[]", `{"mcpServers": 3}`, `{"mcpServers": {}} x`} {
		mem := disktest.NewMem()
		mem.Put("/home/mcp.json", []byte(text))
		s := Store{mem, "/home/mcp.json"}
		if err := s.Add(ScopeUser, "", stdio("a"), false); err == nil || !strings.Contains(err.Error(), "/home/mcp.json") {
			t.Errorf("%s: %v", text, err)
		}
		if got := string(mem.Bytes("/home/mcp.json")); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestTwoThatAddAtOnceAreBothKept(t *testing.T) {
	s := Store{disk.OS(), filepath.Join(t.TempDir(), "mcp.json")}
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := s.Add(ScopeUser, "", stdio(fmt.Sprintf("s%d", i)), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if set := Merge(Sources{User: ReadFile(s.File)}); len(set.Entries) != n || len(set.Faults) != 0 {
		t.Errorf("%s", summary(set))
	}
}

func TestEveryWriteFaultLeavesTheOldFileOrTheNewOne(t *testing.T) {
	old := servers("old")
	for _, short := range []bool{false, true} {
		points := 1
		for n := 1; n <= points; n++ {
			mem := disktest.NewMem()
			mem.Put("/home/mcp.json", []byte(old))
			faulty := &disktest.Faulty{FS: mem, N: n, Err: syscall.ENOSPC, Short: short}
			err := Store{faulty, "/home/mcp.json"}.Add(ScopeUser, "", stdio("new"), false)
			if n == 1 {
				count := &disktest.Faulty{FS: disktest.NewMem()}
				if err := (Store{count, "/home/mcp.json"}).Add(ScopeUser, "", stdio("new"), false); err != nil {
					t.Fatal(err)
				}
				points = count.Calls()
				if points < 4 {
					t.Fatalf("only %d fault points", points)
				}
			}
			if !faulty.Fired() {
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "/home/mcp.json") {
				t.Errorf("fault %d: %v", n, err)
			}
			got := string(mem.Bytes("/home/mcp.json"))
			renamed := faulty.Calls(disktest.OpSyncDir) > 0 // it is in place, and may not survive a power cut
			if got != old && !renamed {
				t.Errorf("fault %d of %d left %q", n, points, got)
			}
			if set := Merge(Sources{User: File{Name: "f", Data: []byte(got)}}); len(set.Faults) > 0 || len(set.Entries) == 0 {
				t.Errorf("fault %d: %s", n, summary(set))
			}
		}
	}
}

func TestALinkToTheFileStaysOne(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "mcp.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := (Store{disk.OS(), link}).Add(ScopeUser, "", stdio("a"), false); err != nil {
		t.Fatal(err)
	}
	if at, err := os.Readlink(link); err != nil || at != real {
		t.Error("the link was replaced", err)
	}
	if data, _ := os.ReadFile(real); !strings.Contains(string(data), "run-a") {
		t.Errorf("%s", data)
	}
}

func FuzzEditsChangeOneValueOnly(f *testing.F) {
	f.Add([]byte(handwritten), "a")
	f.Add([]byte(`{"mcpServers":{"a":1,"a":2,},}`), "a")
	f.Add([]byte("{\"mcpServers\": {\n  // , \n \"a\": 1 // ,\n}}"), "b")
	f.Add([]byte("// only\n"), "a")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		if strings.ToValidUTF8(name, "") != name {
			return
		}
		before := strings.Clone(string(data))
		added, err := edit(data, []string{"mcpServers", name}, map[string]any{"command": "x"})
		if string(data) != before {
			t.Fatal("the old bytes were changed")
		}
		if err != nil {
			if errors.Is(err, errEdit) {
				t.Errorf("%q is not edited", data)
			}
			return
		}
		removed, err := edit(added, []string{"mcpServers", name}, nil)
		if err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		n, err := objectOf(removed)
		if err != nil || n.get("mcpServers").get(name) != nil {
			t.Errorf("%q: %v", removed, err)
		}
	})
}
