//go:build race

package simtest

// What CI does with the race detector.
const (
	schedules   = 250
	slowAnswers = 5
)
