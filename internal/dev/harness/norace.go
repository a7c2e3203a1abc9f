//go:build !race

package harness

// Raced says whether the tests run with the race detector.
const Raced = false
