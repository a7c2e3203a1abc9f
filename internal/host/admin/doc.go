// Package admin is what people set up and look after: configuration, keys, models,
// projects and what they are trusted with, entries, agents, skills, folders, and the
// checks of scorel doctor.
//
// [Admin] keeps nothing in memory but how many models are being tested, and may be used by
// any number of goroutines at once.
package admin
