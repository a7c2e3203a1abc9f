// Package partial keeps on disk what would be lost with a host that is killed: the text
// of the answer that a model is in the middle of, and what background commands print.
//
// What is given to it is written within 250 ms, or when 4 KiB have gathered, and synced
// at most once a second, by goroutines of its own: whoever streams never waits for the
// disk. The files are in ~/.scorel/pending, mode 0600 and bounded. They are touched under
// the lock of their session. A file that cannot be written is reported once and costs
// nothing else.
//
// A [Step] or an [Output] may be used by several goroutines at once.
package partial
