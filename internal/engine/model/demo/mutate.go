package demo

import (
	"slices"
	"strconv"
	"strings"
)

// mutation is a change of one token of one line.
type mutation struct {
	line     int // from 0
	from, to string
	text     string // the line with the change
	weight   float64
}

// edge says whether the mutation moves only the edge of a comparison.
func (m mutation) edge() bool { return m.from+"=" == m.to || m.to+"=" == m.from }

// Weights of mutations: how often such a slip is the fault, by feeling.
const (
	likely   = 1.0
	possible = 0.6
	rare     = 0.35
	unlikely = 0.2
)

// mutations gives the changes that may repair a line. vars are the variables of
// the file, which can be mistaken for each other.
func mutations(n int, line string, vars []variable) []mutation {
	if t := strings.TrimSpace(line); t == "" || t[0] == '#' || strings.HasPrefix(t, "//") {
		return nil
	}
	m := mutator{n: n, line: line, sums: strings.Contains(line, "((") || strings.Contains(line, "let ")}
	m.tests = m.sums || strings.Contains(line, "[[") || strings.Contains(line, "[ ") || strings.Contains(line, "test ") ||
		strings.Contains(line, "if (") || strings.Contains(line, "while (")
	tokens := tokensOf(line)
	for _, t := range tokens {
		switch t.kind {
		case operator:
			m.operator(t)
		case number:
			m.number(t)
		case flag:
			m.flag(t)
		case word:
			m.word(t, vars, assigns(line, t))
		}
	}
	m.negate(tokens)
	return m.found
}

type mutator struct {
	n     int
	line  string
	sums  bool // the line does arithmetic
	tests bool // the line compares
	found []mutation
}

// swap adds the change of a token into another text.
func (m *mutator) swap(t token, to string, weight float64) {
	from := m.line[t.at:t.end]
	if from != to {
		m.found = append(m.found, mutation{line: m.n, from: from, to: to, text: m.line[:t.at] + to + m.line[t.end:], weight: weight})
	}
}

func (m *mutator) swaps(t token, weight float64, to ...string) {
	for _, s := range to {
		m.swap(t, s, weight)
	}
}

func (m *mutator) operator(t token) {
	op := m.line[t.at:t.end]
	spaced := t.at > 0 && m.line[t.at-1] == ' ' && t.end < len(m.line) && m.line[t.end] == ' '
	switch op {
	case "&&":
		m.swap(t, "||", likely)
	case "||":
		m.swap(t, "&&", likely)
	case "==":
		m.swap(t, "!=", likely)
	case "!=":
		m.swap(t, "==", likely)
	case "++":
		m.swap(t, "--", likely)
	case "--":
		if m.sums {
			m.swap(t, "++", likely)
		}
	case "+=":
		m.swap(t, "-=", likely)
		m.swap(t, "=", possible)
	case "-=":
		m.swap(t, "+=", likely)
	case "*=", "/=":
		m.swaps(t, possible, "+=", "*=", "/=")
	case "##", "#", "%%", "%":
		if !m.trims(t) && op == "%" && spaced {
			m.swaps(t, likely, "/")
			m.swap(t, "*", rare)
		}
	case ",,":
		m.swap(t, "^^", likely)
	case "^^":
		m.swap(t, ",,", likely)
	case ">>":
		m.swap(t, ">", possible)
	case "=":
		if spaced && m.tests {
			m.swap(t, "!=", likely)
		} else if m.sums {
			m.swap(t, "+=", rare)
		} else if strings.HasPrefix(m.line[t.end:], "(\"") {
			m.swap(t, "+=", possible)
		}
	case "@":
		m.swap(t, "*", unlikely)
	case "!":
		m.unnegate(t)
	case "-":
		if t.at > 0 && m.line[t.at-1] == '%' {
			m.swap(t, "", possible) // aligned to the other side
		}
	}
	if m.sums || m.tests && spaced {
		m.comparison(t, op)
	}
	if m.sums {
		m.arithmetic(t, op)
	} else if op == ">" && spaced && !m.tests {
		m.swap(t, ">>", possible)
	}
}

func (m *mutator) comparison(t token, op string) {
	switch op {
	case ">":
		m.swap(t, ">=", likely)
		m.swap(t, "<", possible)
		m.swap(t, "<=", possible)
	case "<":
		m.swap(t, "<=", likely)
		m.swap(t, ">", possible)
		m.swap(t, ">=", possible)
	case ">=":
		m.swap(t, ">", likely)
		m.swap(t, "<=", possible)
		m.swap(t, "<", possible)
	case "<=":
		m.swap(t, "<", likely)
		m.swap(t, ">=", possible)
		m.swap(t, ">", possible)
	case "==":
		m.swaps(t, unlikely, ">=", "<=", ">", "<")
	case "!=":
		m.swaps(t, unlikely, ">", "<")
	}
}

func (m *mutator) arithmetic(t token, op string) {
	switch op {
	case "+":
		m.swap(t, "-", likely)
		m.swap(t, "*", rare)
	case "-":
		m.swap(t, "+", likely)
		m.swap(t, "/", rare)
		m.swap(t, "*", unlikely)
	case "*":
		if t.at > 0 && m.line[t.at-1] == ' ' {
			m.swap(t, "/", likely)
			m.swap(t, "+", possible)
			m.swap(t, "-", unlikely)
		}
	case "/":
		m.swap(t, "*", likely)
		m.swap(t, "%", possible)
		m.swap(t, "-", rare)
	}
}

// trims handles the operators that cut a variable's beginning or end off.
func (m *mutator) trims(t token) bool {
	open := strings.LastIndex(m.line[:t.at], "${")
	if open < 0 || t.at == open+2 || strings.Contains(m.line[open:t.at], "}") {
		return false
	}
	end := "#" // cut at the other end
	if m.line[t.at] == '#' {
		end = "%"
	}
	m.swap(t, strings.Repeat(end, t.end-t.at), likely)
	m.swap(t, strings.Repeat(m.line[t.at:t.at+1], 3-(t.end-t.at)), possible) // the longest or the shortest
	return true
}

// unnegate takes a "!" away.
func (m *mutator) unnegate(t token) {
	if t.end < len(m.line) && m.line[t.end] == ' ' {
		m.swap(token{at: t.at, end: t.end + 1}, "", likely)
	}
}

// negate puts a "!" behind the first word that opens a condition.
func (m *mutator) negate(tokens []token) {
	for _, t := range tokens {
		switch m.line[t.at:t.end] {
		case "if", "while", "elif", "until":
			if strings.HasPrefix(m.line[t.end:], " ") && !strings.HasPrefix(m.line[t.end:], " !") {
				m.swap(t, m.line[t.at:t.end]+" !", possible)
			}
			return
		}
	}
}

func (m *mutator) number(t token) {
	n, err := strconv.Atoi(m.line[t.at:t.end])
	if err != nil || n > 1<<30 {
		return
	}
	weight := possible
	if before := m.line[:t.at]; strings.HasSuffix(before, "exit ") || strings.HasSuffix(before, "return ") || strings.HasSuffix(before, ">&") || strings.HasSuffix(m.line[:t.at+1], " 2") && strings.HasPrefix(m.line[t.end:], ">") {
		weight = unlikely
	}
	if t.end < len(m.line) && m.line[t.end] == ']' && t.at > 0 && m.line[t.at-1] == '-' || strings.HasPrefix(m.line[t.end:], "-") && t.at > 0 && m.line[t.at-1] == '[' {
		weight = unlikely // a range of characters
	}
	m.swap(t, strconv.Itoa(n+1), weight)
	if n > 0 {
		m.swap(t, strconv.Itoa(n-1), weight)
	}
	if n > 1 {
		m.swaps(t, weight*rare, "0", "1")
	}
	if n >= 10 {
		m.swaps(t, weight*rare, strconv.Itoa(n*10), strconv.Itoa(n/10))
	}
}

func (m *mutator) flag(t token) {
	f := m.line[t.at+1 : t.end]
	switch f {
	case "gt":
		m.comparisonFlag(t, "-ge", "-lt", "-le")
	case "ge":
		m.comparisonFlag(t, "-gt", "-le", "-lt")
	case "lt":
		m.comparisonFlag(t, "-le", "-gt", "-ge")
	case "le":
		m.comparisonFlag(t, "-lt", "-ge", "-gt")
	case "eq":
		m.comparisonFlag(t, "-ne", "-ge", "-le")
	case "ne":
		m.comparisonFlag(t, "-eq", "-gt", "-lt")
	case "z":
		m.swap(t, "-n", likely)
	case "n":
		if m.tests {
			m.swap(t, "-z", likely)
		}
	case "e", "f", "d", "r", "s", "x", "w":
		if m.tests {
			m.swaps(t, rare, "-e", "-f", "-d", "-r")
		}
	}
	command := m.command(t)
	switch command {
	case "wc":
		m.swaps(t, likely, "-l", "-w", "-c")
	case "sort":
		if !strings.ContainsAny(f, "kto") {
			m.letters(t, "nru")
		}
	case "uniq":
		m.letters(t, "cdu")
	case "grep":
		m.letters(t, "ivcwx")
	case "head", "tail":
		m.swaps(t, rare, "-n", "-c")
	}
}

func (m *mutator) comparisonFlag(t token, near, opposite, other string) {
	m.swap(t, near, likely)
	m.swap(t, opposite, possible)
	m.swap(t, other, rare)
}

// letters takes a letter out of a cluster of flags, or puts one in.
func (m *mutator) letters(t token, known string) {
	f := m.line[t.at+1 : t.end]
	for _, c := range known {
		if strings.ContainsRune(f, c) {
			if rest := strings.Replace(f, string(c), "", 1); rest != "" {
				m.swap(t, "-"+rest, possible)
			}
		} else {
			m.swap(t, "-"+f+string(c), possible)
		}
	}
}

// command gives the name of the command that a token belongs to.
func (m *mutator) command(t token) string {
	before := m.line[:t.at]
	for _, sep := range [...]string{"|", ";", "$(", "&&", "("} {
		if i := strings.LastIndex(before, sep); i >= 0 {
			before = before[i+len(sep):]
		}
	}
	name, _, _ := strings.Cut(strings.TrimSpace(before), " ")
	return name
}

// word changes words that are often mistaken for each other.
func (m *mutator) word(t token, vars []variable, assigned bool) {
	w := m.line[t.at:t.end]
	if to := opposite(w); to != "" {
		m.swap(t, to, likely)
		return
	}
	if command := m.command(t); command == "sort" && strings.HasSuffix(m.line[:t.at], ",") || command == "sort" && t.at > 0 && isDigit(m.line[t.at-1]) {
		m.keyLetters(t, w)
		return
	}
	m.variable(t, vars, assigned)
}

// variable takes a variable for another of its kind. Names of one letter count
// loops and are seldom mistaken.
func (m *mutator) variable(t token, vars []variable, assigned bool) {
	w := m.line[t.at:t.end]
	before := m.line[:t.at]
	if len(w) == 1 || !assigned && !within(before, "((", "))") && !strings.HasSuffix(before, "$") && !strings.HasSuffix(before, "{") && !strings.HasSuffix(before, "{#") {
		return
	}
	i := slices.IndexFunc(vars, func(v variable) bool { return v.name == w })
	array, weight := false, unlikely
	switch {
	case i < 0 && (assigned || strings.ToLower(w) != w):
		return // perhaps of the environment
	case i < 0:
		weight = likely // nobody sets it
	case assigned:
		array, weight = vars[i].array, 0.1
	case vars[i].array:
		array, weight = true, rare
	}
	for _, v := range vars {
		if v.array == array && len(v.name) > 1 {
			m.swap(t, v.name, weight)
		}
	}
}

// keyLetters changes the letters behind a key of sort, as in -k1,1nr.
func (m *mutator) keyLetters(t token, w string) {
	for _, c := range "nr" {
		if strings.ContainsRune(w, c) {
			m.swap(t, strings.Replace(w, string(c), "", 1), likely)
		} else {
			m.swap(t, w+string(c), likely)
		}
	}
}

func opposite(w string) string {
	for _, pair := range [...][2]string{{"true", "false"}, {"yes", "no"}, {"on", "off"}, {"head", "tail"}, {"first", "last"},
		{"left", "right"}, {"upper", "lower"}, {"break", "continue"}, {"floor", "ceil"}, {"asc", "desc"}, {"and", "or"}} {
		switch w {
		case pair[0]:
			return pair[1]
		case pair[1]:
			return pair[0]
		}
	}
	return ""
}
