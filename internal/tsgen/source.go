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
	order   []string             // names of types as they stand in the files
	consts  map[string][]goConst // by their type, as they stand
	returns map[string]string    // "Type.Method" to the string or constant that it returns
	pairs   []pair               // of newRequest, in its order
}

type goType struct {
	name, doc, file string
	expr            ast.Expr
}

type goConst struct{ name, doc, value string }

// pair is a request's name on the wire with its type and that of its answer.
type pair struct{ name, request, response string }

func readSource(dir string) (*source, error) {
	s := &source{types: map[string]*goType{}, consts: map[string][]goConst{}, returns: map[string]string{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	set := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
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
			s.types[spec.Name.Name] = &goType{spec.Name.Name, text(doc, spec.Comment), file, spec.Type}
			s.order = append(s.order, spec.Name.Name)
		case *ast.ValueSpec:
			typ, ok := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || !ok || len(spec.Values) != len(spec.Names) {
				continue
			}
			for i, name := range spec.Names {
				if value, ok := literal(spec.Values[i]); ok && name.IsExported() {
					s.consts[typ.Name] = append(s.consts[typ.Name], goConst{name.Name, text(spec.Doc, spec.Comment), value})
				}
			}
		}
	}
}

// function notes what a method returns that only returns a constant, and the pairs
// of newRequest.
func (s *source) function(d *ast.FuncDecl) {
	if d.Recv == nil {
		if d.Name.Name == "newRequest" {
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if c, ok := n.(*ast.CaseClause); ok && len(c.List) == 1 && len(c.Body) == 1 {
					s.pair(c)
				}
				return true
			})
		}
		return
	}
	if d.Body == nil || len(d.Body.List) != 1 {
		return
	}
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
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
	if value, ok := literal(ret.Results[0]); ok {
		s.returns[typ.Name+"."+d.Name.Name] = value
	} else if id, ok := ret.Results[0].(*ast.Ident); ok {
		s.returns[typ.Name+"."+d.Name.Name] = id.Name
	}
}

func (s *source) pair(c *ast.CaseClause) {
	name, ok := literal(c.List[0])
	ret, isReturn := c.Body[0].(*ast.ReturnStmt)
	if !ok || !isReturn || len(ret.Results) != 2 {
		return
	}
	var types [2]string
	for i, r := range ret.Results {
		addr, ok := r.(*ast.UnaryExpr)
		if !ok {
			return
		}
		lit, ok := addr.X.(*ast.CompositeLit)
		if !ok {
			return
		}
		types[i] = lit.Type.(*ast.Ident).Name
	}
	s.pairs = append(s.pairs, pair{name, types[0], types[1]})
}

// constant gives the value of a named constant.
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

// text gives the first comment that is there.
func text(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			return strings.TrimSpace(g.Text())
		}
	}
	return ""
}
