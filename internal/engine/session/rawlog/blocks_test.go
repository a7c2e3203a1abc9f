package rawlog

import (
	"bytes"
	"strings"
	"testing"
)

func TestALongTailOfShortLinesTakesFewReads(t *testing.T) {
	const size = 2 << 20
	for name, data := range map[string]string{
		"empty lines":   strings.Repeat("\n", size),
		"short lines":   strings.Repeat("x\n", size/2),
		"longer lines":  strings.Repeat(strings.Repeat("x", 5000)+"\n", size/5000),
		"one long line": "a\n" + strings.Repeat("x", size),
	} {
		reads, from := 0, bytes.NewReader([]byte(data))
		tail, err := FindTail(t.Context(), func(p []byte, off int64) (int, error) {
			reads++
			return from.ReadAt(p, off)
		}, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(strings.IndexByte(data, '\n') + 1); tail != want { // a damaged header that is ended stays
			t.Errorf("%s: the tail begins at %d, want %d", name, tail, want)
		}
		if reads > 50 {
			t.Errorf("%s: %d reads of %d bytes", name, reads, len(data))
		}
	}
}
