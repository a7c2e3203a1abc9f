package connect

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"encoding/json"
)

// maxEffort bounds the number of schemas that are tried when an input is checked.
const maxEffort = 100_000

// errEndless refuses a schema that is never done with a value.
var errEndless = errors.New("its schema refers to itself without an end")

// effort counts how many schemas one value meets at most: a schema applies others to the
// same value by references and by allOf, anyOf and the like, and twenty lines of that can
// mean a million.
type effort struct {
	root  any
	known map[string]int // by the place of a schema; -1 while it is being counted
	err   error
}

// effortOf returns the largest count of all schemas in a schema.
func effortOf(root any) (int, error) {
	e := &effort{root: root, known: map[string]int{}}
	most := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			most = max(most, e.count(v, at))
			for key, value := range v {
				walk(value, at+"/"+key)
			}
		case []any:
			for i, value := range v {
				walk(value, at+"/"+strconv.Itoa(i))
			}
		}
	}
	walk(root, "#")
	return most, e.err
}

// count counts a schema with what it applies to the same value.
func (e *effort) count(v any, at string) int {
	object, ok := v.(map[string]any)
	if !ok {
		return 1
	}
	if n, ok := e.known[at]; ok {
		if n < 0 {
			e.err = errEndless
			return 1
		}
		return n
	}
	e.known[at] = -1
	sum := 1
	add := func(v any, at string) { sum = min(sum+e.count(v, at), maxEffort+1) }
	for key, value := range object {
		here := at + "/" + key
		switch key {
		case "$ref", "$dynamicRef":
			if to, place, ok := e.find(value); ok {
				add(to, place)
			}
		case "not", "if", "then", "else":
			add(value, here)
		case "allOf", "anyOf", "oneOf":
			list, _ := value.([]any)
			for i, one := range list {
				add(one, here+"/"+strconv.Itoa(i))
			}
		case "dependentSchemas":
			named, _ := value.(map[string]any)
			for name, one := range named {
				add(one, here+"/"+name)
			}
		}
	}
	e.known[at] = sum
	return sum
}

// find returns what a reference within the schema leads to, and its place.
func (e *effort) find(ref any) (v any, at string, ok bool) {
	text, _ := ref.(string)
	pointer, inside := strings.CutPrefix(text, "#")
	if !inside {
		return nil, "", false
	}
	if pointer != "" && pointer[0] != '/' {
		return anchor(e.root, "#", pointer)
	}
	v, at = e.root, "#"
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch from := v.(type) {
		case map[string]any:
			v, ok = from[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(from); ok {
				v = from[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, "", false
		}
		at += "/" + step
	}
	return v, at, true
}

// anchor finds the schema with a name of its own.
func anchor(v any, at, name string) (any, string, bool) {
	switch v := v.(type) {
	case map[string]any:
		if v["$anchor"] == name || v["$dynamicAnchor"] == name {
			return v, at, true
		}
		for key, value := range v {
			if to, place, ok := anchor(value, at+"/"+key, name); ok {
				return to, place, true
			}
		}
	case []any:
		for i, value := range v {
			if to, place, ok := anchor(value, at+"/"+strconv.Itoa(i), name); ok {
				return to, place, true
			}
		}
	}
	return nil, "", false
}

// fits reports whether a check of an input ends soon. A schema that applies itself twice to
// each part of a value doubles the effort with each level of the input.
func fits(perValue int, in json.RawMessage) bool {
	total, depth := 1, deep(in)
	for range depth {
		if total *= perValue; total > maxEffort {
			return false
		}
	}
	return total*(1+bytes.Count(in, []byte(","))) <= 10*maxEffort
}

// deep returns how many objects and arrays stand within each other; those in strings count
// too.
func deep(in json.RawMessage) int {
	now, most := 0, 1
	for _, c := range in {
		switch c {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		}
	}
	return most
}
