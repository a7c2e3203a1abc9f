package tool

import (
	"fmt"
	"strings"
)

// replace applies the edits in order, all or none, and says how many places were
// replaced. In a text whose line endings are all CRLF every line ending of an
// edit is one too; in a mixed text an old string is looked for as it is, then
// with CRLF.
func replace(text string, edits []replacement) (string, int, error) {
	crlf, mixed := allCRLF([]byte(text)), strings.Contains(text, "\r\n")
	total := 0
	for i, e := range edits {
		which := ""
		if len(edits) > 1 {
			which = fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
		}
		if crlf {
			e.Old, e.New = toCRLF(e.Old), toCRLF(e.New)
		}
		switch {
		case e.Old == "":
			return "", 0, fmt.Errorf("%sold_string is empty. Nothing was changed", which)
		case e.Old == e.New:
			return "", 0, fmt.Errorf("%sold_string and new_string are the same. Nothing was changed", which)
		}
		n := occurrences(text, e.Old)
		if n == 0 && mixed && !crlf {
			if old := toCRLF(e.Old); occurrences(text, old) > 0 {
				e.Old, e.New = old, toCRLF(e.New)
				n = occurrences(text, e.Old)
			}
		}
		switch {
		case n == 0:
			return "", 0, fmt.Errorf("%sold_string was not found. Nothing was changed.%s", which, nearest(text, e.Old))
		case n > 1 && !e.All:
			return "", 0, fmt.Errorf("%sold_string occurs %d times, on lines %s. Nothing was changed. Add lines around it to make it unique, or set replace_all", which, n, linesOf(text, e.Old))
		}
		if e.All {
			n = strings.Count(text, e.Old)
		}
		text = strings.Replace(text, e.Old, e.New, n)
		total += n
	}
	return text, total, nil
}

// occurrences counts the places where old begins, up to 1,000, also those that
// overlap: of two overlapping ones nobody can say which is meant.
func occurrences(text, old string) int {
	n := 0
	for at := 0; n < 1000; n++ {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		at += i + 1
	}
	return n
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// linesOf lists the lines on which old begins, at most 20.
func linesOf(text, old string) string {
	var lines []string
	line, from := 1, 0
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		if len(lines) == 20 {
			lines = append(lines, "…")
			break
		}
		at += i
		line += strings.Count(text[from:at], "\n")
		from = at
		lines = append(lines, fmt.Sprint(line))
		at++
	}
	return strings.Join(lines, ", ")
}
