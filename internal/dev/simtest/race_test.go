//go:build race

package simtest

// What CI does with the race detector.
const (
	schedules   = 1000
	slowAnswers = 5
)
