package frontmatter

import (
	"bytes"
	"strings"
)

// ParseLenient is [Parse] for files that were written for programs which read fields
// more loosely than YAML: a value with ": " in it that is in no quotes, or one that
// begins with a sign of YAML, is the text that it looks like. Where that does not help
// the error is that of Parse. Lines keep their numbers.
func ParseLenient(data []byte) (*Document, error) {
	d, err := Parse(data)
	if err == nil {
		return d, nil
	}
	block, body, _, serr := split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if serr != nil || len(block) == 0 {
		return nil, err
	}
	again, lerr := Parse([]byte("---\n" + loosely(string(block)) + "---\n" + string(body)))
	if lerr != nil {
		return nil, err
	}
	return again, nil
}

// loosely puts values into quotes that are not YAML as they stand.
func loosely(block string) string {
	var out strings.Builder
	var field []string // the lines of one
	flush := func() {
		text := strings.Join(field, "")
		field = nil
		if _, err := Parse([]byte("---\n" + text + "---\n")); err == nil || text == "" {
			out.WriteString(text)
			return
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || !fieldName(name) {
			out.WriteString(text)
			return
		}
		value = strings.Join(strings.Fields(value), " ")
		out.WriteString(name + ": '" + strings.ReplaceAll(value, "'", "''") + "'")
		out.WriteString(strings.Repeat("\n", strings.Count(text, "\n")))
	}
	for line := range strings.Lines(block) {
		if name, rest, ok := strings.Cut(line, ":"); ok && fieldName(name) && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n")) {
			flush()
		}
		field = append(field, line)
	}
	flush()
	return out.String()
}

// fieldName reports whether a text is the name of a field, at the beginning of a line.
func fieldName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}
