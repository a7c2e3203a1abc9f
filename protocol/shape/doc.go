// Package shape says what is wrong with a JSON object that is to be read into a Go struct, in
// people's words: that it is not JSON, that a value does not fit its field, that a member is not
// known or missing. It knows nothing of what the struct is for.
//
// What it reads off a type it keeps. Its functions may be called concurrently and keep nothing
// of the data.
package shape

// Fault is what is wrong: Field is the path of the field as it is written, "" for the whole
// object, and Text one sentence about it.
type Fault struct {
	Field string
	Text  string
}
