package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileOfVariablesIsLaidBelowThoseOfTheEntry(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, ".env")
	if err := os.WriteFile(name, []byte("# first\nA=1\nexport B = two words # why\nC=\"x\\n\\\"y\\\"\" # c\r\nD='$A #'\nE=\nF=a=b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Entry{Scope: ScopeProject, EnvFile: name, Env: map[string]string{"A": "mine"}}.WithEnvFile(root)
	want := map[string]string{"A": "mine", "B": "two words", "C": "x\n\"y\"", "D": "$A #", "E": "", "F": "a=b"}
	if err != nil || !maps.Equal(e.Env, want) || e.EnvFile != "" {
		t.Errorf("%v %q", err, e.Env)
	}
}

func TestAProjectsFileOfVariablesIsInTheWorkspace(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	outside, link := filepath.Join(other, ".env"), filepath.Join(root, "link")
	if err := os.WriteFile(outside, []byte("KEY=marker\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, link, filepath.Join(root, "..", filepath.Base(other), ".env"), filepath.Join(root, "missing")} {
		if e, err := (Entry{Scope: ScopeProject, EnvFile: name}).WithEnvFile(root); err == nil || len(e.Env) > 0 || strings.Contains(err.Error(), "marker") {
			t.Errorf("%s: %v %q", name, err, e.Env)
		}
	}
	if e, err := (Entry{Scope: ScopeUser, EnvFile: outside}).WithEnvFile(root); err != nil || e.Env["KEY"] != "marker" {
		t.Error(err)
	}
}

func TestAFaultyFileOfVariablesNamesTheLineAndNoValue(t *testing.T) {
	for text, want := range map[string]string{
		"A=1\nsecret":                     "line 2 is not NAME=VALUE",
		"A-B=secret":                      "line 1 is not NAME=VALUE",
		"A=\"secret":                      "line 1 has no closing quote",
		"A=\"b\" secret":                  "line 1 has text after the closing quote",
		"A=secret\x00":                    "the value in line 1 has a NUL, or more than 32768 bytes",
		"A=" + strings.Repeat("s", 32769): "the value in line 1 has a NUL, or more than 32768 bytes",
	} {
		if _, err := parseEnv(text); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func FuzzFilesOfVariables(f *testing.F) {
	f.Add("A=1\nexport B=\"x\"\n")
	f.Add("A='")
	f.Fuzz(func(t *testing.T, text string) {
		vars, err := parseEnv(text)
		if err != nil {
			return
		}
		for name, value := range vars {
			if !variableName(name) || strings.ContainsRune(value, 0) {
				t.Errorf("%q=%q", name, value)
			}
		}
	})
}
