package stage

// What packages fmt, strings and path/filepath would do is done here: they bring the tables
// of Unicode, and with them most of what the program initialises, before the stage.

// failure is an error with what was tried.
type failure struct {
	tried string
	err   error
}

// Error returns the sentence.
func (f *failure) Error() string { return f.tried + f.err.Error() }

// Unwrap returns why it failed.
func (f *failure) Unwrap() error { return f.err }

// failed returns err with what was tried, whose parts are joined.
func failed(err error, tried ...string) error {
	f := &failure{err: err}
	for _, t := range tried {
		f.tried += t
	}
	f.tried += ": "
	return f
}

// cut returns what is before and after the first byte sep of s.
func cut(s string, sep byte) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// below reports whether a path is of something in a folder; both are clean.
func below(path, dir string) bool {
	return len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/'
}
