package sandbox

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Confinement and clean-up hold only if nobody starts children past this package.
func TestNoOtherPackageImportsOSExec(t *testing.T) {
	module := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(module, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && path != module):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		rel, err := filepath.Rel(module, path)
		if err != nil || strings.HasPrefix(rel, filepath.Join("internal", "sandbox")+"/") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			if i.Path.Value == `"os/exec"` {
				t.Errorf("%s imports os/exec", rel)
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files were read, %v", files, err)
	}
}
