// Package match finds words in texts, in one case or in any, and in the lines of a log, which
// write the texts as JSON: fast in what need not be decoded, and exact in what people read.
// All values may be used by any number of goroutines at once.
package match
