package transcript

import (
	"strings"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
)

// plain returns a line without its styles.
func plain(line string) string { return cell.Plain(line) }

// cut returns at most n bytes of text, whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// dropCells returns a line without its first n cells, in the styles that it had there.
func dropCells(line string, n int) string { return cell.CutLeft(line, n, "") }

// mark shows all places of a text in a line, whatever its case.
func mark(line, query string, style theme.Style) string {
	if style == "" || query == "" {
		return line
	}
	low := strings.ToLower(plain(line))
	query = strings.ToLower(query)
	if len(low) != len(plain(line)) || !strings.Contains(low, query) {
		return line
	}
	var b strings.Builder
	on, at, end := "", 0, -1 // the style that is on, the byte of low, where a match ends
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			n := escape(line[i:])
			seq := line[i : i+n]
			if strings.HasPrefix(seq, "\x1b[") {
				if seq == "\x1b[m" || seq == "\x1b[0m" {
					on = ""
				} else {
					on += seq
				}
			}
			if at >= end || !strings.HasPrefix(seq, "\x1b[") {
				b.WriteString(seq)
			}
			i += n
			continue
		}
		if at >= end && strings.HasPrefix(low[at:], query) {
			end = at + len(query)
			b.WriteString("\x1b[m" + string(style))
		}
		b.WriteByte(line[i])
		i++
		if at++; at == end {
			b.WriteString("\x1b[m" + on)
		}
	}
	return b.String()
}

// escape returns the length of the sequence in front of s: SGR, or OSC with its end.
func escape(s string) int {
	if strings.HasPrefix(s, "\x1b]") {
		if i := strings.Index(s, "\x1b\\"); i >= 0 {
			return i + 2
		}
		return len(s)
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}
