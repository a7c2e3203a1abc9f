// Package secret knows what keys and passwords look like in text, so that they are
// taken out of what is shown and kept out of what is stored. It judges by looks alone:
// a secret without any is not seen, and what it sees need not be one. All functions
// may be called concurrently.
package secret
