package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Go collects for the first time at 4 MB and then at twice what lives. A command holds
// about 1 MB and makes some MB of garbage, so it would collect several times, at 1 to
// 2 ms of processor time each, for memory that nobody misses. While less than
// smallHeap lives the next collection is at five times that, at the least at 16 MB;
// what holds more goes by Go's own rule.
const (
	smallHeap    = 4 << 20 // bytes
	smallPercent = 400     // as GOGC, while no more than smallHeap lives
	largePercent = 100
)

// collectLate sets the rule, unless the user has set GOGC. It holds until the process
// ends.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(smallPercent)
	afterCollection(smallPercent)
}

// afterCollection looks behind the next collection how much lives, and so on.
func afterCollection(percent uint64) {
	sentinel := new(*byte) // lives until that collection
	runtime.AddCleanup(sentinel, func(now uint64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		next := percentFor(m.NextGC, now)
		if next != now {
			debug.SetGCPercent(int(next))
		}
		afterCollection(next)
	}, percent)
}

// percentFor gives the percentage that fits what lived at the last collection, which
// set the size in bytes for the next by the percentage now.
func percentFor(size, now uint64) uint64 {
	if live := size * 100 / (100 + now); live <= smallHeap {
		return smallPercent
	}
	return largePercent
}
