package heap

import "testing"

func TestOnlyASmallHeapIsCollectedLateAndOnlyALargeOneClosely(t *testing.T) {
	for _, c := range []struct {
		rule            func(uint64) uint64
		size, now, want uint64
	}{
		{forCommand, 16 << 20, smallPercent, smallPercent}, // less lives than would set it so low
		{forCommand, 20 << 20, smallPercent, smallPercent},
		{forCommand, 21 << 20, smallPercent, usualPercent},
		{forCommand, 500 << 20, smallPercent, usualPercent},
		{forCommand, 500 << 20, usualPercent, usualPercent},
		{forCommand, 9 << 20, usualPercent, usualPercent},
		{forCommand, 4 << 20, usualPercent, smallPercent},
		{forHost, 4 << 20, usualPercent, usualPercent},
		{forHost, 64 << 20, usualPercent, usualPercent},
		{forHost, 65 << 20, usualPercent, largePercent},
		{forHost, 49 << 20, largePercent, largePercent},
		{forHost, 48 << 20, largePercent, usualPercent},
	} {
		if got := c.rule(living(c.size, c.now)); got != c.want {
			t.Errorf("%d MiB by %d %%: %d %%, want %d %%", c.size>>20, c.now, got, c.want)
		}
	}
}
