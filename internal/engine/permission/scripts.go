package permission

import (
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// awkProgram refuses a program of awk that could run another one or open a file. It is
// the first operand, as options that bring one are refused.
func awkProgram(words []shellparse.Word, named int) bool {
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Text == "-v" || w.Text == "-F":
			i++
			continue
		case strings.HasPrefix(w.Text, "-") && w.Text != "-" && w.Text != "--":
			continue
		case w.Text == "--":
			continue
		case i < named:
			return true
		case !w.Literal:
			return false
		}
		text := comparisons(strings.ReplaceAll(w.Text, "||", ""))
		for _, bad := range []string{"system", "getline", "@", ">", "|"} {
			if strings.Contains(text, bad) {
				return false
			}
		}
		return true
	}
	return true
}

// comparisons leaves the signs out of a program of awk that certainly compare: those that
// are in patterns, outside of braces, before anything that could hold a brace as text.
func comparisons(program string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(program); i++ {
		c := program[i]
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return b.String() + program[i:]
			}
		case '/', '#', '"', '\\', '\'':
			return b.String() + program[i:]
		case '>':
			if depth == 0 && !strings.HasPrefix(program[i:], ">>") {
				continue
			}
			return b.String() + program[i:]
		}
		b.WriteByte(c)
	}
	return b.String()
}

// sedScript refuses scripts of sed that run commands or read and write files, and those
// that are not certain to be read as here.
func sedScript(words []shellparse.Word, named int) bool {
	given := false // a script came as an option
	check := func(i int, text string) bool {
		given = true
		return i < named || words[i].Literal && harmlessSed(text)
	}
	first := 0
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		name, value, has := strings.Cut(text, "=")
		switch {
		case text == "--":
			if first == 0 && i+1 < len(words) {
				first = i + 1
			}
			i = len(words)
		case len(name) > 2 && strings.HasPrefix("--expression", name):
			if !has {
				if i++; i == len(words) {
					return true
				}
				value = words[i].Text
			}
			if !check(i, value) {
				return false
			}
		case len(name) > 2 && strings.HasPrefix("--line-length", name):
			if !has {
				i++
			}
		case strings.HasPrefix(text, "--"):
		case len(text) > 1 && text[0] == '-':
			at := strings.IndexAny(text[1:], "el") + 1
			if at == 0 {
				continue
			}
			if value = text[at+1:]; value == "" {
				if i++; i == len(words) {
					return true
				}
				value = words[i].Text
			}
			if text[at] == 'e' && !check(i, value) {
				return false
			}
		case first == 0:
			first = i
		}
	}
	return given || first == 0 || check(first, words[first].Text)
}

// harmlessSed reports whether a script of sed is made of commands that only look at and
// change the text on its way.
func harmlessSed(script string) bool {
	s := sedReader{text: script}
	for {
		s.skip(" \t\n;")
		if s.done() {
			return true
		}
		if !s.address() || !s.command() {
			return false
		}
	}
}

type sedReader struct {
	text string
	at   int
}

func (s *sedReader) done() bool { return s.at >= len(s.text) }

func (s *sedReader) peek() byte {
	if s.done() {
		return 0
	}
	return s.text[s.at]
}

func (s *sedReader) skip(set string) {
	for !s.done() && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

// until goes after the next delimiter that no backslash is before. What is between
// brackets may hold the delimiter for sed; where it does the script is not certain.
func (s *sedReader) until(delimiter byte) bool {
	for ; !s.done(); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.at++
		case c == delimiter:
			s.at++
			return true
		case c == '\n' || c == '[' && s.ambiguous(delimiter):
			return false
		}
	}
	return false
}

// ambiguous reports whether a bracket that opens here holds the delimiter.
func (s *sedReader) ambiguous(delimiter byte) bool {
	rest := s.text[s.at+1:]
	rest = strings.TrimPrefix(rest, "^")
	end := 0
	if strings.HasPrefix(rest, "]") {
		end = 1
	}
	i := strings.IndexByte(rest[end:], ']')
	return i >= 0 && strings.IndexByte(rest[:end+i], delimiter) >= 0
}

// address reads no, one or two addresses and what is before a command.
func (s *sedReader) address() bool {
	for {
		switch c := s.peek(); {
		case c >= '0' && c <= '9' || c == '$' || c == ',' || c == '+' || c == '~' || c == '!' || c == ' ' || c == '\t':
			s.at++
		case c == '/':
			s.at++
			if !s.until('/') {
				return false
			}
			s.skip("IM")
		case c == '\\':
			s.at++
			d := s.peek()
			s.at++
			if d == 0 || d == '\n' || d == '\\' || d >= 0x80 || !s.until(d) {
				return false
			}
			s.skip("IM")
		default:
			return true
		}
	}
}

// command reads one command with its end.
func (s *sedReader) command() bool {
	c := s.peek()
	s.at++
	switch c {
	case '{', '}':
		return true
	case '#':
		s.line()
		return true
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
		return s.end()
	case 'l', 'L', 'q', 'Q':
		s.skip(" \t0123456789")
		return s.end()
	case 'b', 't', 'T', ':':
		s.skip(" \t")
		for !s.done() && strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", s.peek()) >= 0 {
			s.at++
		}
		return s.end()
	case 'a', 'i', 'c':
		return !strings.Contains(s.line(), "\\")
	case 's', 'y':
		d := s.peek()
		s.at++
		if d == 0 || d == '\n' || d == '\\' || d >= 0x80 || !s.until(d) || !s.until(d) {
			return false
		}
		if c == 's' {
			s.skip("gpiIMm0123456789")
		}
		return s.end()
	}
	return false
}

// line reads to the end of the line.
func (s *sedReader) line() string {
	from := s.at
	for !s.done() && s.peek() != '\n' {
		s.at++
	}
	return s.text[from:s.at]
}

// end reports whether the command ends here.
func (s *sedReader) end() bool {
	s.skip(" \t")
	switch s.peek() {
	case 0, '\n', ';', '}', '#':
		return s.done() || s.peek() != 0
	}
	return false
}
