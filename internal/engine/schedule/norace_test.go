//go:build !race

package schedule_test

// What of the simulated years is tried.
const (
	yearZones       = 5
	yearExpressions = 50 // in each zone
)
