package main

import (
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// The size of a cell and of what is around the screen, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 14
)

// colours are those of a terminal.
type colours struct {
	name         string
	ground, text color.Color
	six          [6]color.Color // red, green, yellow, blue, magenta and cyan, as such terminals have them
}

// of returns a colour as this terminal shows it.
func (c colours) of(x color.Color) color.Color {
	if n, ok := x.(ansi.BasicColor); ok && n >= ansi.Red && n <= ansi.Cyan {
		return c.six[n-ansi.Red]
	}
	return x
}

func dark() colours {
	return colours{"dark", color.RGBA{0x1b, 0x1d, 0x23, 0xff}, color.RGBA{0xd6, 0xd8, 0xde, 0xff},
		[6]color.Color{color.RGBA{0xe0, 0x6c, 0x75, 0xff}, color.RGBA{0x98, 0xc3, 0x79, 0xff}, color.RGBA{0xe5, 0xc0, 0x7b, 0xff}, color.RGBA{0x61, 0xaf, 0xef, 0xff}, color.RGBA{0xc6, 0x78, 0xdd, 0xff}, color.RGBA{0x56, 0xb6, 0xc2, 0xff}}}
}

func light() colours {
	return colours{"light", color.RGBA{0xfb, 0xfb, 0xf9, 0xff}, color.RGBA{0x24, 0x26, 0x2b, 0xff},
		[6]color.Color{color.RGBA{0xb3, 0x1d, 0x28, 0xff}, color.RGBA{0x22, 0x7a, 0x3c, 0xff}, color.RGBA{0x8a, 0x61, 0x00, 0xff}, color.RGBA{0x1a, 0x5f, 0xb4, 0xff}, color.RGBA{0x8e, 0x3b, 0xa8, 0xff}, color.RGBA{0x0b, 0x6e, 0x7a, 0xff}}}
}

// picture draws the screen.
func (t *terminal) picture(title string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	w, h := columns*cellWidth+2*margin, float64(rows*cellHeight+2*margin)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<title>Scorel in a terminal: %s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", hex(t.colours.ground))
	fmt.Fprintf(&b, `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="%s">`+"\n", hex(t.colours.text))
	clock := regexp.MustCompile(`\b\d\.\ds\b`) // how long a call took
	for y := range rows {
		t.row(&b, y, clock)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// row draws a line: cells of one style together, and each run as wide as its cells.
func (t *terminal) row(b *strings.Builder, y int, clock *regexp.Regexp) {
	for x := 0; x < columns; {
		first := t.screen.CellAt(x, y)
		if first == nil {
			x++
			continue
		}
		begin, text := x, ""
		for x < columns {
			c := t.screen.CellAt(x, y)
			if c == nil || !c.Style.Equal(&first.Style) {
				break
			}
			if c.Content == "" {
				text += " "
			}
			text += c.Content
			x += max(1, c.Width)
		}
		t.run(b, clock.ReplaceAllString(text, "0.1s"), first.Style, begin, x-begin, y)
	}
}

// run draws text of one style.
func (t *terminal) run(b *strings.Builder, text string, style uv.Style, x, width, y int) {
	fg, bg := t.colours.of(style.Fg), t.colours.of(style.Bg)
	if style.Attrs&uv.AttrReverse != 0 {
		if fg == nil {
			fg = t.colours.text
		}
		if bg == nil {
			bg = t.colours.ground
		}
		fg, bg = bg, fg
	}
	left, wide := margin+float64(x)*cellWidth, float64(width)*cellWidth
	if bg != nil {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, margin+y*cellHeight, wide, cellHeight, hex(bg))
	}
	// Blanks at the ends would be dropped, and several of them count as one.
	words := strings.TrimLeft(text, " ")
	before := len(text) - len(words)
	words = strings.TrimRight(words, " ")
	if words == "" {
		return
	}
	left += float64(before) * cellWidth
	wide -= float64(len(text)-len(words)) * cellWidth
	words = strings.ReplaceAll(words, " ", "\u00a0")
	more := ""
	if fg != nil {
		more += fmt.Sprintf(` fill="%s"`, hex(fg))
	}
	for _, a := range []struct {
		on   bool
		text string
	}{
		{style.Attrs&uv.AttrBold != 0, ` font-weight="bold"`},
		{style.Attrs&uv.AttrFaint != 0, ` opacity="0.6"`},
		{style.Attrs&uv.AttrItalic != 0, ` font-style="italic"`},
		{style.Attrs&uv.AttrStrikethrough != 0, ` text-decoration="line-through"`},
		{style.Underline != uv.UnderlineNone, ` text-decoration="underline"`},
	} {
		if a.on {
			more += a.text
		}
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", left, margin+y*cellHeight+14, wide, more, html.EscapeString(words))
}

// hex writes a colour as SVG has it.
func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
