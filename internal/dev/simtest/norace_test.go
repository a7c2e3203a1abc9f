//go:build !race

package simtest

// What CI does without the race detector.
const (
	schedules   = 3_000
	slowAnswers = 18 // 50 MB
)
