package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH, in the folder of the module")
		os.Exit(2)
	}
	root, err := os.Getwd()
	if err == nil {
		err = check(root, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check returns the errors of the packages of the module in root on a system, such as
// darwin/arm64, without cgo.
func check(root, system string) error {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return fmt.Errorf("%q is no system; name one as in darwin/arm64", system)
	}
	ours := root + string(filepath.Separator)
	list, err := packages.Load(&packages.Config{
		Dir: root,
		Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		ParseFile: func(set *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
			if f != nil && !strings.HasPrefix(name, ours) {
				withoutBodies(f)
			}
			return f, err
		},
	}, "./...")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("there are no packages in %s", root)
	}
	var errs []error
	for _, p := range list {
		for _, e := range p.Errors {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

// withoutBodies leaves only what others see of a file. Imports that only bodies
// needed are errors then, in packages whose errors nobody asks for.
func withoutBodies(f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}
