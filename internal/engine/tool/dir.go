package tool

import "sync"

// Dir is the working directory of Bash, kept from call to call. It may be used
// by several goroutines at once.
type Dir struct {
	mu   sync.Mutex
	path string
}

// NewDir returns a working directory: the workspace at first, later the last
// details.dir on the active path.
func NewDir(path string) *Dir { return &Dir{path: path} }

// Path returns the working directory, absolute.
func (d *Dir) Path() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.path
}

// Set changes it; path is absolute.
func (d *Dir) Set(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.path = path
}
