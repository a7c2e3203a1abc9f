package rpc

import (
	"os"
	"slices"
	"testing"
)

func TestBothSidesOfAPageSeeWhoRuns(t *testing.T) {
	a, f, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := MapPage(f)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	f.Close()
	b.Busy(3, true)
	b.Busy(7, true)
	b.Busy(7, false)
	if got := a.Running(); !slices.Equal(got, []int{3}) {
		t.Errorf("%v run", got)
	}
	if a.Since(3) <= 0 || a.Since(7) != 0 || a.Since(PageSlots) != 0 || a.Since(-1) != 0 {
		t.Errorf("for %s, %s", a.Since(3), a.Since(7))
	}
	b.Busy(PageSlots, true) // beyond the page: nothing
	b.SetHeap(5)
	b.SetReason(PageMemory)
	if a.Heap() != 5 || a.Reason() != PageMemory {
		t.Errorf("heap %d, reason %d", a.Heap(), a.Reason())
	}
	var none *Page
	none.Busy(0, true)
	none.Close()
	if none.Since(0) != 0 || none.Running() != nil {
		t.Error("no page says that something runs")
	}
}

func TestAFileThatIsNoPageIsRefused(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(PageSize); err != nil {
		t.Fatal(err)
	}
	if _, err := MapPage(f); err == nil {
		t.Error("it is taken")
	}
}
