package theme

// The colours for people who do not see all of them: what was added and what was removed,
// what succeeded and what failed, differ in a pair of colours that they tell apart, and in
// lightness. A test computes how they look to them.

// redGreen returns the palette for protanopia and deuteranopia, the weakness for red or
// green: blue and orange take the places of green and red.
func redGreen(dark bool) palette {
	if dark {
		return palette{
			dim: "#9aa2b1", border: "#646c7c",
			accent: "#8ab4f8", info: "#8fd0e8", success: "#62aeff", warning: "#f7ec80", error: "#ff9d3c",
			violet: "#c9b3f5", code: "#f0cf8a",
			str: "#9fc5f8", number: "#f0cf8a", function: "#84bdf7", typ: "#f7ec80", operator: "#8fd0e8",
			selected: look{fg: "#ffffff", bg: "#31466b", bold: true}, match: look{fg: "#000000", bg: "#f7ec80", bold: true},
			chip:  look{fg: "#dcc3f5", bg: "#3a3150"},
			added: look{fg: "#c6deff", bg: "#0b2f63"}, removed: look{fg: "#ffdcb8", bg: "#4d2b00"},
			addedWord: look{fg: "#ffffff", bg: "#1d5fc0"}, removedWrd: look{fg: "#ffffff", bg: "#8f5000"},
		}
	}
	return palette{
		dim: "#636974", border: "#9aa0aa",
		accent: "#0b57d0", info: "#00607a", success: "#0a4fc2", warning: "#806000", error: "#662400",
		violet: "#6a3fb5", code: "#7a4b08",
		str: "#0a4fa8", number: "#7a4b08", function: "#1f5fbf", typ: "#6a5600", operator: "#00607a",
		selected: look{fg: "#10223f", bg: "#d3e2ff", bold: true}, match: look{fg: "#3d3000", bg: "#ffe58a", bold: true},
		chip:  look{fg: "#5b2a96", bg: "#eee6fa"},
		added: look{fg: "#0a2f66", bg: "#d4e5ff"}, removed: look{fg: "#5c2a00", bg: "#ffe3bd"},
		addedWord: look{fg: "#05224f", bg: "#9cc4ff"}, removedWrd: look{fg: "#452000", bg: "#ffbe70"},
	}
}

// blueYellow returns the palette for tritanopia, the weakness for blue: teal and red are
// the pair, and nothing differs in blue or yellow alone.
func blueYellow(dark bool) palette {
	if dark {
		return palette{
			dim: "#9aa2b1", border: "#646c7c",
			accent: "#7fc4e8", info: "#8fd8e0", success: "#3fd0c4", warning: "#ffe9c0", error: "#ff7f7f",
			violet: "#f0a8d0", code: "#f0b8a8",
			str: "#7fd8c8", number: "#f0b8a8", function: "#7fc4e8", typ: "#ffd8d0", operator: "#8fd8e0",
			selected: look{fg: "#ffffff", bg: "#1f4f5c", bold: true}, match: look{fg: "#000000", bg: "#ffd8d0", bold: true},
			chip:  look{fg: "#ffd0e6", bg: "#4d2440"},
			added: look{fg: "#b8f0ea", bg: "#06383a"}, removed: look{fg: "#ffc8c8", bg: "#521a1f"},
			addedWord: look{fg: "#ffffff", bg: "#005f5f"}, removedWrd: look{fg: "#ffffff", bg: "#af0000"},
		}
	}
	return palette{
		dim: "#636974", border: "#9aa0aa",
		accent: "#005f7f", info: "#00626b", success: "#00675f", warning: "#6b5348", error: "#b3161e",
		violet: "#96306e", code: "#8a3f30",
		str: "#00675f", number: "#8a3f30", function: "#005f7f", typ: "#7a4038", operator: "#00626b",
		selected: look{fg: "#06282f", bg: "#c4ebf2", bold: true}, match: look{fg: "#4a1410", bg: "#ffc9bd", bold: true},
		chip:  look{fg: "#7a1f58", bg: "#fae4f0"},
		added: look{fg: "#003f3f", bg: "#cdf3f1"}, removed: look{fg: "#6b0f16", bg: "#ffdcdc"},
		addedWord: look{fg: "#002f30", bg: "#86dfda"}, removedWrd: look{fg: "#5a0a10", bg: "#ffaaaa"},
	}
}

// colourBlind16 is [sixteen] with another pair in the places of green and red: cyan and
// magenta for those who confuse these, cyan and red for tritanopia.
func colourBlind16(failed string) looks {
	l := sixteen()
	for _, name := range []string{"success", "toolOK", "added", "addedWord", "string"} {
		s := l[name]
		s.fg = "cyan"
		l[name] = s
	}
	for _, name := range []string{"error", "toolFailed", "removed", "removedWord", "modeBypass"} {
		s := l[name]
		s.fg = failed
		l[name] = s
	}
	return l
}
