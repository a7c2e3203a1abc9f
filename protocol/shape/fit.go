package shape

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"scorel/protocol/jsonscan"
	"slices"
	"strings"
	"sync"
)

// demand is a field of a request that must be there, because leaving it out would
// mean something: its zero value is a value like any other.
type demand struct {
	name     string
	nullable bool // null is a value of it
}

// demands are the fields of each type of request that must be there. They are read
// off the types once.
var demands sync.Map // reflect.Type → []demand

// demandsOf returns the fields that must be in a request: those that are always
// written, which are those whose tag has no omitempty. Of an object within, its own
// fields say what is needed.
func demandsOf(t reflect.Type) []demand {
	if known, ok := demands.Load(t); ok {
		return known.([]demand)
	}
	var all []demand
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.Struct || slices.Contains(strings.Split(options, ","), "omitempty") {
			continue
		}
		kind := f.Type.Kind()
		all = append(all, demand{name, kind == reflect.Pointer || kind == reflect.Slice})
	}
	demands.Store(t, all)
	return all
}

// Lacks returns the first field that the JSON object data must have for the struct
// to which v points, because leaving it out would mean something, and that it has not; nil
// when it has all. What names the object in the sentence. Data is valid JSON.
func Lacks(what string, data []byte, v any) *Fault {
	needed := demandsOf(reflect.TypeOf(v).Elem())
	if len(needed) == 0 {
		return nil
	}
	const there, null = 1, 2
	found := make([]int, len(needed))
	jsonscan.Fields(data, func(key, value []byte) {
		for i := range needed {
			if string(key) != needed[i].name {
				continue
			}
			if found[i] = there; string(value) == "null" {
				found[i] = null
			}
		}
	})
	for i, d := range needed {
		switch {
		case found[i] == 0:
			return &Fault{d.name, fmt.Sprintf("%s needs the field %s.", what, d.name)}
		case found[i] == null && !d.nullable:
			return &Fault{d.name, fmt.Sprintf("The field %s of %s is null; it needs a value.", d.name, what)}
		}
	}
	return nil
}

// Misfit returns in people's words why data is not a JSON object for the struct or map to
// which v points: which field, what it is and what it should be. Err is what json.Unmarshal
// has said. What names the object in the sentence.
func Misfit(err error, what string, data []byte, v any) *Fault {
	if !json.Valid(data) {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset > 0 && syntax.Offset < int64(len(data)) {
			return &Fault{"", fmt.Sprintf("The %s is not valid JSON: something is wrong at byte %d of %d.", what, syntax.Offset, len(data))}
		}
		return &Fault{"", fmt.Sprintf("The %s is not valid JSON: it ends too early.", what)}
	}
	if !jsonscan.IsObject(data) {
		return &Fault{"", fmt.Sprintf("The %s is not a JSON object.", what)}
	}
	if path, err := unfit("", data, reflect.TypeOf(v).Elem()); err != nil && path != "" {
		return &Fault{path, fmt.Sprintf("The field %s of the %s does not fit: %s.", path, what, why(err, path))}
	}
	return &Fault{"", fmt.Sprintf("The %s has another form than it should.", what)}
}

// unfit returns the path of the innermost value that does not fit its type, and what
// json.Unmarshal says of it; the error is nil when all fit. Types that read themselves do
// not know in which field they are: each value is tried alone.
func unfit(at string, raw json.RawMessage, t reflect.Type) (string, error) {
	err := json.Unmarshal(raw, reflect.New(t).Interface())
	if err == nil {
		return "", nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		var all []json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			break
		}
		for i, one := range all {
			if path, err := unfit(fmt.Sprintf("%s[%d]", at, i), one, t.Elem()); err != nil {
				return path, err
			}
		}
	case t.Kind() == reflect.Struct:
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			break
		}
		if at != "" {
			at += "."
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			for _, m := range membersOf(t) {
				if !strings.EqualFold(m.name, key) { // as json.Unmarshal compares them
					continue
				}
				if path, err := unfit(at+jsonscan.CutName(key), object[key], m.typ); err != nil {
					return path, err
				}
			}
		}
		at = strings.TrimSuffix(at, ".")
	}
	return at, err
}

// why returns what is wrong with the value of a field.
func why(err error, name string) string {
	var wrong *json.UnmarshalTypeError
	var encoding base64.CorruptInputError
	switch {
	case errors.As(err, &wrong):
		value, _, _ := strings.Cut(wrong.Value, " ")
		where := "it "
		if wrong.Field != "" && wrong.Field != name {
			where = "in it " + jsonscan.CutName(wrong.Field) + " "
		}
		is := map[string]string{"string": "a text", "number": "a number", "object": "an object", "array": "a list", "bool": "true or false"}[value]
		if is == "" {
			is = "something else"
		}
		needs := kindWords(wrong.Type)
		if is == needs || value == "number" && strings.HasSuffix(needs, "number") {
			is = "a number that does not fit"
		}
		return fmt.Sprintf("%sis %s and should be %s", where, is, needs)
	case errors.As(err, &encoding):
		return "it is not base64"
	}
	return "it has another form than it should"
}

// kindWords returns what a type is in JSON.
func kindWords(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindWords(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a text in base64"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64, reflect.Float32:
		return "a number"
	}
	return "a whole number"
}
