// Package settings reads what a user and a project have set: configuration, rules,
// projects, keys, agents, and the folders that may be worked in. It reads files again each
// time, so that a change counts from the next message on; what a project sets counts only
// as far as its files are trusted.
//
// [Settings] holds no state of its own and may be used by any number of goroutines at
// once. It knows no session, and opens none.
package settings
