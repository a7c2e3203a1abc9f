package bundle

import (
	"errors"
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"scorel/internal/extension/js/pattern"
)

// Compile makes a program of a bundle. Source maps are read from the bundle alone.
func Compile(b *Bundle) (*goja.Program, error) {
	pattern.LimitTime() // literals are compiled here
	tree, err := goja.Parse(b.Name, string(b.Code), parser.WithSourceMapLoader(func(string) ([]byte, error) {
		return nil, errors.New("a bundle has no other source map than its own")
	}))
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(b.Code), `\p{`) || strings.Contains(string(b.Code), `\P{`) {
		mendPatterns(reflect.ValueOf(tree))
	}
	return goja.CompileAST(tree, false)
}

// mendPatterns finds the literals of regular expressions with \p{…}, of which the
// interpreter's fast engine makes a letter p, and has the other engine run them.
func mendPatterns(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			mendPatterns(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if lit, ok := v.Interface().(*ast.RegExpLiteral); ok {
			if strings.Contains(lit.Flags, "u") && !strings.HasPrefix(lit.Pattern, "(?=)") {
				lit.Pattern = pattern.Mend(lit.Pattern)
			}
			return
		}
		if v.Elem().Kind() == reflect.Struct {
			mendPatterns(v.Elem())
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			// Declarations are listed a second time for scopes, and files lead back.
			if f := t.Field(i); !f.IsExported() || f.Name == "DeclarationList" || f.Name == "File" {
				continue
			}
			mendPatterns(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			mendPatterns(v.Index(i))
		}
	}
}
