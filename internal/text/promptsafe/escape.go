package promptsafe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text frames a text from outside. Attrs are written as they are, after a blank
// of their own. Nothing in the text can end the frame.
func Text(tag, attrs, text string) string {
	open, text, end := Parts(tag, attrs, text)
	return open + text + end
}

// Parts is [Text] in three: what is before the text, the text, and what is after it.
func Parts(tag, attrs, text string) (open, escaped, end string) {
	return "<" + tag + attrs + ">\n", escape(text, tag), "\n</" + tag + ">"
}

// Escape writes &lt; for the < of every tag, open or closed, to which the program
// gives a meaning in what a model reads: the frames of texts from outside, and
// reminders, which a model takes for the program's own words. Text without one is
// returned as it is.
func Escape(s string) string { return escape(s, "") }

// escape is Escape that also breaks the end of the frame that is named.
func escape(s, tag string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '<' || !meant(s[i+1:]) && !ends(s[i+1:], tag) {
			continue
		}
		b.WriteString(s[from:i])
		b.WriteString("&lt;")
		from = i + 1
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// meant reports whether what follows a < is the name of such a tag, or of its end.
// White space before it and what nobody sees do not count.
func meant(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '/' || blank(r) })
	// web_ begins the names of all frames of the web.
	for _, name := range [...]string{"web_", "system-reminder", "project-instructions", "user-instructions", "workspace-files",
		"mcp-prompt", "mcp-resource", "mcp-instructions", "project-command", "project-skill"} {
		if _, ok := cutName(s, name); ok {
			return true
		}
	}
	// With attributes, in any order: feeds have channels without. A frame of a file or an output
	// can be in that of a command, and in much that is no frame.
	for _, name := range [...]string{"channel", "skill", "heartbeat"} {
		if rest, ok := cutName(s, name); ok && (strings.HasPrefix(rest, "/") || startsBlank(rest)) {
			return true
		}
	}
	return false
}

// ends reports whether what follows a < is the end of the frame of a tag.
func ends(s, tag string) bool {
	s = strings.TrimLeftFunc(s, blank)
	if tag == "" || !strings.HasPrefix(s, "/") {
		return false
	}
	rest, ok := cutName(strings.TrimLeftFunc(s[1:], blank), tag)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ">/") || startsBlank(rest))
}

// blank reports whether a character is white space, of any script, or is not seen.
func blank(r rune) bool { return unicode.IsSpace(r) || hidden(r) }

func startsBlank(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return blank(r)
}

// cutName returns what follows a lower-case name at the beginning of a text, in any
// case and whatever stands unseen between its letters.
func cutName(s, name string) (rest string, ok bool) {
	for i, r := range s {
		switch {
		case hidden(r):
		case name == "":
			return s[i:], true
		case r < utf8.RuneSelf && unicode.ToLower(r) == rune(name[0]):
			name = name[1:]
		default:
			return "", false
		}
	}
	return "", name == ""
}

func hidden(r rune) bool { return unseen(r) || selects(r) || joins(r) }
