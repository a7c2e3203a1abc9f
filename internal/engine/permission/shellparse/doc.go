// Package shellparse takes a bash source apart into the simple commands that it can
// start, for permission rules. It runs, expands and reads nothing: what cannot
// be told from the text alone is marked, so that the caller can ask. Words that
// are certain are told from words that are not, and what bash would do beside
// starting commands (assignments, functions, arithmetic) is named.
//
// All functions are pure and may be called concurrently. None panics, whatever
// the source is.
package shellparse
