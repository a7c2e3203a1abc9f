// Package exit says with which code a command ends. Scripts depend on the codes: they are
// in the manual page and never change.
//
// An error carries its code: one made with [Usagef] is a wrong command line, and what a
// host refuses has the code of its kind (see [Code]).
package exit
