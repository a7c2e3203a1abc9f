package theme

import (
	"image/color"
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// sight is how linear red, green and blue look to somebody: the matrices of Machado,
// Oliveira and Fernandes (2009), "A Physiologically-based Model for Simulation of Color
// Vision Deficiency", table 1, severity 1.
type sight [3][3]float64

var (
	protan = sight{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}
	deutan = sight{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}
	tritan = sight{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}
)

// lab returns a colour as somebody sees it, in CIE Lab (D65).
func (s sight) lab(c color.Color) [3]float64 {
	r, g, b, _ := c.RGBA()
	var in, seen [3]float64
	for i, v := range []uint32{r, g, b} {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			in[i] = x / 12.92
		} else {
			in[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		for j := range in {
			seen[i] += s[i][j] * in[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// apart returns how far two colours are from each other for somebody: 2 is just visible
// side by side, 100 is black and white.
func (s sight) apart(a, b color.Color) float64 {
	x, y := s.lab(a), s.lab(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

// TestColourBlindThemesKeepColoursApart computes how far what was added and removed, and
// what succeeded and failed, are from each other for those that a theme is made for, with
// all colours and with 256.
func TestColourBlindThemesKeepColoursApart(t *testing.T) {
	background := func(l look) string { return l.bg }
	foreground := func(l look) string { return l.fg }
	for _, c := range []struct {
		theme string
		sees  map[string]sight
	}{
		{Deuteranopia, map[string]sight{"protanopia": protan, "deuteranopia": deutan}},
		{Tritanopia, map[string]sight{"tritanopia": tritan}},
	} {
		for _, dark := range []bool{true, false} {
			l := builtin(c.theme, dark)
			for _, pair := range []struct {
				a, b  string
				color func(look) string
				least float64
			}{
				{"added", "removed", background, 20}, {"addedWord", "removedWord", background, 30}, {"toolOK", "toolFailed", foreground, 30},
				{"success", "error", foreground, 30}, {"warning", "error", foreground, 18}, {"warning", "success", foreground, 18},
				{"modePlan", "modeBypass", foreground, 25},
			} {
				for who, s := range c.sees {
					for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
						a := profile.Convert(mustColor(t, pair.color(l[pair.a])))
						b := profile.Convert(mustColor(t, pair.color(l[pair.b])))
						if got := s.apart(a, b); got < pair.least {
							t.Errorf("%s, dark %t, %s, %s: %s and %s are %.0f apart, want %.0f", c.theme, dark, who, profile, pair.a, pair.b, got, pair.least)
						}
					}
				}
			}
		}
	}
}

func TestRedAndGreenOfTheUsualThemeAreCloseForSome(t *testing.T) {
	l := builtin(Dark, true)
	if got := deutan.apart(mustColor(t, l["added"].bg), mustColor(t, l["removed"].bg)); got > 15 {
		t.Errorf("they are %.0f apart, so the computation does not show what it should", got)
	}
}

func TestColourBlindThemesUseNeitherRedNorGreenAloneWith16Colours(t *testing.T) {
	for name, want := range map[string][2]Style{Deuteranopia: {"\x1b[36m", "\x1b[35m"}, Tritanopia: {"\x1b[36m", "\x1b[31m"}} {
		th, _ := New(Options{Name: name, Dark: true, Profile: colorprofile.ANSI})
		if got := [2]Style{th.Added, th.Removed}; got != want || th.Name != name {
			t.Errorf("%s: %q, want %q", th.Name, got, want)
		}
		if th, _ = New(Options{Name: name, Dark: true, Profile: colorprofile.ASCII}); th.Added == "\x1b[36m" {
			t.Errorf("%s has colours where there are none", name)
		}
	}
}
