//go:build !race

package session

// What CI does without the race detector.
const (
	cutRounds    = 7    // how often each type of event stands in the log that is cut at every byte
	flipEvery    = 3    // bytes between two of which a bit is flipped
	damageTrials = 6000 // random damages
)
