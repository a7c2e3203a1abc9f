package qrcode

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rsc.io/qr"
)

func TestAQRCodeHasEachModuleOfTheTextInsideAWhiteBorder(t *testing.T) {
	text := "https://192.168.1.23:23456/#pair=0123456789abcdefghijklmnopqrstuv0123456780"
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for _, colour := range []bool{true, false} {
		lines, width, err := Lines(text, colour)
		if err != nil || width != code.Size+2*quiet || len(lines) != (width+1)/2 {
			t.Fatalf("%d lines of %d cells for %d modules: %v", len(lines), width, code.Size, err)
		}
		for i, line := range lines {
			line = strings.TrimSuffix(strings.TrimPrefix(line, Colours), plain)
			if utf8.RuneCountInString(line) != width {
				t.Fatalf("line %d has %d cells", i, utf8.RuneCountInString(line))
			}
			for x, r := range []rune(line) {
				for half, drawn := range []bool{r == '█' || r == '▀', r == '█' || r == '▄'} {
					y := 2*i + half - quiet
					if black := code.Black(x-quiet, y); black != (drawn == colour) {
						t.Fatalf("the module at %d,%d is black: %t", x-quiet, y, !black)
					}
				}
			}
		}
	}
}
