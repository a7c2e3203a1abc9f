//go:build !race

package extension

// raced says that the race detector is on, which maps more than [addressSpace].
const raced = false
