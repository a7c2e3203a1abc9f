// Package workspace finds the workspace that a folder belongs to: the root of
// its Git repository, or the folder itself; and the folders above it in which a
// project's files may stand. It reads the repository's files and never runs Git,
// so that no hook or setting of a foreign repository acts. All functions may be
// called concurrently.
package workspace
