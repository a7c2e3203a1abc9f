// Package asides knows the small files of a user's Scorel folder that were damaged and have
// been set aside, and what a person has to be told of each. Whoever finds the damage renames
// the file with [disk.SetAside]; here it is found by its name. Files of sessions are not
// among them: their sessions tell of those.
//
// Nothing is removed, and all functions may be called concurrently.
package asides
