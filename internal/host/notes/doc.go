// Package notes has the notes of projects that sessions are told of: clients read and add
// to them, and those of days are brought together by the auxiliary model when nobody works
// in the project, where the user wants that.
//
// [Notes] may be used by any number of goroutines at once.
package notes
