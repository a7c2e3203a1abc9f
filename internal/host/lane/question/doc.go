// Package question asks the people who are attached to a session: whether a call may run,
// what a model or an extension wants to know, whether a plan is right. Each question is
// resolved once, by the first answer; that of a sub-agent is shown in the sessions above
// it as well, and answered in any of them.
//
// [Questions] may be used by any number of goroutines at once. The lock of the journal
// guards them; who waits for an answer holds no lock. Questions are not stored: what was
// answered is, by who asked.
package question
