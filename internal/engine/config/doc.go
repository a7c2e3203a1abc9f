// Package config reads config.toml of the user and of a project. One table
// ([Keys]) lists every key that exists, with its type, its default and who may
// set it; a key that is not in the table is refused by one rule. A project's
// file can only tighten: permissions.ask and permissions.deny always count, a
// closed list of choices when the user trusts the file, and everything else in it
// is ignored with a notice. The caller reports whether it is trusted, of the very
// bytes that it hands over.
//
// The package reads the two files and nothing else: no environment, no folders.
// It writes nothing. A Config is plain data.
package config
