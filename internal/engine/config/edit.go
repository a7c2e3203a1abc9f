package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"scorel/internal/text/secret"
)

// maxValue bounds the text of a value that is set, in bytes.
const maxValue = 16 << 10

// Settable reports whether [Edit] takes a key: what may hold a secret or says where keys of
// models are sent, and lists of tables, are written by hand.
func (k Key) Settable() bool {
	for _, t := range table() {
		if t.Name == k.Name {
			return !t.secret && !k.byHand() && !k.leads()
		}
	}
	return false
}

// byHand reports whether a key is a list of tables, which decides what runs.
func (k Key) byHand() bool { return k.Type == "list of tables" }

// leads reports whether a key decides which server gets the key of a model: a client that
// may set it could have the key sent to a server of its own.
func (k Key) leads() bool {
	switch k.Name {
	case "models.<alias>.baseUrl", "models.<alias>.apiKeyEnv", "models.<alias>.provider",
		"model.baseUrl", "model.apiKeyEnv", "model.provider", "web.proxy", "search.baseUrl", "search.apiKeyEnv":
		return true
	}
	return false
}

// KeyOf returns the key of a dotted name, such as models.big.id for models.<alias>.id.
func KeyOf(name string) (Key, bool) {
	path, err := pathOf(name)
	if err != nil {
		return Key{}, false
	}
	k := lookup(table(), path)
	if k == nil {
		return Key{}, false
	}
	return k.Key, true
}

// Edit returns the user's file with another value of a key; all else of it, comments too,
// stays byte for byte. Value is TOML, or, where the key takes a text, that text without
// quotes; "" takes the key out. The error is a sentence: there is no such key or it is not
// settable, the value does not fit it or looks like a secret, or the file, before or after, is not a configuration.
func Edit(f File, name, value string) ([]byte, error) {
	path, err := pathOf(name)
	if err != nil {
		return nil, err
	}
	k := lookup(table(), path)
	switch {
	case k == nil:
		return nil, fmt.Errorf("there is no config key %.100q; docs/configuration.md lists all keys", name)
	case k.secret:
		return nil, fmt.Errorf("the config key %s may hold a secret, so it is written into %s by hand", dotted(path), f.Name)
	case k.leads():
		return nil, fmt.Errorf("the config key %s says where keys are sent, so it is written into %s by hand", dotted(path), f.Name)
	case k.byHand():
		return nil, fmt.Errorf("%s is written into %s by hand", dotted(path), f.Name)
	case holdsSecret(value):
		return nil, fmt.Errorf("the value for %s looks as if it holds a password or a key; /login in a session stores a key, and apiKeyEnv names the variable that has one", dotted(path))
	case len(value) > maxValue:
		return nil, fmt.Errorf("the value has %d bytes; use at most %d", len(value), maxValue)
	}
	before, err := parseTOML(f)
	if err != nil {
		return nil, err
	}
	if _, _, err := Parse(f, File{}, nil); err != nil {
		return nil, err
	}
	value = strings.TrimSpace(value)
	values := []string{value, quoted(value)}
	if value == "" {
		values = values[:1]
	} else if !isTOML(value) {
		values = values[1:]
	}
	var first error
	for _, v := range values {
		data, err := edited(f, before, path, v)
		if err == nil {
			return data, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// pathOf reads a dotted name.
func pathOf(name string) ([]string, error) {
	if strings.ContainsAny(name, "\r\n=#") || len(name) > 500 {
		return nil, fmt.Errorf("%.100q is not a config key", name)
	}
	entries, err := parseTOML(File{Name: "key", Data: []byte(name + " = 0")})
	if err != nil || len(entries) != 1 {
		return nil, fmt.Errorf("%.100q is not a config key", name)
	}
	return entries[0].path, nil
}

// isTOML reports whether a text is one TOML value on its own.
func isTOML(value string) bool {
	var tree map[string]any
	return toml.Unmarshal([]byte("v = "+value+"\n"), &tree) == nil && len(tree) == 1
}

// quoted writes a text as a TOML string of one line.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// errNotThere reports that a way to write a key does not fit the file.
var errNotThere = errors.New("the key cannot be written there")

// edited returns the file with the value as it is written, "" to take it out: in its place,
// else in its table, else in a table of its own.
func edited(f File, before []entry, path []string, value string) ([]byte, error) {
	doc := scanDocument(f.Data, path)
	if doc.key.from >= 0 {
		if value == "" {
			return checked(f, doc.without(), before, path, value)
		}
		return checked(f, splice(f.Data, doc.value, value), before, path, value)
	}
	if slices.ContainsFunc(before, func(e entry) bool { return slices.Equal(e.path, path) }) {
		return nil, fmt.Errorf("%s is inside another value in %s; change it there by hand", dotted(path), f.Name)
	}
	if value == "" {
		return f.Data, nil // it is not there
	}
	last := dotted(path[len(path)-1:]) + " = " + value + "\n"
	first := error(nil)
	for _, try := range []func() []byte{
		func() []byte { return doc.insert(doc.table, last) },
		func() []byte {
			if len(path) == 1 {
				return doc.insert(doc.root, last)
			}
			return nil
		},
		func() []byte {
			if len(path) == 1 {
				return nil
			}
			return doc.insert(len(f.Data), gap(f.Data)+"["+dotted(path[:len(path)-1])+"]\n"+last)
		},
		func() []byte { return doc.insert(doc.root, dotted(path)+" = "+value+"\n") },
	} {
		data := try()
		if data == nil {
			continue
		}
		out, err := checked(f, data, before, path, value)
		if err == nil {
			return out, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// gap is what is before a new table.
func gap(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	return "\n"
}

// checked returns data when it is a configuration in which only the key has changed.
func checked(f File, data []byte, before []entry, path []string, value string) ([]byte, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s would be larger than %d bytes", f.Name, MaxFile)
	}
	f.Data = data
	after, err := parseTOML(f)
	if err != nil {
		return nil, err
	}
	others := func(list []entry) map[string]any {
		out := map[string]any{}
		for _, e := range list {
			if !slices.Equal(e.path, path) && !emptyTable(e) {
				out[e.name()] = e.value
			}
		}
		return out
	}
	has := slices.ContainsFunc(after, func(e entry) bool { return slices.Equal(e.path, path) })
	if has != (value != "") || !reflect.DeepEqual(others(before), others(after)) {
		return nil, errNotThere
	}
	if _, _, err := Parse(f, File{}, nil); err != nil {
		return nil, err
	}
	return data, nil
}

// emptyTable reports whether an entry is a table in which nothing stands.
func emptyTable(e entry) bool {
	m, ok := e.value.(map[string]any)
	return ok && len(m) == 0
}

// span is a part of a document, from -1 for none.
type span struct{ from, to int }

func splice(data []byte, at span, text string) []byte {
	return slices.Concat(data[:at.from], []byte(text), data[at.to:])
}

// document is where a key is, or would.
type document struct {
	data  []byte
	key   span // with its value, to the end of that
	value span
	table int // after the last line of the key's table, -1 without one
	root  int // after the last line of the keys before the first table
}

// scanDocument looks for a key in a document that is valid. Keys inside of values are
// not found.
func scanDocument(data []byte, path []string) document {
	d := document{data: data, key: span{-1, -1}, table: -1}
	var p unstable.Parser
	p.Reset(data)
	var at []string
	inRoot, ours := true, len(path) == 1
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			at, inRoot = nil, false
			end := 0
			for it := n.Key(); it.Next(); {
				at = append(at, string(it.Node().Data))
				end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
			}
			if ours = n.Kind == unstable.Table && slices.Equal(at, path[:len(path)-1]); ours {
				d.table = d.lineEnd(end)
			}
		case unstable.KeyValue:
			here := slices.Clone(at)
			from, end := -1, 0
			for it := n.Key(); it.Next(); {
				k := it.Node()
				if from < 0 {
					from = int(k.Raw.Offset)
				}
				here = append(here, string(k.Data))
				end = int(k.Raw.Offset + k.Raw.Length)
			}
			value := d.valueAt(end)
			if slices.Equal(here, path) {
				d.key, d.value = span{from, value.to}, value
			}
			if ours && len(path) > 1 {
				d.table = d.lineEnd(value.to)
			}
			if inRoot {
				d.root = d.lineEnd(value.to)
			}
		}
	}
	return d
}

// lineEnd returns the place after the line in which at is.
func (d *document) lineEnd(at int) int {
	if i := bytes.IndexByte(d.data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.data)
}

// valueAt returns the value of the key that ends at a place.
func (d *document) valueAt(at int) span {
	at += bytes.IndexByte(d.data[at:], '=') + 1
	for at < len(d.data) && (d.data[at] == ' ' || d.data[at] == '\t') {
		at++
	}
	from, depth := at, 0
	for at < len(d.data) {
		switch c := d.data[at]; {
		case c == '"' || c == '\'':
			at = d.stringEnd(at)
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '#' && depth > 0:
			at = d.lineEnd(at)
			continue
		case (c == '#' || c == '\n' || c == '\r') && depth == 0:
			return span{from, from + len(bytes.TrimRight(d.data[from:at], " \t"))}
		}
		at++
	}
	return span{from, from + len(bytes.TrimRight(d.data[from:], " \t"))}
}

// stringEnd returns the place after the string that begins at a place.
func (d *document) stringEnd(at int) int {
	mark := d.data[at : at+1]
	if three := bytes.Repeat(mark, 3); bytes.HasPrefix(d.data[at:], three) {
		mark = three
	}
	for i := at + len(mark); i < len(d.data); i++ {
		switch {
		case d.data[i] == '\\' && mark[0] == '"':
			i++
		case bytes.HasPrefix(d.data[i:], mark):
			for i += len(mark); len(mark) == 3 && i < len(d.data) && d.data[i] == mark[0]; { // quotes before the end
				i++
			}
			return i
		}
	}
	return len(d.data)
}

// without returns the document without the line of the key.
func (d *document) without() []byte {
	from := bytes.LastIndexByte(d.data[:d.key.from], '\n') + 1
	return splice(d.data, span{from, d.lineEnd(d.key.to)}, "")
}

// insert returns the document with lines more at a place; nil for no place.
func (d *document) insert(at int, lines string) []byte {
	if at < 0 {
		return nil
	}
	if at > 0 && d.data[at-1] != '\n' {
		lines = "\n" + lines
	}
	return splice(d.data, span{at, at}, lines)
}

// holdsSecret reports whether a value seems to hold a secret: its text, or a text that it
// stands for as TOML.
func holdsSecret(value string) bool {
	var v struct{ V any }
	if toml.Unmarshal([]byte("v = "+value), &v) != nil {
		return secret.Looks(value)
	}
	var holds func(v any) bool
	holds = func(v any) bool {
		switch v := v.(type) {
		case string:
			return secret.Looks(v)
		case []any:
			return slices.ContainsFunc(v, holds)
		case map[string]any:
			for key, value := range v {
				if holds(value) || secret.Looks(fmt.Sprintf("%s = %v", key, value)) {
					return true
				}
			}
		}
		return false
	}
	return secret.Looks(value) || holds(v.V)
}
