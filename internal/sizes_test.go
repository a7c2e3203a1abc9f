package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Bounds of what one reader can hold in mind. They are not goals.
const (
	maxFileLines    = 700  // lines of a file
	maxPackageLines = 6000 // lines of a package without tests, generated files, blank lines and comments, whose comment gives no reason for more
	maxFields       = 20   // fields of a struct whose comment gives no reason for more
)

// What is in the comment of a struct or a package that lists something, and so may be larger
// than the bounds.
var (
	reason        = regexp.MustCompile(`\ba\s+field\s+for\s+each\b`)
	packageReason = regexp.MustCompile(`\ba\s+file\s+for\s+each\b`)
)

// TestFilesPackagesAndStructsStaySmall checks what people wrote; generated files may be long.
func TestFilesPackagesAndStructsStaySmall(t *testing.T) {
	for _, p := range packages(t) {
		lines, doc := 0, ""
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, src, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(file) {
				continue
			}
			if n := strings.Count(string(src), "\n"); n > maxFileLines {
				t.Errorf("%s has %d lines, more than %d", path, n, maxFileLines)
			}
			lines, doc = lines+codeLines(set, file, string(src)), doc+file.Doc.Text()
			largeStructs(file, func(name string, fields int) {
				t.Errorf("%s: %s has %d fields, more than %d, and its comment does not say that it has a field for each of something", path, name, fields, maxFields)
			})
		}
		if lines > maxPackageLines && !packageReason.MatchString(doc) {
			t.Errorf("%s has %d lines of code, more than %d, and its comment does not say that it has a file for each of something", p.ImportPath, lines, maxPackageLines)
		}
	}
}

// codeLines counts the lines of a file that are neither blank nor comments.
func codeLines(set *token.FileSet, file *ast.File, src string) int {
	lines := strings.Split(src, "\n")
	for _, group := range file.Comments {
		for _, c := range group.List {
			first, last := set.Position(c.Pos()), set.Position(c.End())
			for n := first.Line; n <= last.Line; n++ {
				if n > first.Line || strings.TrimSpace(lines[n-1][:first.Column-1]) == "" {
					lines[n-1] = ""
				}
			}
		}
	}
	count := 0
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			count++
		}
	}
	return count
}

// largeStructs calls each for the structs of a file that have too many fields for no reason.
func largeStructs(file *ast.File, each func(name string, fields int)) {
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.TypeSpec)
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			doc := spec.Doc.Text()
			if doc == "" {
				doc = gen.Doc.Text()
			}
			if n := st.Fields.NumFields(); n > maxFields && !reason.MatchString(doc) {
				each(fmt.Sprint(spec.Name), n)
			}
		}
	}
}
