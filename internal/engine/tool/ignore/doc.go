// Package ignore tells which files of a folder are left out of a search: the rules of
// .gitignore, .ignore, .rgignore and info/exclude, with the force that ripgrep gives them.
//
// It reads ignore files of anybody, bounded, and fits no rule that it cannot parse. Levels do
// not change, so several goroutines may use one at once.
package ignore
