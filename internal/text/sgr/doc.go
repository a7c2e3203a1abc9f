// Package sgr makes lines of others fit for a terminal that keep their colours and weights:
// of all control sequences only SGR (ECMA-48) stays. Its functions may be called
// concurrently.
package sgr
