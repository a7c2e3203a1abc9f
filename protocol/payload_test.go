package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// writtenByOthers are the fields in which whatever is called blob is somebody else's
// word and no name of a payload.
var writtenByOthers = map[string]string{
	"Block.Input":            "a model's",
	"ProviderData.Data":      "a vendor's",
	"ChannelInject.Metadata": "a channel's",
	"Message.Process":        "a summary of counts and texts",
}

// everyPersistentType returns the types whose constants are in the source, so that none
// can be forgotten here.
func everyPersistentType(t *testing.T) (out []EventType) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "EventType" {
					continue
				}
				name := EventType(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
				switch body := newBody(name); {
				case body == nil:
					t.Errorf("the type %s has no body", name)
				case body.class() != Transient:
					out = append(out, name)
				}
			}
		}
	}
	if len(out) < 18 {
		t.Fatalf("only %d types were found", len(out))
	}
	return out
}

// namer fills values with names of payloads, and notes those that are to be found.
type namer struct {
	n    int
	want []string
}

func (n *namer) next() string {
	n.n++
	sum := sha256.Sum256([]byte(fmt.Sprint(n.n)))
	return hex.EncodeToString(sum[:])
}

func (n *namer) wanted() string {
	s := n.next()
	n.want = append(n.want, s)
	return s
}

// fill sets each field below v that names, or may name, a payload.
func (n *namer) fill(t *testing.T, v reflect.Value, field string) {
	if raw, ok := v.Addr().Interface().(*json.RawMessage); ok {
		if writtenByOthers[field] != "" {
			*raw = json.RawMessage(fmt.Sprintf(`{"blob":%q}`, n.next()))
			return
		}
		*raw = json.RawMessage(fmt.Sprintf(`{"a":[{"blob":%q}],"fullBlob":%q,"sha256":%q}`, n.wanted(), n.wanted(), n.next()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if _, name, _ := strings.Cut(field, "."); strings.HasSuffix(strings.ToLower(name), "blob") {
			v.SetString(n.wanted())
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		n.fill(t, v.Elem(), field)
	case reflect.Slice:
		if strings.Contains(strings.ToLower(field), "blob") && v.Type().Elem().Kind() == reflect.String {
			t.Errorf("%s is a list of payloads: say here how it is filled", field)
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		n.fill(t, v.Index(0), field)
		n.fill(t, v.Index(1), field)
	case reflect.Map, reflect.Interface, reflect.Array:
		t.Errorf("%s is a %s, in which payloads would not be found", field, v.Kind())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				n.fill(t, v.Field(i), v.Type().Name()+"."+f.Name)
			}
		}
	}
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func TestEveryFieldOfAnEventThatNamesAPayloadIsDeclared(t *testing.T) {
	for _, typ := range everyPersistentType(t) {
		n := &namer{}
		body := newBody(typ)
		n.fill(t, reflect.ValueOf(body).Elem(), "")
		if got := NewEvent(body).Payloads(); !same(got, n.want) {
			t.Errorf("a %s event names %d payloads, and %d are declared", typ, len(n.want), len(got))
		}
	}
}

func TestPayloadsAreFoundInTheLineOfEachKindOfMessage(t *testing.T) {
	for _, role := range []Role{RoleUser, RoleAssistant, RoleToolResult, RoleInternal} {
		n := &namer{}
		m := Message{Role: role, Content: []Block{}}
		for _, typ := range []BlockType{BlockText, BlockThinking, BlockImage, BlockFile, BlockToolUse} {
			b := Block{Type: typ, ID: "c", Name: "n", Input: json.RawMessage(`{"blob":"` + n.next() + `"}`), Blob: n.wanted()}
			m.Content = append(m.Content, b, b)
		}
		if role == RoleToolResult {
			m.Details = json.RawMessage(`{"exitCode":0,"fullBlob":"` + n.wanted() + `"}`)
		}
		for _, body := range []Body{&MessageBody{m}, &CustomMessage{Kind: "k", Message: m}} {
			ev := sample(body.EventType(), rand.NewChaCha8([32]byte{1}))
			ev.Body = body
			line, err := ev.AppendLine(nil)
			if err != nil {
				t.Fatal(err)
			}
			read, err := ParseEvent(line)
			if err != nil {
				t.Fatal(err)
			}
			if got := read.Payloads(); !same(got, n.want) {
				t.Errorf("%s by %s: %q, want %q", ev.Type, role, got, n.want)
			}
		}
	}
}

func TestPayloadsOfWhatIsNotKnownAreThoseThatAreCalledSo(t *testing.T) {
	a, b, c := strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64)
	for line, want := range map[string][]string{
		`{"type":"hologram","id":"evt_0000000000000001","parentId":null,"seq":1,"blob":"` + a + `","x":[{"smallBlob":"` + b + `","sha256":"` + c + `"}]}`:               {a, b},
		`{"type":"message","id":"evt_0000000000000001","parentId":null,"seq":1,"message":{"role":"user","content":[{"type":"video","frames":[{"blob":"` + a + `"}]}]}}`: {a},
		`{"type":"custom","id":"evt_0000000000000001","parentId":null,"seq":1,"control":true,"kind":"k","data":{"blob":"` + strings.ToUpper(a) + `","fullBlob":7}}`:     nil,
	} {
		e, err := ParseEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Payloads(); !slices.Equal(got, want) {
			t.Errorf("%s names %q, want %q", line, got, want)
		}
	}
	if got := PayloadsMentioned([]byte(a + `{"blob":"` + b + `" broken ` + c + "0" + `,"x":` + c)); !slices.Equal(got, []string{a, b, c}) {
		t.Errorf("damaged bytes mention %q", got)
	}
	n := &named{}
	for i := range 3 * maxNamedSlice {
		n.add(fmt.Sprintf("%064x", i%(2*maxNamedSlice)))
	}
	if len(n.list) != 2*maxNamedSlice {
		t.Errorf("%d of %d payloads are named once", len(n.list), 2*maxNamedSlice)
	}
}
