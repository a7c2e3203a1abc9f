//go:build !race

package sandbox

// program returns the binary that is started for a stage or a helper, "" for the running one.
func program() string { return "" }
