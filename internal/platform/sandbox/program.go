package sandbox

// program is the binary that is started for a stage or a helper, "" for the running one. Tests
// with the race detector name another one.
var program string
