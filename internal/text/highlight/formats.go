package highlight

import "strings"

// The scanners of formats that are not made of words, strings and comments alone.

// space returns how many blanks text begins with.
func space(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// values scans what stands for values in data: strings, numbers, constants.
func values(text string, emit func(n int, c Class)) { load("data").code(text, 0, emit) }

func json(line string, _ State, emit func(n int, c Class)) State {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == '"':
			d := quoted(`"`)
			n, _ := d.end(line, i+1)
			class := String
			if rest := strings.TrimLeft(line[n:], " "); strings.HasPrefix(rest, ":") {
				class = Function
			}
			emit(n-i, class)
			i = n
		case strings.HasPrefix(line[i:], "//"):
			emit(len(line)-i, Comment)
			return 0
		case c >= '0' && c <= '9', c == '-' && i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9':
			n := number(line[i:])
			emit(n, Number)
			i += n
		case c >= 'a' && c <= 'z':
			n := i
			for n < len(line) && line[n] >= 'a' && line[n] <= 'z' {
				n++
			}
			class := Plain
			if w := line[i:n]; w == "true" || w == "false" || w == "null" {
				class = Keyword
			}
			emit(n-i, class)
			i = n
		default:
			emit(1, Plain)
			i++
		}
	}
	return 0
}

func yaml(line string, _ State, emit func(n int, c Class)) State {
	i := space(line)
	for strings.HasPrefix(line[i:], "- ") {
		i += 2 + space(line[i+2:])
	}
	if i > 0 {
		emit(i, Plain)
	}
	text := line[i:]
	if strings.HasPrefix(text, "#") {
		emit(len(text), Comment)
		return 0
	}
	if text == "---" || text == "..." {
		emit(len(text), Operator)
		return 0
	}
	if n := key(text, ':'); n > 0 {
		emit(n, Function)
		text = text[n:]
	}
	values(text, emit)
	return 0
}

// key returns the length of the key that text begins with and a mark follows, 0 for none.
func key(text string, mark byte) int {
	if text == "" {
		return 0
	}
	n := 0
	if q := text[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(text[1:], q)
		if end < 0 {
			return 0
		}
		n = end + 2
	} else {
		for n < len(text) && text[n] != mark && strings.IndexByte(`#"'{}[],`, text[n]) < 0 {
			n++
		}
	}
	rest := strings.TrimLeft(text[n:], " ")
	if n == 0 || rest == "" || rest[0] != mark || mark == ':' && len(rest) > 1 && rest[1] != ' ' {
		return 0
	}
	return n
}

func toml(line string, _ State, emit func(n int, c Class)) State {
	i := space(line)
	if i > 0 {
		emit(i, Plain)
	}
	text := line[i:]
	switch {
	case text == "":
		return 0
	case text[0] == '#' || text[0] == ';':
		emit(len(text), Comment)
		return 0
	case text[0] == '[' && strings.Contains(text, "]") && !strings.Contains(text, ","):
		end := strings.LastIndexByte(text, ']') + 1
		emit(end, Heading)
		values(text[end:], emit)
		return 0
	}
	if n := key(text, '='); n > 0 {
		emit(n, Function)
		text = text[n:]
	}
	values(text, emit)
	return 0
}

// States of markup.
const (
	inComment State = 1
	inTag     State = 2
)

func markup(line string, st State, emit func(n int, c Class)) State {
	i := 0
	for i < len(line) {
		switch st {
		case inComment:
			end := strings.Index(line[i:], "-->")
			if end < 0 {
				emit(len(line)-i, Comment)
				return st
			}
			emit(end+3, Comment)
			i += end + 3
			st = 0
		case inTag:
			switch c := line[i]; {
			case c == '>':
				emit(1, Keyword)
				i++
				st = 0
			case strings.HasPrefix(line[i:], "/>"):
				emit(2, Keyword)
				i += 2
				st = 0
			case c == '"' || c == '\'':
				end := strings.IndexByte(line[i+1:], c)
				n := len(line) - i
				if end >= 0 {
					n = end + 2
				}
				emit(n, String)
				i += n
			case c == ' ' || c == '=' || c == '/':
				emit(1, Plain)
				i++
			default:
				n := i
				for n < len(line) && strings.IndexByte(` =/>"'`, line[n]) < 0 {
					n++
				}
				emit(n-i, Function)
				i = n
			}
		default:
			open := strings.IndexByte(line[i:], '<')
			if open < 0 {
				emit(len(line)-i, Plain)
				return 0
			}
			if open > 0 {
				emit(open, Plain)
				i += open
			}
			if strings.HasPrefix(line[i:], "<!--") {
				emit(4, Comment)
				i += 4
				st = inComment
				continue
			}
			n := i + 1
			for n < len(line) && strings.IndexByte(` />`, line[n]) < 0 || n == i+1 && n < len(line) && line[n] == '/' {
				n++
			}
			if n == i+1 {
				emit(1, Plain)
				i++
				continue
			}
			emit(n-i, Keyword)
			i = n
			st = inTag
		}
	}
	return st
}

// prose scans Markdown; its state reports whether a code block is open.
func prose(line string, st State, emit func(n int, c Class)) State {
	text := strings.TrimLeft(line, " ")
	switch {
	case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
		emit(len(line), String)
		return 1 - min(st, 1)
	case st == 1:
		emit(len(line), String)
	case strings.HasPrefix(text, "#"):
		emit(len(line), Heading)
	case strings.HasPrefix(text, ">"):
		emit(len(line), Comment)
	case strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "+ "):
		n := len(line) - len(text) + 1
		emit(n, Keyword)
		emit(len(line)-n, Plain)
	default:
		emit(len(line), Plain)
	}
	return st
}

func diff(line string, _ State, emit func(n int, c Class)) State {
	class := Plain
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		class = Heading
	case strings.HasPrefix(line, "@@"):
		class = Hunk
	case strings.HasPrefix(line, "+"):
		class = Added
	case strings.HasPrefix(line, "-"):
		class = Removed
	}
	emit(len(line), class)
	return 0
}

func makefile(line string, _ State, emit func(n int, c Class)) State {
	if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
		for i := 0; i < len(line); i++ {
			if c := line[i]; c == ':' || c == '=' || c == ' ' {
				if i > 0 && (c == ':' || strings.HasPrefix(strings.TrimLeft(line[i:], " :+?"), "=")) {
					emit(i, Function)
					line = line[i:]
				}
				break
			}
		}
	}
	load("recipe").code(line, 0, emit)
	return 0
}
