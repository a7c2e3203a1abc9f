// Package qrcode draws QR codes with half blocks for terminals. Its functions are pure and
// may be called concurrently.
package qrcode

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is the white border that readers need, in modules.
const quiet = 2

// Colours are black on white, whatever those of the terminal are.
const Colours = "\x1b[38;5;16;48;5;231m"

const plain = "\x1b[0m"

// Lines returns the QR code of a text, two modules above each other a cell. With colour it is
// black on white on any terminal; without, what is white in the code is drawn, which fits a
// dark terminal, and most readers take it inverted too. Each line has width cells.
func Lines(text string, colour bool) (lines []string, width int, err error) {
	lines, width, err = Modules(text, !colour)
	if colour {
		for i, line := range lines {
			lines[i] = Colours + line + plain
		}
	}
	return lines, width, err
}

// Modules returns the lines of a QR code without colours: what is black in it is drawn, and
// inverted what is white.
func Modules(text string, inverted bool) (lines []string, width int, err error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil, 0, fmt.Errorf("draw the QR code: %w", err)
	}
	width = code.Size + 2*quiet
	for y := -quiet; y < code.Size+quiet; y += 2 {
		var b strings.Builder
		for x := -quiet; x < code.Size+quiet; x++ {
			upper, lower := code.Black(x, y) != inverted, code.Black(x, y+1) != inverted
			switch {
			case upper && lower:
				b.WriteString("█")
			case upper:
				b.WriteString("▀")
			case lower:
				b.WriteString("▄")
			default:
				b.WriteByte(' ')
			}
		}
		lines = append(lines, b.String())
	}
	return lines, width, nil
}
