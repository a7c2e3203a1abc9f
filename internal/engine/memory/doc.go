// Package memory keeps notes that outlive a session: the user's, a project's, and a
// project's daily ones. They are Markdown files below ~/.scorel/memory that a person
// may read and edit at any time:
//
//	MEMORY.md                                 the user's, for all projects
//	projects/<key>/MEMORY.md                  of a project
//	projects/<key>/daily/2026-11-20.md        of a day
//	projects/<key>/daily/archive/             daily notes that were consolidated
//	projects/<key>/MEMORY.md.previous         as it was before the last consolidation
//	requests.json                             the last requests that added notes, so that a repeat adds none
//
// A change is made under a lock that all processes share, to the file as it is at that
// moment, and replaces it whole or not at all; it is durable when it has been told of.
// Nothing is ever deleted. A [Store] may be used by several goroutines at once. It
// never asks a model: who consolidates brings the summary.
package memory
