package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
)

// maxUses bounds what [Uses] finds.
const maxUses = 10_000

// Use is a name of the API that a bundle uses. Of says of what it is: "api" of the object
// that an extension's function is given, "ctx", "ctx.ui", "ctx.sessionManager" and
// "ctx.modelRegistry" of the context of a handler, "event" for one that it listens to,
// "tool" for a field of a tool, "option" for an option of a built-in tool (its Name is
// that of the function and the key, as createBashTool.spawnHook), "provider" for a field
// of a provider, "tui" of the screen that the factory of a component is given, else the
// module that it is imported from.
type Use struct {
	Of    string `json:"of"`
	Name  string `json:"name"`
	Place string `json:"place"` // file:line
}

// Uses returns the uses of a bundle, each once, in the order of its code. What the code
// reaches in another way than by name is not found.
func Uses(b *Bundle, root string) ([]Use, error) {
	tree, err := goja.Parse(b.Name, string(b.Code), parser.WithSourceMapLoader(func(string) ([]byte, error) {
		return nil, errors.New("a bundle has no other source map than its own")
	}))
	if err != nil {
		return nil, err
	}
	u := &uses{root: root, file: tree.File, seen: map[Use]bool{}, requires: map[string]string{}, imports: map[string]string{},
		apis: map[string]bool{"pi": true}, contexts: map[string]bool{"ctx": true}, screens: map[string]bool{}, bound: map[string]int{}, handlers: map[ast.Expression]int{}, aliases: map[string]ast.Expression{}}
	walk(reflect.ValueOf(tree), u.declare)
	walk(reflect.ValueOf(tree), u.use)
	return u.found, nil
}

// uses collects.
type uses struct {
	root     string
	file     *file.File
	requires map[string]string         // modules by the function that the bundler makes for each
	imports  map[string]string         // and by the variable that holds one
	apis     map[string]bool           // names of the extension API
	contexts map[string]bool           // and of contexts
	screens  map[string]bool           // and of the screens of components
	bound    map[string]int            // how often a name is bound
	aliases  map[string]ast.Expression // what variables are made of, by their names
	handlers map[ast.Expression]int    // where the parameter of functions is that is their context
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
		u.alias(n.Target, n.Initializer)
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
		case "custom", "setWidget", "setFooter", "setHeader", "setEditorComponent":
			for _, arg := range n.ArgumentList {
				if params := parameters(arg); params != nil && len(params.List) > 0 {
					if name := identifier(params.List[0].Target); name != "" {
						u.screens[name] = true
					}
				}
			}
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
	params := parameters(v)
	if params == nil || len(params.List) <= at {
		return
	}
	u.handlers[v] = at
	if name := identifier(params.List[at].Target); name != "" {
		u.contexts[name] = true
	} else {
		u.taken(params.List[at].Target, context)
	}
}

// parameters returns those of a function, nil for what is none.
func parameters(v ast.Expression) *ast.ParameterList {
	switch f := v.(type) {
	case *ast.ArrowFunctionLiteral:
		return f.ParameterList
	case *ast.FunctionLiteral:
		return f.ParameterList
	}
	return nil
}

// context stands for the context of a handler whose parameter has no name.
var context = &ast.Identifier{Name: "ctx"}

// alias notes what variables stand for: that of a binding, and those that are taken out of
// an object.
func (u *uses) alias(target ast.Expression, of ast.Expression) {
	if name := identifier(target); name != "" {
		u.bound[name]++
		u.aliases[name] = of
		return
	}
	u.taken(target, of)
}

// taken notes the variables that a pattern takes out of an object.
func (u *uses) taken(target ast.Expression, of ast.Expression) {
	for _, m := range members(target) {
		if name := identifier(m.as); name != "" {
			u.bound[name]++
			u.aliases[name] = &ast.DotExpression{Left: of, Identifier: ast.Identifier{Name: unistring.NewFromString(m.name)}}
		} else if m.as != nil && of != nil {
			u.taken(m.as, &ast.DotExpression{Left: of, Identifier: ast.Identifier{Name: unistring.NewFromString(m.name)}})
		}
	}
}

// member is one that a pattern takes, or that an object has: its name, and what it is
// called or is.
type member struct {
	name string
	as   ast.Expression
	at   file.Idx
}

// members returns the members that are named in a pattern or in an object.
func members(v ast.Expression) []member {
	var list []ast.Property
	switch o := v.(type) {
	case *ast.ObjectPattern:
		list = o.Properties
	case *ast.ObjectLiteral:
		list = o.Value
	}
	var found []member
	for _, p := range list {
		switch p := p.(type) {
		case *ast.PropertyShort:
			found = append(found, member{p.Name.Name.String(), &p.Name, p.Name.Idx})
		case *ast.PropertyKeyed:
			if name, ok := text(p.Key); ok && !p.Computed {
				as := p.Value
				if with, ok := as.(*ast.AssignExpression); ok { // with a default
					as = with.Left
				}
				found = append(found, member{name, as, p.Key.Idx0()})
			}
		}
	}
	return found
}

// aliased returns what a name stands for where it is bound once, nil for what is not known.
func (u *uses) aliased(name string) ast.Expression {
	if u.bound[name] != 1 {
		return nil
	}
	return u.aliases[name]
}

// destructured notes the members that are taken out of something known.
func (u *uses) destructured(target, from ast.Expression) {
	if _, ok := target.(*ast.ObjectPattern); !ok || from == nil {
		return
	}
	of := u.of(from)
	for _, m := range members(target) {
		if of != "" {
			u.add(of, m.name, m.at)
		}
		u.destructured(m.as, &ast.DotExpression{Left: from, Identifier: ast.Identifier{Name: unistring.NewFromString(m.name)}})
	}
}

// object returns the object that an expression is, also by the name of a variable.
func (u *uses) object(v ast.Expression) *ast.ObjectLiteral {
	if name := identifier(v); name != "" {
		v = u.aliased(name)
	}
	o, _ := v.(*ast.ObjectLiteral)
	return o
}

// options notes the options of a built-in tool, or of a list of them by their names.
func (u *uses) options(maker string, v ast.Expression, depth int) {
	o := u.object(v)
	if o == nil || depth > 1 {
		return
	}
	for _, m := range members(o) {
		u.add("option", maker+"."+m.name, m.at)
		u.options(maker, m.as, depth+1)
	}
}

// use notes the uses of a node.
func (u *uses) use(node any) {
	switch n := node.(type) {
	case *ast.DotExpression:
		if of := u.of(n.Left); of != "" {
			u.add(of, n.Identifier.Name.String(), n.Identifier.Idx)
		}
	case *ast.Binding:
		u.destructured(n.Target, n.Initializer)
	case *ast.AssignExpression:
		u.destructured(n.Left, n.Right)
	case *ast.ArrowFunctionLiteral:
		u.context(n, n.ParameterList)
	case *ast.FunctionLiteral:
		u.context(n, n.ParameterList)
	case *ast.CallExpression:
		dot := calledMember(n)
		if dot == nil {
			return
		}
		name, _ := text(argument(n, 0))
		switch method := dot.Identifier.Name.String(); {
		case method == "on" && name != "" && u.of(dot.Left) == "api":
			u.add("event", name, n.Idx0())
		case builtinTool.MatchString(method) && u.of(dot.Left) != "":
			u.options(method, argument(n, 1), 0)
		case method == "registerProvider" && u.of(dot.Left) == "api":
			for _, m := range members(u.object(argument(n, 1))) {
				u.add("provider", m.name, m.at)
			}
		case method == "registerTool", method == "defineTool":
			if o, ok := argument(n, 0).(*ast.ObjectLiteral); ok {
				u.tool(o)
			}
		}
	}
}

// builtinTool is what the functions are called that give built-in tools.
var builtinTool = regexp.MustCompile(`^create\w+Tools?(Definition)?$`)

// context notes the members that a function takes out of its context.
func (u *uses) context(f ast.Expression, params *ast.ParameterList) {
	if at, ok := u.handlers[f]; ok && len(params.List) > at {
		u.destructured(params.List[at].Target, context)
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
		case u.screens[name]:
			return "tui"
		case u.imports[name] != "":
			return u.imports[name]
		}
		return u.ofAlias(name)
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
		case "tui":
			if _, this := e.Left.(*ast.ThisExpression); this && len(u.screens) > 0 {
				return "tui" // that a component keeps
			}
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

// ofAlias says what a variable is that was made of something known.
func (u *uses) ofAlias(name string) string {
	v := u.aliased(name)
	switch v.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.OptionalChain:
	default:
		return ""
	}
	u.bound[name]++ // it is not made of itself
	defer func() { u.bound[name]-- }()
	return u.of(v)
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

// calledMember returns what a method call names; the bundler writes a call of an import as
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

// moduleOf returns the module that a function of the bundler requires.
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
