//go:build !race

package progress

// floodRate is how many events a second come.
const floodRate = 100_000
