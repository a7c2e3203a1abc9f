// Package config reads, merges, checks and writes configurations of MCP servers: the
// files of Scorel, of a project and of other programs.
//
// A file or entry that is wrong becomes a [Fault] with file and line, and the rest
// counts. An [Entry] is what was written; variables are replaced only by
// [Entry.Expand], in a copy, so that nothing of the environment is in what is shown,
// stored or asked. Of a project's entry only variables that the caller allows are
// replaced, and those that hold keys of providers never.
//
// Everything is bounded. Functions may be called concurrently, those that write also
// from several processes. The package starts nothing and connects to nothing.
package config
