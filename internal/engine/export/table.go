package export

import "strings"

// isTable says whether two lines are the head of a table.
func isTable(head, rule string) bool {
	if !strings.Contains(head, "|") || !strings.Contains(rule, "-") {
		return false
	}
	for _, c := range cells(rule) {
		c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if c == "" || strings.Trim(c, "-") != "" {
			return false
		}
	}
	return len(cells(head)) == len(cells(rule))
}

// cells gives the cells of a row.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	start := 0
	for i := 0; i <= len(row); i++ {
		switch {
		case i < len(row) && row[i] == '\\':
			i++
		case i >= len(row) || row[i] == '|':
			out = append(out, strings.ReplaceAll(strings.TrimSpace(row[start:min(i, len(row))]), `\|`, "|"))
			start = i + 1
		}
	}
	return out
}

func (m *renderer) table(lines []string) []string {
	columns := len(cells(lines[0]))
	row := func(tag, line string) {
		m.WriteString("<tr>")
		all := cells(line)
		for i := range columns {
			m.WriteString("<" + tag + ">")
			if i < len(all) {
				m.inline(all[i], 0)
			}
			m.WriteString("</" + tag + ">")
		}
		m.WriteString("</tr>\n")
	}
	m.WriteString("<div class=\"wide\"><table>\n<thead>")
	row("th", lines[0])
	m.WriteString("</thead>\n<tbody>\n")
	n := 2
	for ; n < len(lines) && strings.Contains(lines[n], "|"); n++ {
		row("td", lines[n])
	}
	m.WriteString("</tbody></table></div>\n")
	return lines[n:]
}
