package connect

import (
	"regexp"
	"strings"
)

// malformed matches what the library says of an answer that it cannot decode: the kind of the
// value that came, and where it is in the type of the library.
var malformed = regexp.MustCompile(`cannot unmarshal (\S+)[^:]* into Go (?:struct field (\S+)|value)?`)

// plainly returns a text of an error of the library in words for people: without the names of
// its calls, and of its types.
func plainly(text string) string {
	for before := ""; before != text; {
		before = text
		for _, lead := range []string{"rejected by transport: ", "connection closed: ", "client is closing: "} {
			text = strings.TrimPrefix(text, lead)
		}
		for _, lead := range []string{"calling ", "sending "} {
			if rest, ok := strings.CutPrefix(text, lead); ok {
				if _, after, ok := strings.Cut(rest, ": "); ok {
					text = after
				}
			}
		}
	}
	if _, media, ok := strings.Cut(text, "unsupported content type "); ok {
		return "its answer has the content type " + media + ", which is none of MCP"
	}
	if m := malformed.FindStringSubmatch(text); m != nil {
		_, field, _ := strings.Cut(m[2], ".") // after the type of the library
		if field == "" {
			return "its answer is not formed as MCP says: there is a value of the wrong kind, " + m[1]
		}
		return "its answer is not formed as MCP says: " + field + " has a value of the wrong kind, " + m[1]
	}
	return text
}
