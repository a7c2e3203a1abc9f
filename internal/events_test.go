package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

// behaviours are the functions outside package protocol that switch over types of stored
// events besides messages, with what they do. None of them says how an event looks: that is said beside its
// type ([protocol.EventSpec]), and in package display for those whose shape is not data.
var behaviours = map[string]string{
	"internal/ui/line/view.go: event":               "which ids to type, whose turn it is, what waits",
	"internal/ui/line/process.go: workedOf":         "where the log of what a call reported is",
	"internal/ui/follow/activity.go: event":         "what still belongs to a turn",
	"internal/ui/headless/text.go: Event":           "what goes to which stream",
	"internal/ui/headless/result.go: event":         "the result of a run",
	"internal/engine/export/event.go: event":        "the parts of a message, and what belongs to a call",
	"internal/engine/export/source.go: control":     "names, denials and the system prompt of a page",
	"internal/extension/events.go: event":           "the events of the extension API",
	"internal/extension/mirror.go: add":             "the entries of the extension API",
	"internal/extension/mirror.go: list":            "the messages that extensions give back",
	"internal/host/lane/title.go: named":            "whether a session has a name",
	"internal/host/lane/bridge.go: gatesEffect":     "what is on disk before an effect",
	"internal/host/publish/publisher.go: changes":   "which lists of sessions are read again",
	"internal/host/library/usage.go: getUsage":      "the model that used what is counted",
	"internal/engine/session/load.go: parseMove":    "what the fold of a log reads",
	"internal/engine/skill/index.go: Fold":          "the skill index",
	"internal/ui/tui/conversation/arrive.go: event": "the state around the conversation",
	"internal/ui/tui/transcript/events.go: of":      "the parts of a message, and what belongs to a call",
	"internal/ui/tui/tree/node.go: nodeOf":          "where a person can go, in lines of a word or two",
}

// messageBody is the type of a message, of which every client knows the parts.
const messageBody = "MessageBody"

// TestOnlyPackageDisplaySaysHowStoredEventsLook holds that a switch over types of stored
// events is only in package display and where a client or host does something with them,
// so that a new type is shown everywhere without a change.
func TestOnlyPackageDisplaySaysHowStoredEventsLook(t *testing.T) {
	stored := map[string]bool{}
	for _, s := range protocol.EventSpecs() {
		if name := strings.TrimPrefix(fmt.Sprintf("%T", s.New()), "*protocol."); s.Class != protocol.Transient && name != messageBody {
			stored[name] = true
		}
	}
	found := map[string]bool{}
	root := ".."
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name == "third_party" || name == "protocol" || strings.HasPrefix(d.Name(), ".") && name != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			where := name + ": " + fn.Name.Name
			if types := switched(fn, stored); len(types) > 0 {
				found[where] = true
				if behaviours[where] == "" {
					t.Errorf("%s switches over %s; how an event is shown is said by its spec in package protocol", where, strings.Join(types, ", "))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where := range behaviours {
		if !found[where] {
			t.Errorf("%s is named here, and has no switch over types of stored events", where)
		}
	}
}

// switched returns the types of stored events over which a function switches.
func switched(fn *ast.FuncDecl, stored map[string]bool) (types []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, e := range clause.List { // a type, or the constant of its name
			if star, ok := e.(*ast.StarExpr); ok {
				e = star.X
			}
			sel, ok := e.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			name := strings.TrimPrefix(sel.Sel.Name, "Type")
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "protocol" && stored[name] && !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
		return true
	})
	return types
}
