//go:build !race

package session

// cutRounds are how often each type of event stands in the log that is cut at every byte.
const cutRounds = 7
