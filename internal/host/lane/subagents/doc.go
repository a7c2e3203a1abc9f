// Package subagents knows the sub-agents of a session: its log tells when each begins to
// work and how it ended, a killed host's successor tells the model which were interrupted,
// and no more of them work at once than are allowed.
//
// [Runs] and [Places] may be used by any number of goroutines at once.
package subagents
