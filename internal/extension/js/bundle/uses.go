package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// maxUses bounds what [Uses] finds.
const maxUses = 10_000

// Use is a name of the API that a bundle uses. Of says of what it is: "api" of the object
// that an extension's function is given, "ctx", "ctx.ui", "ctx.sessionManager" and
// "ctx.modelRegistry" of the context of a handler, "event" for one that it listens to,
// "tool" for a field of a tool, else the module that it is imported from.
type Use struct {
	Of    string `json:"of"`
	Name  string `json:"name"`
	Place string `json:"place"` // file:line
}

// Uses gives the uses of a bundle, each once, in the order of its code. What the code
// reaches in another way than by name is not found.
func Uses(b *Bundle, root string) ([]Use, error) {
	tree, err := goja.Parse(b.Name, string(b.Code), parser.WithSourceMapLoader(func(string) ([]byte, error) {
		return nil, errors.New("a bundle has no other source map than its own")
	}))
	if err != nil {
		return nil, err
	}
	u := &uses{root: root, file: tree.File, seen: map[Use]bool{}, requires: map[string]string{}, imports: map[string]string{},
		apis: map[string]bool{"pi": true}, contexts: map[string]bool{"ctx": true}}
	walk(reflect.ValueOf(tree), u.declare)
	walk(reflect.ValueOf(tree), u.use)
	return u.found, nil
}

// uses collects.
type uses struct {
	root     string
	file     *file.File
	requires map[string]string // modules by the function that the bundler makes for each
	imports  map[string]string // and by the variable that holds one
	apis     map[string]bool   // names of the extension API
	contexts map[string]bool   // and of contexts
	seen     map[Use]bool
	found    []Use
}

// walk calls f with each node of a tree, the outer ones first.
func walk(v reflect.Value, f func(any)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), f)
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct {
			f(v.Interface())
			walk(v.Elem(), f)
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			// Declarations are listed a second time for scopes, and files lead back.
			if n := t.Field(i); n.IsExported() && n.Name != "DeclarationList" && n.Name != "File" {
				walk(v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), f)
		}
	}
}

// declare notes what names stand for.
func (u *uses) declare(node any) {
	switch n := node.(type) {
	case *ast.Binding:
		name, call := identifier(n.Target), callOf(n.Initializer)
		if name == "" || call == nil {
			return
		}
		switch identifier(call.Callee) {
		case "__commonJS":
			if module := moduleOf(call); module != "" {
				u.requires[name] = module
			}
		case "__toESM":
			if inner := callOf(argument(call, 0)); inner != nil {
				if module := u.requires[identifier(inner.Callee)]; module != "" {
					u.imports[name] = module
				}
			}
		}
	case *ast.CallExpression:
		dot, ok := n.Callee.(*ast.DotExpression)
		if !ok {
			return
		}
		switch name := dot.Identifier.Name.String(); name {
		case "on", "registerTool", "registerCommand":
			if _, literal := text(argument(n, 0)); name == "on" && !literal {
				return
			}
			if name != "on" {
				u.api(dot.Left)
			}
			for _, arg := range n.ArgumentList {
				u.handler(arg, 1)
			}
		}
	case *ast.PropertyKeyed:
		switch key, _ := text(n.Key); key {
		case "handler":
			u.handler(n.Value, 1)
		case "execute":
			u.handler(n.Value, 4)
		}
	}
}

func (u *uses) api(v ast.Expression) {
	if name := identifier(v); name != "" {
		u.apis[name] = true
	}
}

// handler notes the name that a function gives to the context, its parameter at that
// place.
func (u *uses) handler(v ast.Expression, at int) {
	var params *ast.ParameterList
	switch f := v.(type) {
	case *ast.ArrowFunctionLiteral:
		params = f.ParameterList
	case *ast.FunctionLiteral:
		params = f.ParameterList
	}
	if params == nil || len(params.List) <= at {
		return
	}
	if name := identifier(params.List[at].Target); name != "" {
		u.contexts[name] = true
	}
}

// use notes the uses of a node.
func (u *uses) use(node any) {
	switch n := node.(type) {
	case *ast.DotExpression:
		if of := u.of(n.Left); of != "" {
			u.add(of, n.Identifier.Name.String(), n.Identifier.Idx)
		}
	case *ast.CallExpression:
		dot := calledMember(n)
		if dot == nil {
			return
		}
		name, _ := text(argument(n, 0))
		switch method := dot.Identifier.Name.String(); {
		case method == "on" && name != "" && u.of(dot.Left) == "api":
			u.add("event", name, n.Idx0())
		case method == "registerTool", method == "defineTool":
			if o, ok := argument(n, 0).(*ast.ObjectLiteral); ok {
				u.tool(o)
			}
		}
	}
}

// tool notes the fields of a tool.
func (u *uses) tool(o *ast.ObjectLiteral) {
	for _, p := range o.Value {
		if k, ok := p.(*ast.PropertyKeyed); ok {
			if name, ok := text(k.Key); ok {
				u.add("tool", name, k.Key.Idx0())
			}
		}
	}
}

// of says what an expression is, "" for what is not known.
func (u *uses) of(v ast.Expression) string {
	switch e := v.(type) {
	case *ast.Identifier:
		name := e.Name.String()
		switch {
		case u.apis[name]:
			return "api"
		case u.contexts[name]:
			return "ctx"
		}
		return u.imports[name]
	case *ast.DotExpression:
		switch name := e.Identifier.Name.String(); name {
		case "ui", "sessionManager", "modelRegistry":
			if of := u.of(e.Left); of == "ctx" || of == "" && name != "ui" {
				return "ctx." + name
			} else if _, chained := e.Left.(*ast.DotExpression); chained && of == "" {
				return "ctx." + name // of a context that is kept somewhere
			}
		case "ctx":
			return "ctx"
		case "default":
			return u.imports[identifier(e.Left)]
		}
	case *ast.OptionalChain:
		return u.of(e.Expression)
	case *ast.Optional:
		return u.of(e.Expression)
	}
	return ""
}

func (u *uses) add(of, name string, at file.Idx) {
	pos := u.file.Position(int(at) - u.file.Base())
	if strings.HasPrefix(pos.Filename, "scorel:") || pos.Filename == "" {
		return
	}
	path := pos.Filename
	if rel, err := filepath.Rel(u.root, path); err == nil && filepath.IsLocal(rel) {
		path = filepath.ToSlash(rel)
	}
	use := Use{of, name, fmt.Sprintf("%s:%d", path, pos.Line)}
	if !u.seen[use] && len(u.found) < maxUses {
		u.seen[use] = true
		u.found = append(u.found, use)
	}
}

func identifier(v any) string {
	if id, ok := v.(*ast.Identifier); ok {
		return id.Name.String()
	}
	return ""
}

func text(v ast.Expression) (string, bool) {
	if s, ok := v.(*ast.StringLiteral); ok {
		return s.Value.String(), true
	}
	return "", false
}

func callOf(v ast.Expression) *ast.CallExpression {
	call, _ := v.(*ast.CallExpression)
	return call
}

// calledMember gives what a method call names; the bundler writes a call of an import as
// (0, module.name)(…).
func calledMember(call *ast.CallExpression) *ast.DotExpression {
	callee := call.Callee
	if s, ok := callee.(*ast.SequenceExpression); ok && len(s.Sequence) > 0 {
		callee = s.Sequence[len(s.Sequence)-1]
	}
	dot, _ := callee.(*ast.DotExpression)
	return dot
}

func argument(call *ast.CallExpression, at int) ast.Expression {
	if at < len(call.ArgumentList) {
		return call.ArgumentList[at]
	}
	return nil
}

// moduleOf gives the module that a function of the bundler requires.
func moduleOf(call *ast.CallExpression) string {
	o, ok := argument(call, 0).(*ast.ObjectLiteral)
	if !ok || len(o.Value) == 0 {
		return ""
	}
	if k, ok := o.Value[0].(*ast.PropertyKeyed); ok {
		if key, ok := text(k.Key); ok {
			module, _ := strings.CutPrefix(key, builtinKind+":")
			return module
		}
	}
	return ""
}
