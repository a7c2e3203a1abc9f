package demo

import (
	"slices"
	"strings"
)

// report is what a test script printed.
type report struct {
	passed []string // the names of the checks that passed
	failed []check
	tail   string // the last lines, for a script that names no checks
}

// check is one failing check. Expected and got are empty when it names none.
type check struct {
	name          string
	text          string // all that it printed
	expected, got string
}

// parseReport reads the output of a test script: a line that begins with a word
// for failure opens a failing check, and the indented lines and those with a
// value after it belong to it.
func parseReport(output string) report {
	var r report
	var open *check
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	for _, line := range lines {
		word, rest := verdict(line)
		switch {
		case word == passing:
			r.passed = append(r.passed, rest)
			open = nil
		case word == failing:
			r.failed = append(r.failed, check{name: rest, text: rest})
			open = &r.failed[len(r.failed)-1]
		case open != nil && (open.value(line) || strings.TrimLeft(line, " \t") != line):
			open.text += "\n" + strings.TrimSpace(line)
		default:
			open = nil
		}
	}
	r.tail = strings.Join(lines[max(0, len(lines)-5):], "\n")
	return r
}

// first returns the check to look at: of those that fail the simplest, which is
// the first that names the fewest options.
func (r report) first() check {
	if len(r.failed) > 0 {
		return slices.MinFunc(r.failed, func(a, b check) int { return len(options(a.text)) - len(options(b.text)) })
	}
	return check{name: lastLine(r.tail), text: r.tail}
}

func lastLine(s string) string {
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

const (
	passing = "pass"
	failing = "fail"
)

// verdict reports whether a line names a passing or failing check, and its name.
func verdict(line string) (word, name string) {
	lower := strings.ToLower(line)
	for _, mark := range [...]string{"not ok", "failed", "fail", "error", "✗", "✘"} {
		if rest, ok := cutWord(line, lower, mark); ok {
			return failing, rest
		}
	}
	for _, mark := range [...]string{"ok", "passed", "pass", "✓", "✔"} {
		if rest, ok := cutWord(line, lower, mark); ok {
			return passing, rest
		}
	}
	return "", ""
}

// cutWord returns what is after a mark at the beginning of the line, without
// the punctuation and numbers between them.
func cutWord(line, lower, mark string) (string, bool) {
	if !strings.HasPrefix(lower, mark) {
		return "", false
	}
	rest := line[len(mark):]
	trimmed := strings.TrimLeft(rest, " \t:-.#0123456789[]()")
	return strings.TrimSpace(keepDashes(rest, trimmed)), rest == "" || rest != trimmed
}

// keepDashes returns the dashes of an option that begins the name.
func keepDashes(rest, trimmed string) string {
	head := rest[:len(rest)-len(trimmed)]
	if i := strings.LastIndexAny(head, " \t"); i >= 0 && strings.HasSuffix(head, "-") && len(head)-i > 1 && trimmed != "" {
		return head[i+1:] + trimmed
	}
	return trimmed
}

// value takes in a line such as "expected: 3".
func (c *check) value(line string) bool {
	label, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(label)) {
	case "expected", "want", "wanted":
		c.expected = strings.TrimSpace(value)
	case "got", "actual", "received", "but got":
		c.got = strings.TrimSpace(value)
	default:
		return false
	}
	return true
}
