package row

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
)

func TestALineIsNeverWiderAndItsRightEndStandsAtTheRight(t *testing.T) {
	piece := rapid.Custom(func(t *rapid.T) Piece {
		return Piece{Text: rapid.StringMatching(`[ab日😀 ]{0,9}`).Draw(t, "text"), Style: golden.Dark().Accent}
	})
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 40).Draw(t, "width")
		left := rapid.SliceOfN(piece, 0, 5).Draw(t, "left")
		right := rapid.SliceOfN(piece, 0, 3).Draw(t, "right")
		got := Line(golden.Dark(), width, "\x1b[7m", left, right)
		if cell.Width(got) > width {
			t.Fatalf("%d cells of %d: %q", cell.Width(got), width, got)
		}
		if n := Width(left) + Width(right); n < width-1 && width > 0 {
			var text strings.Builder
			for _, p := range left {
				text.WriteString(p.Text)
			}
			end := ""
			for _, p := range right {
				end += p.Text
			}
			plain := ansi.Strip(got)
			if cell.Width(got) != width || !strings.HasPrefix(plain, text.String()) || !strings.HasSuffix(plain, end) {
				t.Fatalf("%q has not all of %q and %q", plain, text.String(), end)
			}
		}
	})
}

func TestTheWindowHoldsTheRowThatIsOnAndMovesAsLittleAsItCan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 50).Draw(t, "total")
		on := rapid.IntRange(0, total-1).Draw(t, "on")
		height := rapid.IntRange(1, 60).Draw(t, "height")
		first := rapid.IntRange(0, 60).Draw(t, "first")
		got := Window(first, on, height, total)
		if got < 0 || on < got || on >= got+height || got > max(0, total-height) {
			t.Fatalf("rows %d to %d of %d without %d", got, got+height-1, total, on)
		}
		if again := Window(got, on, height, total); again != got {
			t.Fatalf("it moves from %d to %d", got, again)
		}
	})
}

func TestHintsAreShownWholeOrNot(t *testing.T) {
	hints := []Hint{{"enter", "open"}, {"", "nothing"}, {"esc", "close the list"}}
	for width, want := range map[int]string{5: "", 10: "enter open", 29: "enter open", 30: "enter open  esc close the list"} {
		if got := ansi.Strip(Hints(golden.Dark(), width, hints)); got != want {
			t.Errorf("%d: %q", width, got)
		}
	}
}

func TestTheLastHintStaysWhenNotAllFit(t *testing.T) {
	hints := []Hint{{"enter", "choose"}, {"ctrl+v", "look"}, {"ctrl+r", "rename"}, {"esc", "close"}}
	for width, want := range map[int]string{11: "", 22: "enter choose", 23: "enter choose  esc close", 35: "enter choose  esc close", 36: "enter choose  ctrl+v look  esc close", 80: "enter choose  ctrl+v look  ctrl+r rename  esc close"} {
		if got := ansi.Strip(Hints(golden.Dark(), width, hints)); got != want {
			t.Errorf("%d: %q", width, got)
		}
	}
}
