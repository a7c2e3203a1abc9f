// Package heap says when the garbage of a process is collected: what suits a command, and what
// suits a host.
package heap

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
//
// In a host in which more than largeHeap lives, long sessions are at work: each turn makes
// its context and its request again, and by Go's own rule as much garbage would lie beside
// them again. There the next collection is at one and a half times what lives.
const (
	smallHeap    = 4 << 20 // bytes
	smallPercent = 400     // as GOGC, in a command while no more than smallHeap lives
	largeHeap    = 32 << 20
	largePercent = 50 // in a host while more than largeHeap lives
	usualPercent = 100
)

// Late sets the rule for commands, unless the user has set GOGC. It holds until the
// process ends.
func Late() { collect(smallPercent, forCommand) }

// Closely sets that for a host.
func Closely() { collect(usualPercent, forHost) }

func forCommand(live uint64) uint64 {
	if live <= smallHeap {
		return smallPercent
	}
	return usualPercent
}

func forHost(live uint64) uint64 {
	if live > largeHeap {
		return largePercent
	}
	return usualPercent
}

func collect(first uint64, rule func(live uint64) uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(int(first))
	afterCollection(first, rule)
}

// afterCollection looks after the next collection how much lives, and so on.
func afterCollection(percent uint64, rule func(live uint64) uint64) {
	sentinel := new(*byte) // lives until that collection
	runtime.AddCleanup(sentinel, func(now uint64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		next := rule(living(m.NextGC, now))
		if next != now {
			debug.SetGCPercent(int(next))
		}
		afterCollection(next, rule)
	}, percent)
}

// living returns what lived at the last collection, which set the size in bytes for the next
// by a percentage.
func living(size, percent uint64) uint64 { return size * 100 / (100 + percent) }
