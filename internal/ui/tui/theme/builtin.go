package theme

// palette is the colours that a built-in theme is made of, a field for each. Text itself
// keeps the terminal's own colour.
type palette struct {
	text, dim, border                     string
	accent, info, success, warning, error string
	violet, code                          string
	str, number, function, typ, operator  string // of highlighted code
	selected, match, chip                 look
	added, removed, addedWord, removedWrd look
	bold                                  bool // what is coloured is bold too
}

// builtin returns a theme that is built in, nil when there is none of that name.
func builtin(name string, dark bool) looks {
	switch {
	case name == Sixteen:
		return sixteen()
	case name == Colourless:
		return colourless()
	case name == Deuteranopia:
		return rich(redGreen(dark))
	case name == Tritanopia:
		return rich(blueYellow(dark))
	case name == HighContrast && dark:
		return rich(palette{
			text: "#ffffff", dim: "#d0d0d0", border: "#ffffff",
			accent: "#6ecbff", info: "#7df9ff", success: "#5cff7a", warning: "#ffe14d", error: "#ff9d94",
			violet: "#e3b3ff", code: "#ffc266",
			str: "#8dff9f", number: "#ffc266", function: "#8fd3ff", typ: "#ffe14d", operator: "#7df9ff",
			selected: look{fg: "#000000", bg: "#ffffff", bold: true}, match: look{fg: "#000000", bg: "#ffe14d", bold: true},
			chip:  look{fg: "#000000", bg: "#e3b3ff"},
			added: look{fg: "#5cff7a"}, removed: look{fg: "#ff9d94"},
			addedWord: look{fg: "#000000", bg: "#5cff7a"}, removedWrd: look{fg: "#000000", bg: "#ff9d94"},
			bold: true,
		})
	case name == HighContrast:
		return rich(palette{
			text: "#000000", dim: "#333333", border: "#000000",
			accent: "#00309c", info: "#004a5c", success: "#004d1a", warning: "#5c3a00", error: "#8b0000",
			violet: "#4d0b86", code: "#612d00",
			str: "#004d1a", number: "#612d00", function: "#00309c", typ: "#4f3d00", operator: "#004a5c",
			selected: look{fg: "#ffffff", bg: "#000000", bold: true}, match: look{fg: "#000000", bg: "#ffe14d", bold: true},
			chip:  look{fg: "#ffffff", bg: "#4d0b86"},
			added: look{fg: "#004d1a"}, removed: look{fg: "#8b0000"},
			addedWord: look{fg: "#ffffff", bg: "#004d1a"}, removedWrd: look{fg: "#ffffff", bg: "#8b0000"},
			bold: true,
		})
	case name == Dark:
		return rich(palette{
			dim: "#9aa2b1", border: "#646c7c",
			accent: "#8ab4f8", info: "#7fc8d8", success: "#7ecb96", warning: "#e5c07b", error: "#f79a92",
			violet: "#cfa0ee", code: "#e8b878",
			str: "#9ccc83", number: "#e6ad7c", function: "#84bdf7", typ: "#e5c07b", operator: "#7fc8d8",
			selected: look{fg: "#ffffff", bg: "#31466b", bold: true}, match: look{fg: "#ffe9a6", bg: "#5a4a0a", bold: true},
			chip:  look{fg: "#dcc3f5", bg: "#3a3150"},
			added: look{fg: "#b9e6c6", bg: "#16301f"}, removed: look{fg: "#f5bdbd", bg: "#3b1a1d"},
			addedWord: look{fg: "#e9ffee", bg: "#24603a"}, removedWrd: look{fg: "#ffe8e8", bg: "#742d33"},
		})
	case name == Light:
		return rich(palette{
			dim: "#636974", border: "#9aa0aa",
			accent: "#0b57d0", info: "#00677d", success: "#1a6e37", warning: "#855600", error: "#b3261e",
			violet: "#7b3fb5", code: "#8a4b08",
			str: "#1a6e37", number: "#93480f", function: "#1f5fbf", typ: "#765900", operator: "#00677d",
			selected: look{fg: "#10223f", bg: "#d3e2ff", bold: true}, match: look{fg: "#3d3000", bg: "#ffe58a", bold: true},
			chip:  look{fg: "#5b2a96", bg: "#eee6fa"},
			added: look{fg: "#11401f", bg: "#dff3e4"}, removed: look{fg: "#6b1216", bg: "#fbe3e4"},
			addedWord: look{fg: "#0c3318", bg: "#a9dfb8"}, removedWrd: look{fg: "#5a0b10", bg: "#f3b6b9"},
		})
	}
	return nil
}

// rich returns the styles of a palette.
func rich(c palette) looks {
	return looks{
		"text": {fg: c.text}, "dim": {fg: c.dim}, "strong": {fg: c.text, bold: true}, "accent": {fg: c.accent, bold: c.bold},
		"info": {fg: c.info}, "success": {fg: c.success}, "warning": {fg: c.warning, bold: c.bold}, "error": {fg: c.error, bold: c.bold},
		"border": {fg: c.border}, "borderFocus": {fg: c.accent, bold: c.bold},
		"selected": c.selected, "match": c.match, "cursor": {reverse: true},
		"user": {fg: c.text}, "userMark": {fg: c.accent, bold: true}, "assistant": {fg: c.text}, "assistantMark": {fg: c.violet},
		"thinking": {fg: c.dim, italic: true},
		"heading":  {fg: c.accent, bold: true}, "link": {fg: c.info, underline: true}, "code": {fg: c.code}, "quote": {fg: c.dim, italic: true},
		"emphasis": {italic: true}, "struck": {struck: true},
		"codeBlock": {fg: c.text}, "listMark": {fg: c.accent}, "rule": {fg: c.border},
		"toolName": {fg: c.text, bold: true}, "toolArg": {fg: c.info}, "toolOutput": {fg: c.dim},
		"toolRunning": {fg: c.warning}, "toolOK": {fg: c.success}, "toolFailed": {fg: c.error, bold: c.bold},
		"added": c.added, "removed": c.removed, "addedWord": c.addedWord, "removedWord": c.removedWrd,
		"changed": {fg: c.warning}, "context": {fg: c.text}, "lineNumber": {fg: c.dim}, "hunk": {fg: c.info},
		"keyword": {fg: c.violet, bold: c.bold}, "string": {fg: c.str}, "number": {fg: c.number}, "comment": {fg: c.dim, italic: true},
		"function": {fg: c.function}, "type": {fg: c.typ}, "operator": {fg: c.operator},
		"statusLine": {fg: c.dim}, "statusKey": {fg: c.accent},
		"modePlan": {fg: c.info, bold: true}, "modeEdits": {fg: c.violet, bold: true}, "modeBypass": {fg: c.error, bold: true},
		"chip": c.chip,
	}
}

// sixteen uses the terminal's own colours, so it follows its palette, dark or light.
// Blue and yellow are left out where text must be read: they are not readable on
// every background.
func sixteen() looks {
	l := rich(palette{
		accent: "cyan", info: "cyan", success: "green", warning: "yellow", error: "red",
		violet: "magenta", code: "magenta",
		str: "green", number: "magenta", function: "cyan", typ: "cyan", operator: "default",
		selected: look{reverse: true, bold: true}, match: look{underline: true, bold: true}, chip: look{fg: "magenta", reverse: true},
		added: look{fg: "green"}, removed: look{fg: "red"},
		addedWord: look{fg: "green", reverse: true}, removedWrd: look{fg: "red", reverse: true},
	})
	for _, name := range []string{"dim", "border", "thinking", "quote", "rule", "toolOutput", "lineNumber", "comment", "statusLine"} {
		s := l[name]
		s.faint = true
		l[name] = s
	}
	return l
}

// colourless tells things apart by weight, lines and reversed cells.
func colourless() looks {
	bold, underline, reverse := look{bold: true}, look{underline: true}, look{reverse: true}
	return looks{
		"strong": bold, "accent": bold, "warning": bold, "error": bold, "success": bold,
		"borderFocus": bold, "selected": {reverse: true, bold: true}, "match": {bold: true, underline: true}, "cursor": reverse,
		"userMark": bold, "assistantMark": bold, "heading": {bold: true, underline: true}, "link": underline, "code": bold, "listMark": bold,
		"emphasis": underline,
		"toolName": bold, "toolRunning": bold, "toolOK": bold, "toolFailed": {bold: true, reverse: true},
		"added": bold, "removed": underline, "addedWord": {bold: true, reverse: true}, "removedWord": {underline: true, reverse: true}, "changed": bold,
		"keyword": bold, "statusKey": bold, "modePlan": bold, "modeEdits": bold, "modeBypass": {bold: true, reverse: true},
		"chip": reverse,
	}
}
