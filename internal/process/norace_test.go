//go:build !race

package process

// floodRate is how many events a second come.
const floodRate = 100_000
