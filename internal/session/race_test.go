//go:build race

package session

// cutRounds are how often each type of event stands in the log that is cut at every
// byte: with the race detector as often as one can stand behind another.
const cutRounds = 2
