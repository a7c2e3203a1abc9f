// Package command has the slash commands that people type: templates in Markdown
// files with what stands for their arguments, and the registry in which commands of
// all sources get their names.
//
// A template is text that becomes a message. Its shell lines are run by the caller,
// which reports whether they may: the package starts nothing. All of it may be used by
// several goroutines at once.
package command
