package cell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyPackageCellMeasuresText holds that the width of text is measured in one place,
// so that no two of them differ about a character. The painter of package screen, which
// reads sequences, is the other one that knows cells.
func TestOnlyPackageCellMeasuresText(t *testing.T) {
	measures := map[string]bool{"StringWidth": true, "StringWidthWc": true, "Truncate": true, "TruncateLeft": true, "Cut": true, "Wrap": true, "Wordwrap": true, "Hardwrap": true, "FirstGraphemeCluster": true}
	for _, root := range []string{"../../extension", "..", "../../ui"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join(root, "cell") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, i := range file.Imports {
				if p := strings.Trim(i.Path.Value, `"`); p == "text/tabwriter" || strings.HasSuffix(p, "go-runewidth") || strings.HasSuffix(p, "uniseg") {
					t.Errorf("%s imports %s", path, p)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && measures[s.Sel.Name] {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "ansi" {
						t.Errorf("%s uses ansi.%s", path, s.Sel.Name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
