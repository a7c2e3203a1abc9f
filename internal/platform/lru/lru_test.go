package lru

import (
	"sync"
	"testing"
)

func TestACacheKeepsToItsBoundUnderTenTimesItsMaximum(t *testing.T) {
	c := New[int, int](200, 150)
	for i := range 2000 {
		c.Put(i, -i)
		if n := c.Len(); n > 200 {
			t.Fatalf("%d entries after %d", n, i+1)
		}
	}
	if v, ok := c.Get(1999); !ok || v != -1999 {
		t.Errorf("the newest entry is %d, %v", v, ok)
	}
	if _, ok := c.Get(1); ok {
		t.Error("the oldest entry is still there")
	}
}

func TestWhatIsUsedStaysAndTheOldestGoInBulk(t *testing.T) {
	c := New[string, int](4, 2)
	for _, k := range []string{"a", "b", "c", "d"} {
		c.Put(k, 1)
	}
	c.Get("a")
	c.Put("b", 2)
	c.Put("e", 1) // over the bound: what was used last stays
	if n := c.Len(); n != 2 {
		t.Errorf("%d entries after trimming, want 2", n)
	}
	for k, want := range map[string]bool{"a": false, "b": true, "c": false, "d": false, "e": true} {
		if _, ok := c.Get(k); ok != want {
			t.Errorf("%s is there: %v, want %v", k, ok, want)
		}
	}
	if v, _ := c.Get("b"); v != 2 {
		t.Errorf("b is %d", v)
	}
}

func TestACacheIsUsedByManyAtOnce(t *testing.T) {
	c := New[int, int](50, 25)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				c.Put(g*1000+i, i)
				c.Get(i)
			}
		})
	}
	wg.Wait()
	if n := c.Len(); n == 0 || n > 50 {
		t.Errorf("%d entries", n)
	}
}
