package highlight

import (
	"strings"
	"sync"
	"unicode/utf8"

	"scorel/internal/text/style"
)

// maxLine bounds what is coloured of a line, in bytes; the rest of it is plain.
const maxLine = 4 << 10

// Class says what a piece of code is.
type Class uint8

// The classes.
const (
	Plain Class = iota
	Keyword
	String
	Number
	Comment
	Function
	Type
	Operator
	Added   // of a diff
	Removed // of a diff
	Hunk    // of a diff
	Heading // of a text format
)

// Style returns how a class looks.
func (c Class) Style(th *style.Theme) style.Style {
	switch c {
	case Keyword:
		return th.Keyword
	case String:
		return th.String
	case Number:
		return th.Number
	case Comment:
		return th.Comment
	case Function:
		return th.Function
	case Type:
		return th.Type
	case Operator:
		return th.Operator
	case Added:
		return th.Added
	case Removed:
		return th.Removed
	case Hunk:
		return th.Hunk
	case Heading:
		return th.Heading
	}
	return ""
}

// State is what a line needs to know of those before it: 0 at the beginning, else one
// more than the index of the delimiter that is open.
type State uint8

// Language colours one language. A nil Language leaves everything plain.
type Language struct {
	line   []string // what begins a comment to the end of the line
	delims []delim  // longer openings first where one begins another
	words  map[string]Class
	fold   bool   // words count in any case
	ident  string // characters of a word besides letters, digits and _
	sigils string // characters that make a variable of the word after them
	types  bool   // a word that begins with a capital is a type
	calls  bool   // a word before ( is a function
	hash   bool   // a # that begins a comment is at the beginning of a word
	scan   func(line string, st State, emit func(n int, c Class)) State
}

// delim is a string or a comment with an end.
type delim struct {
	open, close string
	class       Class
	escape      byte // what makes the character after it plain, 0 for none
	lines       bool // it goes on over lines
}

// languages are those made so far: at most one for each name of canonical.
var languages sync.Map

// Find returns the language of a name as it stands after the fence of a code block,
// nil when it is not known.
func Find(name string) *Language {
	if len(name) > 32 {
		return nil
	}
	name, _, _ = strings.Cut(name, " ")
	return load(canonical(strings.ToLower(strings.Trim(name, "{}.,:"))))
}

// load returns a language by its canonical name, nil when there is none.
func load(name string) *Language {
	if name == "" {
		return nil
	}
	if l, ok := languages.Load(name); ok {
		return l.(*Language)
	}
	l, _ := languages.LoadOrStore(name, define(name))
	return l.(*Language)
}

// ForFile returns the language of a file by its name, nil when it is not known.
func ForFile(path string) *Language {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	switch low := strings.ToLower(base); {
	case low == "makefile", low == "gnumakefile", strings.HasPrefix(low, "dockerfile"), low == "containerfile":
		if strings.HasPrefix(low, "gnu") {
			low = "makefile"
		}
		name, _, _ := strings.Cut(low, ".")
		return Find(name)
	case low == "go.mod", low == "go.work":
		return Find("go")
	case low == "gemfile", low == "rakefile":
		return Find("ruby")
	}
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		return Find(base[i+1:])
	}
	return nil
}

// Scan says what the pieces of a line are: emit is called with the length of each, in
// order, until the end of the line. It returns the state for the next line.
func (l *Language) Scan(line string, st State, emit func(n int, c Class)) State {
	rest := 0
	if n := maxLine; len(line) > n {
		for n > 0 && !utf8.RuneStart(line[n]) {
			n--
		}
		line, rest = line[:n], len(line)-n
	}
	switch {
	case l == nil:
		emit(len(line), Plain)
	case l.scan != nil:
		st = l.scan(line, st, emit)
	default:
		st = l.code(line, st, emit)
	}
	if rest > 0 {
		emit(rest, Plain)
	}
	return st
}

// Line returns a line in the colours of a theme, upon a style of its own, and the state
// for the next one.
func (l *Language) Line(th *style.Theme, on style.Style, line string, st State) (string, State) {
	if l == nil {
		return on.On(line), 0
	}
	var b strings.Builder
	at, from, now := 0, 0, on
	st = l.Scan(line, st, func(n int, c Class) {
		if s := on.With(c.Style(th)); s != now {
			b.WriteString(now.On(line[from:at]))
			from, now = at, s
		}
		at += n
	})
	if from == 0 {
		return now.On(line), st
	}
	b.WriteString(now.On(line[from:at]))
	return b.String(), st
}

// code scans a line of a language that is made of words, strings and comments.
func (l *Language) code(line string, st State, emit func(n int, c Class)) State {
	i := 0
	if st > 0 && int(st) <= len(l.delims) {
		d := &l.delims[st-1]
		n, closed := d.end(line, 0)
		emit(n, d.class)
		if !closed {
			return st
		}
		i = n
	}
	from := i // of what is plain
	flush := func(to int) {
		if to > from {
			emit(to-from, Plain)
		}
	}
	for i < len(line) {
		c := line[i]
		if c == ' ' {
			i++
			continue
		}
		if l.comment(line, i) {
			flush(i)
			emit(len(line)-i, Comment)
			return 0
		}
		if k := l.opens(line[i:]); k >= 0 {
			d := &l.delims[k]
			flush(i)
			n, closed := d.end(line, i+len(d.open))
			emit(n-i, d.class)
			i, from = n, n
			if !closed && d.lines {
				return State(k + 1)
			}
			continue
		}
		n, class := l.token(line, i)
		if class != Plain {
			flush(i)
			emit(n-i, class)
			from = n
		}
		i = n
	}
	flush(len(line))
	return 0
}

// token returns where the number, word or operator ends that is at i of a line, and what it
// is; Plain for what is none.
func (l *Language) token(line string, i int) (end int, class Class) {
	switch c := line[i]; {
	case c >= '0' && c <= '9':
		return i + number(line[i:]), Number
	case l.letter(c):
		n := l.wordEnd(line, i+1)
		return n, l.word(line, i, n)
	case operator(c):
		n := i + 1
		for n < len(line) && operator(line[n]) && !l.comment(line, n) && l.opens(line[n:]) < 0 {
			n++
		}
		return n, Operator
	case c != 0 && strings.IndexByte(l.sigils, c) >= 0:
		n := i + 1
		if n < len(line) && line[n] == '{' {
			n++
		}
		return l.wordEnd(line, n), Type
	}
	return i + 1, Plain
}

// wordEnd returns where the letters and digits end that are at i of a line.
func (l *Language) wordEnd(line string, i int) int {
	for i < len(line) && (l.letter(line[i]) || line[i] >= '0' && line[i] <= '9') {
		i++
	}
	return i
}

func operator(c byte) bool { return strings.IndexByte("+-*/%=<>!&|^~?:", c) >= 0 }

func (l *Language) letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || l.ident != "" && strings.IndexByte(l.ident, c) >= 0
}

// comment reports whether a comment to the end of the line begins at i.
func (l *Language) comment(line string, i int) bool {
	for _, mark := range l.line {
		if line[i] == mark[0] && strings.HasPrefix(line[i:], mark) {
			return !l.hash || i == 0 || line[i-1] == ' ' || line[i-1] == ';'
		}
	}
	return false
}

// opens returns the delimiter that text begins with, -1 for none.
func (l *Language) opens(text string) int {
	for k := range l.delims {
		if o := l.delims[k].open; text[0] == o[0] && strings.HasPrefix(text, o) {
			return k
		}
	}
	return -1
}

// end returns where the delimiter that is open at i ends in a line, and whether it does.
func (d *delim) end(line string, i int) (int, bool) {
	for i < len(line) {
		if d.escape != 0 && line[i] == d.escape {
			i += 2
			continue
		}
		if line[i] == d.close[0] && strings.HasPrefix(line[i:], d.close) {
			return i + len(d.close), true
		}
		i++
	}
	return len(line), false
}

// word says what the word line[from:to] is.
func (l *Language) word(line string, from, to int) Class {
	w := line[from:to]
	if l.fold {
		w = strings.ToLower(w)
	}
	if c, ok := l.words[w]; ok {
		return c
	}
	if l.calls && to < len(line) && line[to] == '(' {
		return Function
	}
	if l.types && w[0] >= 'A' && w[0] <= 'Z' {
		return Type
	}
	return Plain
}

// number returns the length of the number in front of s.
func number(s string) int {
	n := 1
	for n < len(s) {
		c := s[n]
		switch {
		case c >= '0' && c <= '9', c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case c == '.' && n+1 < len(s) && s[n+1] >= '0' && s[n+1] <= '9':
		case (c == '+' || c == '-') && (s[n-1] == 'e' || s[n-1] == 'E') && !strings.HasPrefix(s, "0x"):
		default:
			return n
		}
		n++
	}
	return n
}
