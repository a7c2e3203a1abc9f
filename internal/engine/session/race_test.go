//go:build race

package session

// What CI does with the race detector.
const (
	cutRounds    = 2   // how often each type of event stands in the log that is cut at every byte
	flipEvery    = 12  // bytes between two of which a bit is flipped
	damageTrials = 600 // random damages
)
