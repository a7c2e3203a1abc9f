// Package diagnostics writes what people need who look for a fault: a file beside the log
// of each session, sessions/<id>.log. It never holds prompts, results or secrets. A file
// has a bound, and a full one is set aside once. That nothing can be written is no error
// for anybody. A [Log] may be used by any number of goroutines at once.
package diagnostics
