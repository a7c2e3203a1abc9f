//go:build !race

package main

// raced says whether the race detector is on. What it makes six times as long is left to
// the step "computed without the race detector" of scripts/test.sh.
const raced = false
