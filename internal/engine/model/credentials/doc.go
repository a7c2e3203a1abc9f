// Package credentials keeps the keys of model providers that were entered in
// Scorel, in ~/.scorel/credentials.json (mode 0600). Tools cannot read the file and
// no child gets a key of it.
//
// A file may be read and changed by several processes at once: each change is made
// under the lock beside it and replaces it whole. A damaged file is an error that
// names it and quotes nothing; it is never written over. Keys are in no error and
// no log: [Keys] prints as how many there are.
package credentials
