package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// entry is one key that a file sets.
type entry struct {
	path   []string
	value  any // string, int64, float64, bool, []any, or a map for an empty table
	line   int
	source Source
	key    *key
}

// name writes the path as TOML would, with dots between the parts.
func (e entry) name() string { return dotted(e.path) }

func dotted(path []string) string {
	var b strings.Builder
	for i, part := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		if bareKey(part) {
			b.WriteString(part)
		} else {
			b.WriteString(strconv.Quote(part))
		}
	}
	return b.String()
}

func bareKey(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// parseTOML reads the leaves of a file, in the order of their lines.
func parseTOML(f File) ([]entry, error) {
	f.Data = bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf")) // some editors write a byte order mark
	var tree map[string]any
	if err := toml.Unmarshal(f.Data, &tree); err != nil {
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			line, _ := bad.Position()
			return nil, fmt.Errorf("the configuration is not valid TOML: %s (%s:%d)", printable(strings.TrimPrefix(bad.Error(), "toml: ")), f.Name, line)
		}
		return nil, fmt.Errorf("the configuration is not valid TOML: %w (%s)", err, f.Name)
	}
	lines := keyLines(f.Data)
	var out []entry
	var walk func(path []string, table map[string]any)
	walk = func(path []string, table map[string]any) {
		for name, value := range table {
			here := append(slices.Clip(path), name)
			if sub, ok := value.(map[string]any); ok && len(sub) > 0 {
				walk(here, sub)
				continue
			}
			out = append(out, entry{path: here, value: value, line: lines[dotted(here)]})
		}
	}
	walk(nil, tree)
	slices.SortFunc(out, func(a, b entry) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return strings.Compare(a.name(), b.name())
	})
	return out, nil
}

// printable takes from a message what a hostile file could put into it to steer a
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, s)
}

// keyLines gives the line of every key and table of a document that is known to
// be valid.
func keyLines(data []byte) map[string]int {
	lines := map[string]int{}
	p := &unstable.Parser{}
	p.Reset(data)
	var table []string
	note := func(path []string, line int) {
		for i := range path {
			if name := dotted(path[:i+1]); lines[name] == 0 {
				lines[name] = line
			}
		}
	}
	var keyValue func(base []string, n *unstable.Node)
	keyValue = func(base []string, n *unstable.Node) {
		path, line := keyOf(p, base, n)
		note(path, line)
		if v := n.Value(); v.Kind == unstable.InlineTable {
			for it := v.Children(); it.Next(); {
				keyValue(path, it.Node())
			}
		}
	}
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, line := keyOf(p, nil, n)
			table = path
			note(path, line)
		case unstable.KeyValue:
			keyValue(table, n)
		}
	}
	return lines
}

func keyOf(p *unstable.Parser, base []string, n *unstable.Node) (path []string, line int) {
	path = slices.Clone(base)
	for it := n.Key(); it.Next(); {
		k := it.Node()
		path = append(path, string(k.Data))
		if line == 0 {
			line = p.Shape(k.Raw).Start.Line
		}
	}
	return path, line
}
