//go:build race

package fetch

// bombSize is how often what a page is blown up with is repeated: less, because the race
// detector makes all of it six times as long.
const bombSize = 8 << 10
