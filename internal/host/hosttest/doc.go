// Package hosttest drives whole hosts for the tests of this folder's packages: a [World]
// is a home, a project, a host and a model server that speaks a vendor's format and judges
// requests as the vendor does; an [Entry] is a client with a session open. It is not part
// of the program.
package hosttest
