// Package tasks ties the background commands of a session to its log: what they have to
// tell the model enters at step boundaries, their ends are told once on each path of the
// conversation, and what a killed host has left in the middle of is told by the next one.
//
// [Tasks] may be used by any number of goroutines at once. The commands themselves are a
// [background.Set], whose own lock may be taken with the journal locked.
package tasks
