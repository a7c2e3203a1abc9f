// Package commands has the slash commands of the host, which mean the same for every
// client: the built-in ones, templates, skills and those of extensions, with the shell
// lines that templates have and the commands that people run themselves.
//
// A command acts once, also when the host is killed while it runs: that it begins is
// stored before, and what came of it after. [Commands] may be used by any number of
// goroutines at once.
package commands
