package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// sources parses the Go files of the program that are neither tests nor generated.
func sources(t *testing.T, each func(path string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	for _, p := range packages(t) {
		if name, _ := layer(p.ImportPath); name == "developer" {
			continue
		}
		for _, f := range p.GoFiles {
			if strings.HasSuffix(f, "_gen.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			each(strings.TrimPrefix(p.ImportPath, "scorel/"), file, set)
		}
	}
}

// TestOnlyToolsNameTools holds that nothing but the tools knows a tool by its name, or
// reads what a result says to a model: both are said once, in [protocol.ToolInfo] and
// [protocol.ToolDetails].
func TestOnlyToolsNameTools(t *testing.T) {
	names := map[string]bool{}
	for _, info := range protocol.Tools() {
		for _, name := range append([]string{info.Name}, info.Aliases...) {
			names[name] = true
		}
	}
	// A word that is the name of a tool, and something else there.
	others := map[string]string{
		"internal/engine/model/demo": "a model calls tools by their names",
		"internal/engine/claude":     "another program's tools, and what they are here",
	}
	sources(t, func(path string, file *ast.File, set *token.FileSet) {
		if path == "internal/engine/tool" || others[path] != "" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			if names[text] {
				t.Errorf("%s names the tool %s", set.Position(lit.Pos()), text)
			}
			if file := filepath.Base(set.Position(lit.Pos()).Filename); file == "toolresult_old.go" {
				return true // the one place that reads old logs
			}
			for _, prose := range []string{"[exit code ", "[agent "} {
				if strings.HasPrefix(text, prose) {
					t.Errorf("%s reads words that are meant for a model: %q", set.Position(lit.Pos()), text)
				}
			}
			return true
		})
	})
}

// TestErrorsAreKnownByTheirCodes holds that nothing reads the text of an error to know
// what it is.
func TestErrorsAreKnownByTheirCodes(t *testing.T) {
	sources(t, func(path string, file *ast.File, set *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || !strings.HasPrefix(f.Sel.Name, "Has") && f.Sel.Name != "Contains" && f.Sel.Name != "EqualFold" {
				return true
			}
			if text, ok := call.Args[0].(*ast.CallExpr); ok {
				if f, ok := text.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Error" && len(text.Args) == 0 {
					t.Errorf("%s reads the text of an error", set.Position(call.Pos()))
				}
			}
			return true
		})
	})
}

// TestEveryListOfToolsIsThatOfTheTools compares the tables of tools with the tools.
func TestEveryListOfToolsIsThatOfTheTools(t *testing.T) {
	all, table := tool.All(), protocol.Tools()
	if len(all) != len(table) {
		t.Fatalf("there are %d tools, and %d in the table", len(all), len(table))
	}
	for i, tl := range all {
		spec := tl.Spec()
		if spec.Name != table[i].Name || protocol.FindTool(spec.Name).Kind != spec.Kind || protocol.FindTool(spec.Name).View != spec.View {
			t.Errorf("the tool %s is %v in the table", spec.Name, table[i])
		}
		if spec.Needs != tool.NeedsPlan {
			continue
		}
		for _, preset := range []tool.Preset{tool.ReadOnly, tool.Coding, tool.Everything, tool.None} {
			if picked, err := tool.Select(string(preset), nil); err != nil || strings.Contains(strings.Join(tool.Names(picked), " "), spec.Name) {
				t.Errorf("the preset %s has %s: %v", preset, spec.Name, err)
			}
		}
	}
}
