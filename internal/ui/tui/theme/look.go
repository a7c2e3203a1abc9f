package theme

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// look is how a style looks, before it is made for a terminal. Colours are #rrggbb,
// 0 to 255, one of the 16 names, or default; empty leaves them as they are.
type look struct {
	fg, bg                                          string
	bold, faint, italic, underline, reverse, struck bool
}

// looks has them by the names of styles.
type looks map[string]look

// names16 are the names of the terminal's own colours, in their order.
const names16 = "black red green yellow blue magenta cyan white bright-black bright-red bright-green bright-yellow bright-blue bright-magenta bright-cyan bright-white"

// parseColor reads a colour. It returns nil for default.
func parseColor(text string) (color.Color, error) {
	if text == "default" {
		return nil, nil
	}
	if hex, ok := strings.CutPrefix(text, "#"); ok && len(hex) == 6 {
		if n, err := strconv.ParseUint(hex, 16, 32); err == nil {
			return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}, nil
		}
	}
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		if n < 16 {
			return ansi.BasicColor(n), nil
		}
		return ansi.IndexedColor(n), nil
	}
	i := 0
	for name := range strings.SplitSeq(names16, " ") {
		if name == text {
			return ansi.BasicColor(i), nil
		}
		i++
	}
	return nil, fmt.Errorf("%q is not a colour; write #rrggbb, a number from 0 to 255, default, or a name such as red or bright-blue", text)
}

// style makes the sequence for a terminal.
func (l look) style(profile colorprofile.Profile) Style {
	var args []string
	for _, a := range []struct {
		on   bool
		code string
	}{{l.bold, "1"}, {l.faint, "2"}, {l.italic, "3"}, {l.underline, "4"}, {l.reverse, "7"}, {l.struck, "9"}} {
		if a.on {
			args = append(args, a.code)
		}
	}
	if profile > colorprofile.ASCII {
		args = append(args, code(l.fg, 30, profile)...)
		args = append(args, code(l.bg, 40, profile)...)
	}
	if len(args) == 0 {
		return ""
	}
	return Style("\x1b[" + strings.Join(args, ";") + "m")
}

// in256 returns the colour of 256 for one of the built-in themes where the nearest one
// looks otherwise: greys that would be blue or green, a red ground that would be grey. It
// is 0 for all others.
func in256(text string) int {
	switch text {
	case "#9aa2b1", "#9aa0aa":
		return 247
	case "#646c7c":
		return 243
	case "#636974":
		return 241
	case "#3b1a1d":
		return 52
	case "#742d33":
		return 88
	case "#24603a", "#1a6e37":
		return 28
	case "#b9e6c6":
		return 151
	case "#31466b":
		return 24
	}
	return 0
}

// code returns the arguments that set a colour: of the foreground with 30 as the base,
// of the background with 40.
func code(text string, base int, profile colorprofile.Profile) []string {
	if text == "" {
		return nil
	}
	c, err := parseColor(text)
	if err != nil {
		return nil
	}
	if c == nil {
		return []string{strconv.Itoa(base + 9)}
	}
	if n := in256(text); n > 0 && profile == colorprofile.ANSI256 {
		return []string{strconv.Itoa(base+8) + ";5;" + strconv.Itoa(n)}
	}
	switch c := profile.Convert(c).(type) {
	case ansi.BasicColor:
		if c >= 8 {
			return []string{strconv.Itoa(base + 60 + int(c) - 8)}
		}
		return []string{strconv.Itoa(base + int(c))}
	case ansi.IndexedColor:
		return []string{strconv.Itoa(base+8) + ";5;" + strconv.Itoa(int(c))}
	default:
		r, g, b, _ := c.RGBA()
		return []string{fmt.Sprintf("%d;2;%d;%d;%d", base+8, r>>8, g>>8, b>>8)}
	}
}
