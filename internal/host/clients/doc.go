// Package clients keeps the allow list of a device: the entries that may come in
// with a key of their own, in ~/.scorel/entries.json (mode 0600). Public keys and
// labels only; nothing in it is secret.
//
// Several processes may use one list at once: each change is made under the lock
// beside the file and replaces it whole, and each reading reads the file, so that
// a revocation holds from the next reading on. A damaged file is an error that
// names it: nobody is let in by it, and it is never written over. The package
// knows nothing of connections; who holds them acts on what it changes.
package clients
