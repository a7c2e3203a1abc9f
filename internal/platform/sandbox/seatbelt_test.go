package sandbox

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files")

func TestTheProfileForMacOS(t *testing.T) {
	for name, p := range map[string]Profile{
		"workspace": {Mode: WorkspaceWrite, Network: true, Home: "/Users/u", Closed: []string{"/Users/u/.scorel"}, Roots: []string{"/Users/u/my \"work\\"},
			TempDir: "/private/tmp/scorel-501/ses", CacheDir: "/Users/u/.cache/scorel/x"},
		"closed": {Mode: ReadOnly, Home: "/Users/u", Closed: []string{"/Users/u/.scorel"}, Shown: []string{"/Users/u/.scorel/skills/a"}, Roots: []string{"/Users/u/work"}, TempDir: "/private/tmp/scorel-501/ses"},
	} {
		got := p.seatbelt()
		if strings.Count(got, "(") != strings.Count(got, ")") {
			t.Errorf("%s: the parentheses do not match", name)
		}
		golden := filepath.Join("testdata", "seatbelt-"+name+".sb")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != got {
			t.Errorf("%s differs from %s (%v):\n%s", name, golden, err, got)
		}
	}
}

func TestMacOSSaysWhatItDoesNotHold(t *testing.T) {
	if s := seatbeltStatus(true); s.Level != Partly || !strings.Contains(s.Missing, "loopback") || !s.Abilities[0].Holds {
		t.Errorf("with sandbox-exec: %+v", s)
	}
	if s := seatbeltStatus(false); s.Level != Unconfined || !strings.Contains(s.Missing, "not confined") || s.Abilities[0].Advice == "" {
		t.Errorf("without: %+v", s)
	}
}
