package session

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// benchLog writes a log of n events on the real disk: a user message of 200
// bytes, a call, a result of 1 KB, an answer of 500 bytes, and so on.
func benchLog(b *testing.B, n int) (*Store, protocol.SessionID, protocol.EventID) {
	b.Helper()
	w := newWorld(b)
	w.fs = disk.OS()
	store, err := OpenStore(Config{Dir: b.TempDir(), Rand: w.rand, Now: w.now})
	if err != nil {
		b.Fatal(err)
	}
	log, err := store.Create(b.Context(), w.header())
	if err != nil {
		b.Fatal(err)
	}
	w.id = log.ID()
	var events []protocol.Event
	leaf := protocol.EventID("")
	for i := range n {
		var ev protocol.Event
		switch i % 4 {
		case 0:
			ev = w.user(leaf, strings.Repeat("word ", 20))
		case 1:
			ev = w.assistant(leaf, "I look.", "c")
		case 2:
			ev = w.result(leaf, "c")
		case 3:
			ev = w.assistant(leaf, strings.Repeat("an answer\n", 10))
		}
		leaf = ev.ID
		if events = append(events, ev); len(events) == 500 || i == n-1 {
			if err := log.Commit(b.Context(), events); err != nil {
				b.Fatal(err)
			}
			events = nil
		}
	}
	size := log.Index().Size()
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(size)/float64(n), "B/event")
	return store, w.id, leaf
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store, id, _ := benchLog(b, n)
			b.ReportAllocs()
			for b.Loop() {
				log, _, err := store.Open(b.Context(), id)
				if err != nil {
					b.Fatal(err)
				}
				if err := log.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCommitGroup(b *testing.B) {
	store, _, _ := benchLog(b, 4)
	w := newWorld(b)
	log, err := store.Create(b.Context(), w.header())
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	w.id = log.ID()
	leaf := protocol.EventID("")
	b.ReportAllocs()
	for b.Loop() {
		events := make([]protocol.Event, 8)
		for i := range events {
			events[i] = w.user(leaf, "a message of a few words")
			leaf = events[i].ID
		}
		if err := log.Commit(b.Context(), events); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBack(b *testing.B) {
	store, id, leaf := benchLog(b, 10_000)
	log, _, err := store.Open(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range log.Index().Back(b.Context(), leaf) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkTextsBack(b *testing.B) {
	store, id, leaf := benchLog(b, 10_000)
	log, _, err := store.Open(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range (Texts{log.Index()}).Back(b.Context(), leaf) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}
