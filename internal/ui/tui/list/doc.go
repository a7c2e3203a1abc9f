// Package list is a picker: rows of things of which a person picks one or several,
// finds one by typing, looks into it, renames, deletes or reorders it. Sessions,
// models, commands, extensions, tasks and queues are shown with it.
//
// A [List] does no I/O and belongs to one goroutine. It draws only the rows that are
// seen, whatever their number. What it wants done comes back as an [Outcome], and what
// it wants to know as [Wants].
//
// Texts of an [Item] may come from anywhere: they are made safe to show. The lines of a
// preview are drawn as they are.
package list
