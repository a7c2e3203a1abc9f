package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of the names that a search says it has not read.
const (
	maxGaps   = 10_000
	shownGaps = 3
)

// gaps are what a search could not look at. What is noted may come from any goroutine.
type gaps struct {
	mu     sync.Mutex
	unread map[string]bool // files and folders that cannot be read
	long   map[string]bool // files with a line of which only the beginning was searched
	late   bool            // it was ended before its end; of the goroutine of the call
}

// note adds a name to one of the sets.
func (g *gaps) note(set *map[string]bool, rel string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if *set == nil {
		*set = map[string]bool{}
	}
	if len(*set) < maxGaps {
		(*set)[rel] = true
	}
}

// sentences says what is missing, each in a line of its own.
func (g *gaps) sentences(limit time.Duration) (note string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.unread) > 0 {
		note += "\n[Could not be read: " + named(g.unread) + ".]"
	}
	if len(g.long) > 0 {
		note += fmt.Sprintf("\n[Only the first %d MiB of long lines were searched in: %s.]", scanLine>>20, named(g.long))
	}
	if g.late {
		note += fmt.Sprintf("\n[This is not complete: the search took more than %d s and was ended. Search a smaller folder.]", int(limit.Seconds()))
	}
	return note
}

// named lists the first names of a set.
func named(set map[string]bool) string {
	names := slices.Sorted(maps.Keys(set))
	more := max(0, len(names)-shownGaps)
	names = names[:len(names)-more]
	for i, name := range names {
		names[i] = shownName(name)
	}
	text := strings.Join(names, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
