// Package hostinfo is what the terminal UI knows of the host around the session: the
// project, the configuration, the models, the branch of Git; and from these and the
// session which model, thinking level and permission mode are in force.
//
// An [Info] belongs to the goroutine of the UI. What is not known yet reads as "" or nil;
// the status line shows less then.
package hostinfo
