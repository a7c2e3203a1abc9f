//go:build !race

package runtime

// longAnswer is how many bytes a model sends at once.
const longAnswer = 10 << 20
