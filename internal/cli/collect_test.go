package cli

import "testing"

func TestOnlyASmallHeapIsCollectedLate(t *testing.T) {
	for _, c := range []struct{ size, now, want uint64 }{
		{16 << 20, smallPercent, smallPercent}, // less lives than would set it so low
		{20 << 20, smallPercent, smallPercent},
		{21 << 20, smallPercent, largePercent},
		{500 << 20, smallPercent, largePercent},
		{500 << 20, largePercent, largePercent},
		{9 << 20, largePercent, largePercent},
		{4 << 20, largePercent, smallPercent},
	} {
		if got := percentFor(c.size, c.now); got != c.want {
			t.Errorf("%d MiB by %d %%: %d %%, want %d %%", c.size>>20, c.now, got, c.want)
		}
	}
}
