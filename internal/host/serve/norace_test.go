//go:build !race

package serve

// hugeText is how many bytes a field has that is far too long: almost as many as a
// request may have.
const hugeText = 900 << 10
