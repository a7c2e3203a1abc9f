// Package rules keeps the permission rules that a person answered "always", by
// project, in one file: ~/.scorel/rules.json. Loading and adding do input and
// output; nothing here judges. One process changes the file at a time: the
// caller holds its lock.
package rules
