//go:build !race

package sandbox

// heldTimes is how often all is tried that a confined command must not do.
const heldTimes = 20
