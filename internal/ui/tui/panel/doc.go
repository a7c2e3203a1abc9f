// Package panel is what the slash commands of the terminal UI open: lists of sessions,
// models, settings, tasks, queued messages and branches, pages about the session and the
// host, and the questions that belong to them.
//
// Each panel is a type of its own beside what all of them work with, a [Base]. A panel asks
// the host through package link, shows what comes in an overlay, and returns what the loop
// of the UI is to run; it holds no more than what it shows. Panels belong to the goroutine
// of the UI.
package panel
