//go:build race

package schedule_test

// What of the simulated years is tried: less, because the race detector makes all of it ten
// times as long.
const (
	yearZones       = 1
	yearExpressions = 3
)
