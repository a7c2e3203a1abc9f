//go:build race

package host_test

// longAnswer is how many bytes the model sends in what is to be kept whole: the race
// detector makes what is done with each of them six times as long.
const longAnswer = 5 << 20
