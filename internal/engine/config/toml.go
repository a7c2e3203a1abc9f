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
	items  *itemLines // of a [[list]]
}

// itemLines are the lines of the tables of [[lists]], and of their keys.
type itemLines struct {
	of map[string]int // list#i, and list#i.key
}

// lineOf returns the line of a key of the table at i of a list, that of the table for
// no key, and that of the list where these are not known.
func (e entry) lineOf(i int, key string) int {
	if e.items != nil {
		for _, name := range []string{itemName(e.name(), i) + "." + key, itemName(e.name(), i)} {
			if line := e.items.of[name]; line > 0 {
				return line
			}
		}
	}
	return e.source.Line
}

func itemName(list string, i int) string { return list + "#" + strconv.Itoa(i) }

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
	lines, items, err := keyLines(f)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := toml.Unmarshal(f.Data, &tree); err != nil {
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			line, _ := bad.Position()
			return nil, fmt.Errorf("the configuration is not valid TOML: %s (%s:%d)", printable(strings.TrimPrefix(bad.Error(), "toml: ")), f.Name, line)
		}
		return nil, fmt.Errorf("the configuration is not valid TOML: %w (%s)", err, f.Name)
	}
	var out []entry
	var walk func(path []string, table map[string]any)
	walk = func(path []string, table map[string]any) {
		for name, value := range table {
			here := append(slices.Clip(path), name)
			if sub, ok := value.(map[string]any); ok && len(sub) > 0 {
				walk(here, sub)
				continue
			}
			out = append(out, entry{path: here, value: value, line: lines[dotted(here)], items: items})
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

// Bounds of a file beside its size. Paths of many parts and many keys cost far
// more than their bytes, and a project's file is read before anybody trusts it.
const (
	maxParts = 16   // of a key with those of its tables
	maxKeys  = 5000 // keys and tables, with those around them
)

// Bounded returns what a file has too much of to be a configuration, nil when
// nothing. It is cheap, whatever the file holds.
func Bounded(f File) error {
	_, _, err := keyLines(f)
	return err
}

// keyLines returns the line of every key and table of a document, as far as it is
// valid. It fails for one that is over the bounds.
func keyLines(f File) (map[string]int, *itemLines, error) {
	l := &keyScan{lines: map[string]int{}, items: itemLines{map[string]int{}}, count: map[string]int{}, file: f}
	for i, c := range f.Data {
		if c == '\n' {
			l.ends = append(l.ends, i)
		}
	}
	l.parser.Reset(f.Data)
	var table []string
	for l.err == nil && l.parser.NextExpression() {
		l.line = 0
		switch n := l.parser.Expression(); n.Kind {
		case unstable.Table:
			table, l.item = l.key(nil, n), ""
		case unstable.ArrayTable:
			table = l.key(nil, n)
			name := dotted(table)
			l.item = itemName(name, l.count[name])
			l.count[name]++
			l.items.of[l.item] = l.line
		case unstable.KeyValue:
			l.keyValue(table, n)
		}
	}
	return l.lines, &l.items, l.err
}

// keyScan notes where the keys of a document stand.
type keyScan struct {
	file   File
	parser unstable.Parser
	ends   []int // of lines
	lines  map[string]int
	items  itemLines
	count  map[string]int // tables of each list so far
	item   string         // the table of a list in which the keys stand, "" for none
	line   int            // of the expression's first key
	noted  int
	err    error
}

func (l *keyScan) keyValue(table []string, n *unstable.Node) {
	path := l.key(table, n)
	if l.item != "" && len(path) > len(table) {
		if name := l.item + "." + dotted(path[len(table):]); l.items.of[name] == 0 {
			l.items.of[name] = l.line
		}
	}
	l.value(path, n.Value())
}

// value looks for keys inside a value.
func (l *keyScan) value(path []string, v *unstable.Node) {
	if v.Kind != unstable.InlineTable && v.Kind != unstable.Array {
		return
	}
	for it := v.Children(); l.err == nil && it.Next(); {
		if v.Kind == unstable.InlineTable {
			l.keyValue(path, it.Node())
		} else {
			l.value(path, it.Node())
		}
	}
}

// key returns the path of a key below a table, and notes the lines of its parts.
func (l *keyScan) key(table []string, n *unstable.Node) []string {
	path, line := slices.Clone(table), 0
	for it := n.Key(); l.err == nil && it.Next(); {
		k := it.Node()
		if line == 0 {
			line, _ = slices.BinarySearch(l.ends, int(k.Raw.Offset))
			line++
			if l.line == 0 {
				l.line = line
			}
		}
		path = append(path, string(k.Data))
		if l.noted++; l.noted > maxKeys || len(path) > maxParts {
			l.err = fmt.Errorf("the configuration has more than %d keys, or a key of more than %d parts (%s:%d)", maxKeys, maxParts, l.file.Name, line)
		}
	}
	for i := range path {
		if name := dotted(path[:i+1]); l.err == nil && l.lines[name] == 0 {
			l.lines[name] = line
		}
	}
	return path
}
