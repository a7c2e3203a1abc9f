//go:build !race

package fetch

// bombSize is how often what a page is blown up with is repeated.
const bombSize = 64 << 10
