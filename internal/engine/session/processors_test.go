package session

import (
	"runtime"
	"testing"
)

func TestAStoreWithManyLogsGetsMoreProcessors(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	var o openLogs
	for range manyLogs - 1 {
		o.add()
	}
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("%d processors with few logs, want 2", n)
	}
	o.add()
	if n := runtime.GOMAXPROCS(0); n != manyProcessors {
		t.Errorf("%d processors with many logs, want %d", n, manyProcessors)
	}
	runtime.GOMAXPROCS(2)
	o.remove()
	t.Setenv("GOMAXPROCS", "2")
	o.add()
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("%d processors against what the environment says", n)
	}
}

func TestAStoreCountsItsOpenLogs(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	if n := w.store.logs.n.Load(); n != 1 {
		t.Errorf("%d logs, want 1", n)
	}
	for range 2 {
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.store.logs.n.Load(); n != 0 {
		t.Errorf("%d logs after closing, want 0", n)
	}
}
