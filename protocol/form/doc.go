// Package form is what people are asked for in a form: its fields, read from the part of JSON
// Schema (2020-12) that the form elicitation of the Model Context Protocol has. It says what a
// line of text means for a field, and why a value does not fit. All functions are pure.
package form
