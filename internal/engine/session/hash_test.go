package session

import (
	"encoding/binary"
	"testing"
)

func TestIdsThatDifferLittleStandInPlacesOfTheirOwn(t *testing.T) {
	const n = 1 << 15
	for name, key := range map[string]func(i int) eventKey{
		"counted at the end":   func(i int) (k eventKey) { binary.BigEndian.PutUint32(k[6:], uint32(i)); return k },
		"counted at the start": func(i int) (k eventKey) { binary.BigEndian.PutUint32(k[:], uint32(i)); return k },
		"counted in the middle": func(i int) (k eventKey) {
			binary.LittleEndian.PutUint32(k[4:], uint32(i)<<8)
			return k
		},
	} {
		ix := newIndex("", nil)
		for i := range n {
			ix.entries = append(ix.entries, entry{id: key(i)})
			ix.insert(int32(i))
		}
		looks, mask := 0, uint64(len(ix.table)-1)
		for i := range n {
			if ix.find(key(i)) != int32(i) {
				t.Fatalf("%s: event %d is not found", name, i)
			}
			for h := key(i).hash() & mask; ix.table[h] != int32(i)+1; h = (h + 1) & mask {
				looks++
			}
		}
		if looks > 4*n {
			t.Errorf("%s: %d ids take %d looks beside their places", name, n, looks)
		}
	}
}
