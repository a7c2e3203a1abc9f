package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is what the source of the package says.
type source struct {
	types   map[string]*goType
	order   []string             // names of types as they are in the files
	consts  map[string][]goConst // by their type, as they stand
	returns map[string]string    // "Type.Method" to the string or constant that it returns
	pairs   []pair               // by name
	events  []eventSpec          // as they are in the files
	values  map[string]ast.Expr  // of constants, by their names
	methods map[string]bool      // "Type.Method"
	ids     map[string]ast.Expr  // what Check of a type of id returns, by the type
}

type goType struct {
	name, doc, file string
	expr            ast.Expr
}

type goConst struct{ name, doc, value string }

func readSource(dir string) (*source, error) {
	s := &source{types: map[string]*goType{}, consts: map[string][]goConst{}, returns: map[string]string{}, values: map[string]ast.Expr{}, ids: map[string]ast.Expr{}, methods: map[string]bool{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	set := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(filepath.Base(name), ".go")
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				s.general(d, base)
			case *ast.FuncDecl:
				s.function(d)
			}
		}
	}
	for i := range s.pairs {
		if err := s.complete(&s.pairs[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.events {
		if err := s.completeEvent(&s.events[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	if len(s.types) == 0 || len(s.pairs) == 0 {
		return nil, fmt.Errorf("%s does not hold the package protocol", dir)
	}
	return s, nil
}

// fewSpecs is how many types a comment above their group can be about.
const fewSpecs = 2

func (s *source) general(d *ast.GenDecl, file string) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if !spec.Name.IsExported() {
				continue
			}
			doc := spec.Doc
			if doc == nil && len(d.Specs) <= fewSpecs {
				doc = d.Doc
			}
			s.types[spec.Name.Name] = &goType{spec.Name.Name, comment(doc, spec.Comment), file, spec.Type}
			s.order = append(s.order, spec.Name.Name)
		case *ast.ValueSpec:
			if d.Tok == token.VAR {
				s.descriptor(spec)
				continue
			}
			for i := range spec.Values {
				s.values[spec.Names[i].Name] = spec.Values[i]
			}
			typ, ok := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || !ok || len(spec.Values) != len(spec.Names) {
				continue
			}
			for i, name := range spec.Names {
				if value, ok := literal(spec.Values[i]); ok && name.IsExported() {
					s.consts[typ.Name] = append(s.consts[typ.Name], goConst{name.Name, comment(spec.Doc, spec.Comment), value})
				}
			}
		}
	}
}

// function notes what a method returns that only returns a constant.
func (s *source) function(d *ast.FuncDecl) {
	if d.Recv == nil {
		return
	}
	recv := d.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	typ, ok := recv.(*ast.Ident)
	if !ok {
		return
	}
	s.methods[typ.Name+"."+d.Name.Name] = true
	if d.Body == nil || len(d.Body.List) != 1 {
		return
	}
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return
	}
	if d.Name.Name == "Check" {
		s.ids[typ.Name] = ret.Results[0]
	}
	if value, ok := literal(ret.Results[0]); ok {
		s.returns[typ.Name+"."+d.Name.Name] = value
	} else if id, ok := ret.Results[0].(*ast.Ident); ok {
		s.returns[typ.Name+"."+d.Name.Name] = id.Name
	}
}

// ident returns the name that an expression is, "" when it is none.
func ident(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// constant returns the value of a named constant.
func (s *source) constant(typ, name string) (string, bool) {
	for _, c := range s.consts[typ] {
		if c.name == name {
			return c.value, true
		}
	}
	return "", false
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(lit.Value)
	return value, err == nil
}

// comment returns the first comment that is there.
func comment(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			return strings.TrimSpace(g.Text())
		}
	}
	return ""
}
