package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a form.
const (
	MaxFields       = 32       // of one form
	MaxFieldOptions = 100      // of one field
	MaxSchema       = 64 << 10 // bytes of its schema
	MaxURL          = 2048     // bytes of the address of a dialog
)

// FieldType says what the value of a field is.
type FieldType string

// The types of fields.
const (
	FieldText    FieldType = "text"    // a string
	FieldNumber  FieldType = "number"  // a number
	FieldInteger FieldType = "integer" // a whole number
	FieldBoolean FieldType = "boolean" // true or false
	FieldChoice  FieldType = "choice"  // one of the options
	FieldChoices FieldType = "choices" // a list of them, each once
)

// Field is one field of a form, in the order of its schema. Least and Most bound a number,
// the characters of a text, or how many options are picked; nil is no bound.
type Field struct {
	Name        string
	Title       string // the name, where the schema has none
	Description string
	Type        FieldType
	Format      string // of a text: email, uri, date, date-time or ""
	Required    bool
	Options     []FieldOption
	Least, Most *float64
	Default     json.RawMessage // nil is none
}

// FieldOption is a value that a field can have, and what people are shown for it.
type FieldOption struct{ Value, Title string }

// fieldSchema is the part of JSON Schema (2020-12) that a field may have: that of the form
// elicitation of the Model Context Protocol.
type fieldSchema struct {
	Type        string
	Title       string
	Description string
	Format      string
	Default     json.RawMessage
	MinLength   *float64
	MaxLength   *float64
	Minimum     *float64
	Maximum     *float64
	MinItems    *float64
	MaxItems    *float64
	Enum        []string
	EnumNames   []string
	OneOf       []titledConst
	AnyOf       []titledConst
	Items       *fieldSchema
}

type titledConst struct{ Const, Title string }

// Fields reads the schema of a form: an object with fields that are texts, numbers, truths
// or choices, and with no objects within. Other keywords of JSON Schema bind nobody who
// answers. The error says in one sentence what cannot be shown.
func Fields(schema json.RawMessage) ([]Field, error) {
	var form struct {
		Type       string
		Properties json.RawMessage
		Required   []string
	}
	if len(schema) > MaxSchema {
		return nil, fmt.Errorf("the schema of a form has at most %d bytes", MaxSchema)
	}
	if json.Unmarshal(schema, &form) != nil || form.Type != "object" {
		return nil, fmt.Errorf("the schema of a form is a JSON Schema of type object")
	}
	var all []Field
	var failed error
	seen := map[string]bool{}
	eachField(form.Properties, func(key, value []byte) {
		var name string
		if failed != nil || json.Unmarshal(append(append([]byte{'"'}, key...), '"'), &name) != nil {
			return
		}
		var f Field
		if f, failed = fieldOf(name, value); failed == nil && seen[name] {
			failed = fmt.Errorf("the field %.40q stands twice in the form", name)
		}
		seen[name] = true
		f.Required = slices.Contains(form.Required, name)
		all = append(all, f)
	})
	switch {
	case failed != nil:
		return nil, failed
	case len(all) == 0 || len(all) > MaxFields:
		return nil, fmt.Errorf("a form has 1 to %d fields", MaxFields)
	}
	for _, name := range form.Required {
		if !seen[name] {
			return nil, fmt.Errorf("the form requires %.40q, and has no such field", name)
		}
	}
	return all, nil
}

func fieldOf(name string, schema []byte) (Field, error) {
	var s fieldSchema
	if err := json.Unmarshal(schema, &s); err != nil {
		return Field{}, fmt.Errorf("the field %.40q of the form is no JSON Schema of a text, number, truth or choice", name)
	}
	f := Field{Name: name, Title: s.Title, Description: s.Description, Default: s.Default}
	if f.Title == "" {
		f.Title = name
	}
	switch {
	case s.Type == "string" && (len(s.Enum) > 0 || len(s.OneOf) > 0):
		f.Type, f.Options = FieldChoice, s.options(s.OneOf)
	case s.Type == "string":
		f.Type, f.Least, f.Most = FieldText, s.MinLength, s.MaxLength
		if slices.Contains([]string{"email", "uri", "date", "date-time"}, s.Format) {
			f.Format = s.Format
		}
	case s.Type == "number":
		f.Type, f.Least, f.Most = FieldNumber, s.Minimum, s.Maximum
	case s.Type == "integer":
		f.Type, f.Least, f.Most = FieldInteger, s.Minimum, s.Maximum
	case s.Type == "boolean":
		f.Type = FieldBoolean
	case s.Type == "array" && s.Items != nil:
		f.Type, f.Options, f.Least, f.Most = FieldChoices, s.Items.options(s.Items.AnyOf), s.MinItems, s.MaxItems
	default:
		return Field{}, fmt.Errorf("the field %.40q of the form has the type %.40q; it can be string, number, integer, boolean, or array of choices", name, s.Type)
	}
	choice := f.Type == FieldChoice || f.Type == FieldChoices
	switch {
	case name == "" || len(name) > MaxWord || len(f.Title) > MaxName || len(f.Description) > MaxAnswer:
		return Field{}, fmt.Errorf("a field of a form has a name of 1 to %d bytes, a title of %d and a description of %d", MaxWord, MaxName, MaxAnswer)
	case choice && (len(f.Options) == 0 || len(f.Options) > MaxFieldOptions):
		return Field{}, fmt.Errorf("the field %.40q of the form has 1 to %d options", name, MaxFieldOptions)
	case f.Default != nil && f.Check(f.Default) != nil:
		f.Default = nil // it could not be sent as it is
	}
	return f, nil
}

// options gives the values of an enum, with their titles.
func (s *fieldSchema) options(titled []titledConst) (all []FieldOption) {
	for _, o := range titled {
		all = append(all, FieldOption{o.Const, o.Title})
	}
	for i, value := range s.Enum {
		o := FieldOption{Value: value}
		if i < len(s.EnumNames) {
			o.Title = s.EnumNames[i]
		}
		all = append(all, o)
	}
	for i, o := range all {
		if o.Title == "" {
			all[i].Title = o.Value
		}
	}
	return all
}

// Check says in one sentence why a value is none of the field.
func (f *Field) Check(value json.RawMessage) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s "+format, append([]any{clip(f.Title)}, args...)...)
	}
	var text string
	switch f.Type {
	case FieldText:
		switch n := float64(0); {
		case json.Unmarshal(value, &text) != nil || bytes.Equal(value, []byte("null")):
			return wrong("is a text")
		case len(text) > MaxAnswer:
			return wrong("has at most %d bytes", MaxAnswer)
		default:
			n = float64(utf8.RuneCountInString(text))
			if f.Least != nil && n < *f.Least {
				return wrong("has at least %v characters", *f.Least)
			}
			if f.Most != nil && n > *f.Most {
				return wrong("has at most %v characters", *f.Most)
			}
		}
		if what := formatted(f.Format, text); what != "" {
			return wrong("is %s", what)
		}
	case FieldNumber, FieldInteger:
		var n float64
		switch whole := f.Type == FieldInteger; {
		case json.Unmarshal(value, &n) != nil || bytes.Equal(value, []byte("null")) || whole && n != math.Trunc(n):
			return wrong("is a %snumber", map[bool]string{true: "whole "}[whole])
		case f.Least != nil && n < *f.Least:
			return wrong("is at least %v", *f.Least)
		case f.Most != nil && n > *f.Most:
			return wrong("is at most %v", *f.Most)
		}
	case FieldBoolean:
		if s := string(value); s != "true" && s != "false" {
			return wrong("is true or false")
		}
	case FieldChoice:
		if json.Unmarshal(value, &text) != nil || !f.offers(text) {
			return wrong("is one of its options")
		}
	case FieldChoices:
		var many []string
		if json.Unmarshal(value, &many) != nil || many == nil {
			return wrong("is a list of its options")
		}
		for i, text := range many {
			if !f.offers(text) || slices.Contains(many[:i], text) {
				return wrong("is a list of its options, each once")
			}
		}
		switch n := float64(len(many)); {
		case f.Least != nil && n < *f.Least:
			return wrong("takes at least %v of its options", *f.Least)
		case f.Most != nil && n > *f.Most:
			return wrong("takes at most %v of its options", *f.Most)
		}
	}
	return nil
}

func (f *Field) offers(value string) bool {
	return slices.ContainsFunc(f.Options, func(o FieldOption) bool { return o.Value == value })
}

// Hint says in a few words what the value is, for somebody who types it.
func (f *Field) Hint() string {
	var hint string
	switch f.Type {
	case FieldText:
		if hint = "a line"; f.Format != "" {
			hint = map[string]string{"email": "an email address", "uri": "an address", "date": "a date, such as 2026-01-31", "date-time": "a date with its time, such as 2026-01-31T12:00:00Z"}[f.Format]
		}
	case FieldNumber:
		hint = "a number"
	case FieldInteger:
		hint = "a whole number"
	case FieldBoolean:
		hint = "y or n"
	case FieldChoice:
		hint = "a number or an option"
	case FieldChoices:
		hint = "numbers or options, with commas"
	}
	switch {
	case f.Default != nil:
		hint += fmt.Sprintf("; an empty line is %.200s", f.Default)
	case !f.Required:
		hint += "; an empty line leaves it out"
	}
	return hint
}

// Read gives the value that a line of text means for a field; nil leaves it out, which
// only one that is not required may be.
func (f *Field) Read(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		switch {
		case f.Default != nil:
			return f.Default, nil
		case f.Required && (f.Type != FieldText || f.Format != "" || f.Least != nil && *f.Least > 0):
			return nil, fmt.Errorf("%s must be given", clip(f.Title))
		case !f.Required:
			return nil, nil
		}
	}
	var value any
	switch f.Type {
	case FieldText:
		if value = text; f.Format != "" {
			value = trimmed
		}
	case FieldNumber, FieldInteger:
		value = json.RawMessage(trimmed)
	case FieldBoolean:
		switch strings.ToLower(trimmed) {
		case "y", "yes", "true":
			value = true
		case "n", "no", "false":
			value = false
		default:
			return nil, fmt.Errorf("%s is yes or no", clip(f.Title))
		}
	case FieldChoice:
		one, err := f.option(trimmed)
		if err != nil {
			return nil, err
		}
		value = one
	case FieldChoices:
		many := []string{}
		for part := range strings.SplitSeq(trimmed, ",") {
			one, err := f.option(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			many = append(many, one)
		}
		value = many
	}
	data, err := marshal(value)
	if err != nil { // what was typed is no JSON
		return nil, fmt.Errorf("%s is a number", clip(f.Title))
	}
	return data, f.Check(data)
}

// option gives the value that a text names: by itself, its title or its number from 1.
func (f *Field) option(text string) (string, error) {
	for i, o := range f.Options {
		if text == o.Value || text == o.Title || text == fmt.Sprint(i+1) {
			return o.Value, nil
		}
	}
	return "", fmt.Errorf("%s has no option %.40q", clip(f.Title), text)
}

// formatted says what a text is not that has a format, "" when it fits.
func formatted(format, text string) string {
	switch format {
	case "email":
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return "an email address"
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return "an address, with its scheme"
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "a date, such as 2026-01-31"
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return "a date with its time, such as 2026-01-31T12:00:00Z"
		}
	}
	return ""
}

// checkForm says why a value is no answer to a form: an object with the values of its
// fields, of which those that are not required may be missing.
func (d *Dialog) checkForm(value json.RawMessage) error {
	fields, err := Fields(d.Schema)
	if err != nil {
		return Errorf(CodeInvalidRequest, "The form cannot be read (%v); answer with null.", err)
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(value, &given) != nil || given == nil || len(value) > MaxEdited {
		return Errorf(CodeInvalidRequest, "The value of the answer is an object with the fields of the form; or false, or null.")
	}
	for _, f := range fields {
		v, ok := given[f.Name]
		delete(given, f.Name)
		switch {
		case !ok && f.Required:
			return About("value."+f.Name, "", CodeInvalidRequest, "The form needs the field %s.", clip(f.Name))
		case !ok:
			continue
		}
		if err := f.Check(v); err != nil {
			return About("value."+f.Name, "", CodeInvalidRequest, "The answer does not fit: %v.", err)
		}
	}
	for name := range given {
		return Errorf(CodeInvalidRequest, "The form has no field %.40q.", name)
	}
	return nil
}

// checkURL says in one sentence why people cannot be asked to open an address.
func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || len(address) > MaxURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || line("url", address) != nil {
		return Errorf(CodeInvalidRequest, "The address to open is an http or https URL of at most %d bytes, without a name and password.", MaxURL)
	}
	return nil
}
