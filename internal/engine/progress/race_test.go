//go:build race

package progress

// floodRate is how many events a second come: fewer, because the race detector makes
// each six times as long.
const floodRate = 50_000
