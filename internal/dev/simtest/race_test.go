//go:build race

package synctrial

// What CI does with the race detector.
const (
	schedules   = 1000
	slowAnswers = 5
)
