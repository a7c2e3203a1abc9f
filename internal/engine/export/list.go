package export

import "strings"

// item is the beginning of a list's item.
type item struct {
	ordered bool
	number  string
	indent  int
	width   int // of indent, mark and blank; 0: it is none
}

func itemOf(line string) item {
	t := strings.TrimLeft(line, " ")
	it := item{indent: len(line) - len(t)}
	n := 0
	switch {
	case t == "":
		return it
	case t[0] == '-' || t[0] == '*' || t[0] == '+':
		n = 1
	default:
		for n < len(t) && n < 9 && t[n] >= '0' && t[n] <= '9' {
			n++
		}
		if n == 0 || n == len(t) || t[n] != '.' && t[n] != ')' {
			return it
		}
		it.ordered, it.number = true, t[:n]
		n++
	}
	if n < len(t) && t[n] != ' ' && t[n] != '\t' {
		return it
	}
	it.width = it.indent + n + 1
	return it
}

func (m *renderer) list(lines []string, depth int) []string {
	first := itemOf(lines[0])
	tag := "ul"
	if first.ordered {
		tag = "ol"
	}
	m.WriteString("<" + tag)
	if first.ordered && first.number != "1" {
		m.WriteString(` start="` + first.number + `"`)
	}
	m.WriteString(">\n")
	for len(lines) > 0 {
		it := itemOf(lines[0])
		if it.width == 0 || it.ordered != first.ordered || it.indent > first.indent+3 || it.indent < first.indent && first.indent > 3 {
			break
		}
		body := []string{lines[0][min(it.width, len(lines[0])):]}
		n, blank := 1, false
		for ; n < len(lines); n++ {
			l := lines[n]
			t := strings.TrimLeft(l, " \t")
			in := len(l) - len(t)
			switch {
			case t == "":
				blank = true
			case in >= it.width || in >= it.indent+2 && in > first.indent && !blank, strings.HasPrefix(l, "\t"):
				blank = false
				l = l[min(in, it.width):]
				body = append(body, l)
				continue
			case blank || begins(l) || itemOf(l).width > 0:
				goto done
			default:
				body = append(body, l)
				continue
			}
			body = append(body, "")
		}
	done:
		m.item(body, depth)
		lines = lines[n:]
	}
	m.WriteString("</" + tag + ">\n")
	return lines
}

func (m *renderer) item(body []string, depth int) {
	for len(body) > 1 && strings.TrimSpace(body[len(body)-1]) == "" {
		body = body[:len(body)-1]
	}
	m.WriteString("<li>")
	switch {
	case strings.HasPrefix(body[0], "[ ] "):
		m.WriteString("☐ ")
		body[0] = body[0][4:]
	case strings.HasPrefix(body[0], "[x] "), strings.HasPrefix(body[0], "[X] "):
		m.WriteString("☑ ")
		body[0] = body[0][4:]
	}
	if len(body) == 1 && fenceOf(body[0]) == "" {
		m.inline(body[0], 0)
	} else {
		m.blocks(body, depth+1)
	}
	m.WriteString("</li>\n")
}
