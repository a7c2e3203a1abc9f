//go:build race

package serve

// hugeText is how many bytes a field has that is too long: more than a text of one line
// may have. The race detector makes what is done with each byte six times as long; the
// step "computed without the race detector" of scripts/test.sh sends almost as many as a
// request may have.
const hugeText = 101 << 10
