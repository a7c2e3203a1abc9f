// Package prompt builds the system prompt of a session: the baseline, the
// environment, the user's own words, the instruction files of the project and
// a summary of its top level, each with its source. It is built once, before the
// first user message, and frozen in the log.
//
// The same configuration and the same files give the same bytes. Text of a
// project is data that a stranger may have written: it is bounded, cleaned of
// control characters, marked as the project's, and cannot close the marks that
// it is in. Files are not followed through symlinks out of their tree, and
// folders that others can write are not searched.
package prompt
