package form

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

	"scorel/protocol/jsonscan"
)

// Bounds of a form, in bytes where nothing else is said.
const (
	MaxFields       = 32       // of one form
	MaxFieldOptions = 100      // of one field
	MaxSchema       = 64 << 10 // of its schema
	maxName         = 64       // of the name of a field
	maxTitle        = 1000
	maxText         = 4 << 10 // of a description, and of an answer
)

// Type returns what the value of a field is.
type Type string

// The types of fields.
const (
	Text    Type = "text"    // a string
	Number  Type = "number"  // a number
	Integer Type = "integer" // a whole number
	Boolean Type = "boolean" // true or false
	Choice  Type = "choice"  // one of the options
	Choices Type = "choices" // a list of them, each once
)

// Field is one field of a form, in the order of its schema. Least and Most bound a number,
// the characters of a text, or how many options are picked; nil is no bound.
type Field struct {
	Name        string
	Title       string // the name, where the schema has none
	Description string
	Type        Type
	Format      string // of a text: email, uri, date, date-time or ""
	Required    bool
	Options     []Option
	Least, Most *float64
	Default     json.RawMessage // nil is none
}

// Option is a value that a field can have, and what people are shown for it.
type Option struct{ Value, Title string }

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
	jsonscan.Fields(form.Properties, func(key, value []byte) {
		var name string
		if failed != nil || json.Unmarshal(append(append([]byte{'"'}, key...), '"'), &name) != nil {
			return
		}
		var f Field
		if f, failed = fieldOf(name, value); failed == nil && seen[name] {
			failed = fmt.Errorf("the form has the field %.40q twice", name)
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
		return Field{}, fmt.Errorf("the field %.40q of the form is not a JSON Schema of a text, number, truth or choice", name)
	}
	f := Field{Name: name, Title: s.Title, Description: s.Description, Default: s.Default}
	if f.Title == "" {
		f.Title = name
	}
	switch {
	case s.Type == "string" && (len(s.Enum) > 0 || len(s.OneOf) > 0):
		f.Type, f.Options = Choice, s.options(s.OneOf)
	case s.Type == "string":
		f.Type, f.Least, f.Most = Text, s.MinLength, s.MaxLength
		if slices.Contains([]string{"email", "uri", "date", "date-time"}, s.Format) {
			f.Format = s.Format
		}
	case s.Type == "number":
		f.Type, f.Least, f.Most = Number, s.Minimum, s.Maximum
	case s.Type == "integer":
		f.Type, f.Least, f.Most = Integer, s.Minimum, s.Maximum
	case s.Type == "boolean":
		f.Type = Boolean
	case s.Type == "array" && s.Items != nil:
		f.Type, f.Options, f.Least, f.Most = Choices, s.Items.options(s.Items.AnyOf), s.MinItems, s.MaxItems
	default:
		return Field{}, fmt.Errorf("the field %.40q of the form has the type %.40q; it can be string, number, integer, boolean, or array of choices", name, s.Type)
	}
	choice := f.Type == Choice || f.Type == Choices
	switch {
	case name == "" || len(name) > maxName || len(f.Title) > maxTitle || len(f.Description) > maxText:
		return Field{}, fmt.Errorf("a field of a form has a name of 1 to %d bytes, a title of %d and a description of %d", maxName, maxTitle, maxText)
	case choice && (len(f.Options) == 0 || len(f.Options) > MaxFieldOptions):
		return Field{}, fmt.Errorf("the field %.40q of the form has 1 to %d options", name, MaxFieldOptions)
	case f.Default != nil && f.Check(f.Default) != nil:
		f.Default = nil // it could not be sent as it is
	}
	return f, nil
}

// options returns the values of an enum, with their titles.
func (s *fieldSchema) options(titled []titledConst) (all []Option) {
	for _, o := range titled {
		all = append(all, Option{o.Const, o.Title})
	}
	for i, value := range s.Enum {
		o := Option{Value: value}
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
	switch f.Type {
	case Text:
		return f.checkText(value)
	case Number, Integer:
		return f.checkNumber(value)
	case Boolean:
		if s := string(value); s != "true" && s != "false" {
			return f.wrong("is true or false")
		}
	case Choice:
		var text string
		if json.Unmarshal(value, &text) != nil || !f.offers(text) {
			return f.wrong("is one of its options")
		}
	case Choices:
		return f.checkChoices(value)
	}
	return nil
}

// wrong is the error that the field is something else.
func (f *Field) wrong(format string, args ...any) error {
	return fmt.Errorf("%s "+format, append([]any{clip(f.Title)}, args...)...)
}

// bounded returns an error where n is out of the bounds of the field; the formats say the
// lower and the upper one.
func (f *Field) bounded(n float64, least, most string) error {
	switch {
	case f.Least != nil && n < *f.Least:
		return f.wrong(least, *f.Least)
	case f.Most != nil && n > *f.Most:
		return f.wrong(most, *f.Most)
	}
	return nil
}

func (f *Field) checkText(value json.RawMessage) error {
	var text string
	switch {
	case json.Unmarshal(value, &text) != nil || isNull(value):
		return f.wrong("is a text")
	case len(text) > maxText:
		return f.wrong("has at most %d bytes", maxText)
	}
	if err := f.bounded(float64(utf8.RuneCountInString(text)), "has at least %v characters", "has at most %v characters"); err != nil {
		return err
	}
	if what := formatted(f.Format, text); what != "" {
		return f.wrong("is %s", what)
	}
	return nil
}

func (f *Field) checkNumber(value json.RawMessage) error {
	var n float64
	whole := f.Type == Integer
	if json.Unmarshal(value, &n) != nil || isNull(value) || whole && n != math.Trunc(n) {
		return f.wrong("is a %snumber", map[bool]string{true: "whole "}[whole])
	}
	return f.bounded(n, "is at least %v", "is at most %v")
}

func (f *Field) checkChoices(value json.RawMessage) error {
	var many []string
	if json.Unmarshal(value, &many) != nil || many == nil {
		return f.wrong("is a list of its options")
	}
	for i, text := range many {
		if !f.offers(text) || slices.Contains(many[:i], text) {
			return f.wrong("is a list of its options, each once")
		}
	}
	return f.bounded(float64(len(many)), "takes at least %v of its options", "takes at most %v of its options")
}

func isNull(value json.RawMessage) bool { return bytes.Equal(value, []byte("null")) }

func (f *Field) offers(value string) bool {
	return slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value })
}

// Hint says in a few words what the value is, for somebody who types it.
func (f *Field) Hint() string {
	var hint string
	switch f.Type {
	case Text:
		if hint = "a line"; f.Format != "" {
			hint = map[string]string{"email": "an email address", "uri": "an address", "date": "a date, such as 2026-01-31", "date-time": "a date with its time, such as 2026-01-31T12:00:00Z"}[f.Format]
		}
		if bounds := f.bounds("of"); bounds != "" {
			hint += " " + bounds + " characters"
		}
	case Number:
		hint = strings.TrimSpace("a number " + f.bounds("from"))
	case Integer:
		hint = strings.TrimSpace("a whole number " + f.bounds("from"))
	case Boolean:
		hint = "y or n"
	case Choice:
		hint = "a number or an option"
	case Choices:
		hint = "numbers or options, with commas"
		if bounds := f.bounds(""); bounds != "" {
			hint += ", " + strings.TrimPrefix(bounds, "of ") + " of them"
		}
	}
	switch {
	case f.Default != nil:
		hint += fmt.Sprintf("; an empty line is %.200s", f.Default)
	case !f.Required:
		hint += "; an empty line leaves it out"
	}
	return hint
}

// bounds says what the number, or how many characters or options, may be, "" for anything.
// word comes before two bounds.
func (f *Field) bounds(word string) string {
	switch {
	case f.Least != nil && f.Most != nil && *f.Least == *f.Most:
		return fmt.Sprintf("exactly %v", *f.Least)
	case f.Least != nil && f.Most != nil:
		return strings.TrimSpace(fmt.Sprintf("%s %v to %v", word, *f.Least, *f.Most))
	case f.Least != nil:
		return fmt.Sprintf("of at least %v", *f.Least)
	case f.Most != nil:
		return fmt.Sprintf("of at most %v", *f.Most)
	}
	return ""
}

// Read returns the value that a line of text means for a field; nil leaves it out, which
// only one that is not required may be.
func (f *Field) Read(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		switch {
		case f.Default != nil:
			return f.Default, nil
		case f.Required:
			return nil, fmt.Errorf("%s must be given", clip(f.Title))
		}
		return nil, nil
	}
	var value any
	switch f.Type {
	case Text:
		if value = text; f.Format != "" {
			value = trimmed
		}
	case Number, Integer:
		value = json.RawMessage(trimmed)
	case Boolean:
		switch strings.ToLower(trimmed) {
		case "y", "yes", "true":
			value = true
		case "n", "no", "false":
			value = false
		default:
			return nil, fmt.Errorf("%s is yes or no", clip(f.Title))
		}
	case Choice:
		one, err := f.option(trimmed)
		if err != nil {
			return nil, err
		}
		value = one
	case Choices:
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
	data, err := encode(value)
	if err != nil { // what was typed is not JSON
		return nil, fmt.Errorf("%s is a number", clip(f.Title))
	}
	return data, f.Check(data)
}

// option returns the value that a text names: by itself, its title or its number from 1.
func (f *Field) option(text string) (string, error) {
	for i, o := range f.Options {
		if text == o.Value || text == o.Title || text == fmt.Sprint(i+1) {
			return o.Value, nil
		}
	}
	return "", fmt.Errorf("%s has no option %.40q", clip(f.Title), text)
}

// formatted returns what a text is not that has a format, "" when it fits.
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

// encode is json.Marshal without escapes for HTML.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// clip shortens what is shown in a sentence.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}
