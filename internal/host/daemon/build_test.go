package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

func TestABuildHasTheNameThatItsLinkerGaveIt(t *testing.T) {
	mine := Build()
	if mine == "" || mine != Build() {
		t.Fatalf("this program is build %q", mine)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"copy":    {string(data), mine},
		"mach-o":  {"\xcf\xfa\xed\xfe......\xff Go build ID: \"abc/def/ghi/jkl\"\n \xff", "jkl"},
		"cut":     {"\xff Go build ID: \"abc", ""},
		"elf":     {"\x7fELF....\x04\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00Go\x00\x00a/bc", "b"},
		"overrun": {"\x7fELF....\x04\x00\x00\x00\xff\xff\xff\xff\x04\x00\x00\x00Go\x00\x00a/bc", ""},
		"script":  {"#!/bin/sh\n", ""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := buildOf(path); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := buildOf(filepath.Join(dir, "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}
