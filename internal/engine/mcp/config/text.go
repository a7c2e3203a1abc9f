package config

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// quote returns a text of a file for a sentence: at most 100 characters, without what
// steers a terminal.
func quote(s string) string {
	if r := []rune(s); len(r) > 100 {
		s = string(r[:100]) + "…"
	}
	return strconv.Quote(s)
}

// sorted returns the keys of a table in their order.
func sorted(m map[string]string) iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(m)))
}
