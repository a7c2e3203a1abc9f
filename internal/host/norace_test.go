//go:build !race

package host_test

// longAnswer is how many bytes the model sends in what is to be kept whole.
const longAnswer = 10 << 20
