//go:build race

package runtime

// longAnswer is how many bytes a model sends at once: the race detector makes what is
// done with each of them six times as long.
const longAnswer = 4 << 20
