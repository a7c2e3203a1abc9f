// Package automation is what a host does by itself: it makes the runs of schedules when they
// are due, sends their messages, follows the turns that these begin, and holds to the limits
// of the configuration.
//
// A run is stored, with its session, before anything is done for it, together with the instant
// up to which its schedule is settled; its message names the run as its cause, so that it is in
// the log once, whatever kills the host in between ([Automation.begin]). One goroutine decides
// what is due ([Automation.loop]); each run that works has one of its own.
//
// Package store has the file, and what may follow what.
package automation
