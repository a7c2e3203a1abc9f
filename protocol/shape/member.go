package shape

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"scorel/protocol/jsonscan"
	"slices"
	"strings"
	"sync"
)

// Own is a type that reads its JSON itself.
type Own interface {
	// JSONForm returns the struct that it reads.
	JSONForm() reflect.Type
	// SentMembers returns the names that an object may have that a client sends, nil when
	// that is judged elsewhere.
	SentMembers(object map[string]json.RawMessage) []string
}

// member is a member of a JSON object that a type reads.
type member struct {
	name string
	typ  reflect.Type
}

// knownMembers are those of each struct, read off the types once.
var knownMembers sync.Map // reflect.Type → []member

// membersOf returns the members of the JSON object that a struct reads, in the order of
// its fields.
func membersOf(t reflect.Type) []member {
	if known, ok := knownMembers.Load(t); ok {
		return known.([]member)
	}
	form := t
	if own, ok := reflect.Zero(t).Interface().(Own); ok {
		form = own.JSONForm()
	}
	var all []member
	for i := range form.NumField() {
		f := form.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			all = append(all, membersOf(f.Type)...)
		case name != "" && name != "-":
			all = append(all, member{name, f.Type})
		}
	}
	knownMembers.Store(t, all)
	return all
}

// Names returns the names of the members of the JSON object that a struct reads, in
// the order of its fields. v points to the struct.
func Names(v any) (names []string) {
	for _, m := range membersOf(reflect.TypeOf(v).Elem()) {
		names = append(names, m.name)
	}
	return names
}

// Repeated returns the first member of the JSON object data, which is valid, that stands there
// twice; nil when none does. Readers of JSON differ in which of the two counts, so none does.
func Repeated(at string, data []byte) (fault *Fault) {
	seen := map[string]bool{}
	jsonscan.Fields(data, func(key, _ []byte) {
		if fault == nil && seen[string(key)] {
			name := at + jsonscan.CutName(string(key))
			fault = &Fault{name, fmt.Sprintf("The field %s is there twice; send it once.", name)}
		}
		seen[string(key)] = true
	})
	return fault
}

// Unknown returns the first member of the JSON object data that the struct to which
// v points does not have, or that stands there twice ([Repeated]), in the object itself or in
// one within it; nil when there is none.
// What names the object in the sentence. Top are the names that the object itself may
// have. A value of another form than it should is left to [Misfit].
//
// A host refuses such a request, whatever way it came: a misspelt deny or noNetwork that
// were ignored would start a turn without them. The sentence also fits a client that is
// newer than its host.
func Unknown(what string, data []byte, v any, top []string) *Fault {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return nil
	}
	if p := Repeated("", data); p != nil {
		return p
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(top, name) {
			return unknown("", name, what, top)
		}
	}
	return within("", object, reflect.TypeOf(v).Elem())
}

// within is Unknown of the values of an object.
func within(at string, object map[string]json.RawMessage, t reflect.Type) *Fault {
	for _, m := range membersOf(t) {
		if raw, ok := object[m.name]; ok {
			if p := unknownIn(at+m.name, raw, m.typ); p != nil {
				return p
			}
		}
	}
	return nil
}

// unknownIn is Unknown of one value.
func unknownIn(at string, raw json.RawMessage, t reflect.Type) *Fault {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		var all []json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return nil
		}
		for i, one := range all {
			if p := unknownIn(fmt.Sprintf("%s[%d]", at, i), one, t.Elem()); p != nil {
				return p
			}
		}
	case t.Kind() == reflect.Struct:
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		if p := Repeated(at+".", raw); p != nil {
			return p
		}
		names := Names(reflect.New(t).Interface())
		if own, ok := reflect.Zero(t).Interface().(Own); ok {
			if names = own.SentMembers(object); names == nil {
				return nil
			}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if !slices.Contains(names, name) {
				return unknown(at+".", name, at, names)
			}
		}
		return within(at+".", object, t)
	}
	return nil
}

// unknown is the problem of a member that is not known.
func unknown(at, name, where string, known []string) *Fault {
	name = jsonscan.CutName(name)
	return &Fault{at + name, fmt.Sprintf("This host does not know the field %q of %s; it knows %s.", name, where, strings.Join(known, ", "))}
}
