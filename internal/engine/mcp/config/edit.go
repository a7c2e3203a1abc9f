package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// errEdit reports that an edit would have changed something else.
var errEdit = errors.New("the file is written in a way that cannot be changed here; change it by hand")

// edit returns a document in which the value at a path is another one, nil for none. All
// else, comments and order too, stays byte for byte. A missing path is made. The error
// is a sentence, or a *syntaxError.
func edit(data []byte, path []string, value any) ([]byte, error) {
	root, err := objectOf(data)
	if err != nil {
		return nil, err
	}
	if root == nil { // empty, or comments alone
		if value == nil {
			return data, nil
		}
		if data = append(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), '{', '}', '\n'); len(data) > 3 && data[len(data)-4] != '\n' {
			data = slices.Insert(data, len(data)-3, '\n')
		}
		if root, err = objectOf(data); err != nil {
			return nil, err
		}
	}
	want, _ := plain(root).(map[string]any)
	if err := place(want, path, value); err != nil {
		return nil, err
	}
	out, err := write(data, root, path, value)
	if err != nil {
		return nil, err
	}
	if len(out) > MaxFile {
		return nil, fmt.Errorf("the file would be larger than %d bytes", MaxFile)
	}
	after, err := objectOf(out)
	if err != nil || !reflect.DeepEqual(plain(after), any(want)) {
		return nil, errEdit
	}
	return out, nil
}

// place makes the edit in a plain value, to compare with.
func place(at map[string]any, path []string, value any) error {
	for _, key := range path[:len(path)-1] {
		sub, there := at[key]
		next, ok := sub.(map[string]any)
		if there && !ok {
			return fmt.Errorf("%s is not an object; repair the file by hand", quote(key))
		}
		if !there {
			if value == nil {
				return nil
			}
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	last := path[len(path)-1]
	if value == nil {
		delete(at, last)
		return nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	n, err := parseJSON(data)
	if err != nil {
		return err
	}
	at[last] = plain(n)
	return nil
}

// plain returns a value in Go's terms; numbers as they are written.
func plain(n *node) any {
	if n == nil {
		return map[string]any{}
	}
	switch n.kind {
	case '{':
		m := map[string]any{}
		for _, x := range n.members {
			m[x.key] = plain(x.value)
		}
		return m
	case '[':
		l := []any{}
		for _, x := range n.items {
			l = append(l, plain(x))
		}
		return l
	case '"':
		return n.text
	case 'd':
		return json.Number(n.text)
	case 't':
		return n.yes
	}
	return nil
}

// write makes the edit in the text.
func write(data []byte, root *node, path []string, value any) ([]byte, error) {
	at := root
	for i, key := range path[:len(path)-1] {
		next := at.get(key)
		if next == nil {
			if value == nil {
				return data, nil
			}
			for _, inner := range slices.Backward(path[i+1:]) {
				value = map[string]any{inner: value}
			}
			return insert(data, at, key, value)
		}
		at = next
	}
	last := path[len(path)-1]
	if value == nil {
		i := slices.IndexFunc(at.members, func(m member) bool { return m.key == last })
		if i < 0 {
			return data, nil
		}
		data = remove(data, at, i)
		again, err := objectOf(data) // the key may be there more than once
		if err != nil {
			return nil, errEdit
		}
		return write(data, again, path, nil)
	}
	if old := at.get(last); old != nil {
		text, err := render(value, indentOf(data, old.from))
		return slices.Concat(data[:old.from], text, data[old.to:]), err
	}
	return insert(data, at, last, value)
}

// insert adds a member at the end of an object.
func insert(data []byte, n *node, key string, value any) ([]byte, error) {
	name, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	if len(n.members) == 0 {
		outer := indentOf(data, n.from)
		text, err := render(value, outer+unit(outer))
		end := "\n" + outer
		if bytes.ContainsRune(data[n.from:n.to], '\n') {
			end = ""
		}
		return slices.Concat(data[:n.from+1], []byte("\n"+outer+unit(outer)+string(name)+": "), text, []byte(end), data[n.from+1:]), err
	}
	last := n.members[len(n.members)-1]
	indent, sep := indentOf(data, last.from), " "
	if first, own := lineStart(data, last.from); own {
		sep = "\n" + string(data[first:last.from])
	}
	text, err := render(value, indent)
	return slices.Concat(data[:last.value.to], []byte(","+sep+string(name)+": "), text, data[last.value.to:]), err
}

// remove takes a member out, with its line when it has that for itself, and the comma that
// separated it.
func remove(data []byte, n *node, i int) []byte {
	m := n.members[i]
	from, to, comma := m.from, m.value.to, -1
	if at := commaAfter(data, to); at >= 0 {
		to = at + 1
	} else if i > 0 {
		comma = commaAfter(data, n.members[i-1].value.to)
	}
	end := to
	for end < len(data) && (data[end] == ' ' || data[end] == '\t' || data[end] == '\r') {
		end++
	}
	if start, own := lineStart(data, from); own && end < len(data) && data[end] == '\n' {
		from, to = start, end+1
	}
	if comma >= 0 {
		return slices.Concat(data[:comma], data[comma+1:from], data[to:])
	}
	return slices.Concat(data[:from], data[to:])
}

// commaAfter returns the place of the comma after white space and comments, -1 for none.
func commaAfter(data []byte, at int) int {
	p := &parser{data: data, at: at, line: 1}
	if c, err := p.peek(); err == nil && c == ',' {
		return p.at
	}
	return -1
}

// lineStart returns where the line of a place begins, and whether only white space is
// before it there.
func lineStart(data []byte, at int) (int, bool) {
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return start, start > 0 && len(bytes.TrimLeft(data[start:at], " \t")) == 0
}

// indentOf returns the white space that the line of a place begins with.
func indentOf(data []byte, at int) string {
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	line := data[start:at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func unit(indent string) string {
	if strings.HasPrefix(indent, "\t") {
		return "\t"
	}
	return "  "
}

func render(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, unit(indent))
	err := enc.Encode(value)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
