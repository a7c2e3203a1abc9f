// Package repository reads the files of Git repositories and never runs Git, so that
// no hook or setting of a foreign repository acts: which repository Git would use in a
// folder ([Discover]), whether a workspace owns it ([Owner]), and what a command has
// put into a repository that would have Git run programs ([Look]), which it sets aside.
//
// Where it cannot tell what Git would do it reports a foreign repository, never an own
// one. All functions may be called concurrently. Only [State.SetAside] changes anything,
// and only inside the folder of a repository.
package repository
