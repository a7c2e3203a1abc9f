package demo

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// mutation is a change of one token of one line.
type mutation struct {
	line     int // from 0
	from, to string
	text     string // the line with the change
	weight   float64
}

// tokens of a line of a shell script: words and options, numbers, keys of sort, operators.
var tokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-k[0-9,]+[nr]*|\$\{?[A-Za-z_]\w*|[A-Za-z_]\w*|[0-9]+| -[a-z]+\b|&&|\|\||[=!<>]=|[-+*/]=|\+\+|--|##|%%|,,|\^\^|[-+*/%<>!#]`)
})

// swaps are what may be mistaken for a token, the likeliest first.
var swaps = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"&&": {"||"}, "||": {"&&"}, "==": {"!="}, "!=": {"=="}, "++": {"--"}, "--": {"++"}, "+=": {"-="}, "-=": {"+="},
		"##": {"%%"}, "%%": {"##"}, "#": {"%"}, "%": {"/", "#"}, ",,": {"^^"}, "^^": {",,"},
		">": {">=", "<", "<="}, "<": {"<=", ">", ">="}, ">=": {">", "<=", "<"}, "<=": {"<", ">=", ">"},
		"+": {"-", "*"}, "-": {"+", "/"}, "*": {"/", "+"}, "/": {"*", "%"},
		" -gt": {" -ge", " -lt", " -le"}, " -lt": {" -le", " -gt", " -ge"}, " -ge": {" -gt", " -le"}, " -le": {" -lt", " -ge"},
		" -eq": {" -ne"}, " -ne": {" -eq"}, " -z": {" -n"}, " -n": {" -z", " -nr"}, " -nr": {" -n"}, " -r": {" -nr"},
		" -l": {" -w", " -c"}, " -w": {" -l", " -c"}, " -c": {" -l", " -w"},
		"head": {"tail"}, "tail": {"head"}, "true": {"false"}, "false": {"true"}, "break": {"continue"}, "continue": {"break"},
	}
})

// mutations returns the changes that may repair a line; a comment has none.
func mutations(n int, line string) []mutation {
	if isComment(line) {
		return nil
	}
	var found []mutation
	for _, at := range tokens().FindAllStringIndex(line, -1) {
		token := line[at[0]:at[1]]
		others, weight := alternatives(token, line[:at[0]])
		for i, to := range others {
			found = append(found, mutation{line: n, from: strings.TrimSpace(token), to: strings.TrimSpace(to),
				text: line[:at[0]] + to + line[at[1]:], weight: weight / float64(i+1)})
		}
	}
	return found
}

// alternatives returns what a token may become, and how likely one is the repair. Signs of
// arithmetic are changed only where the line calculates, and those that trim a variable only
// there: elsewhere they are paths, redirections and formats.
func alternatives(token, before string) (others []string, weight float64) {
	if n, err := strconv.Atoi(token); err == nil && n < 1<<30 {
		return []string{strconv.Itoa(n + 1), strconv.Itoa(max(0, n-1))}, 0.5
	}
	if rest, isKey := strings.CutPrefix(token, "-k"); isKey {
		field := strings.TrimRight(rest, "nr")
		return []string{"-k" + field + "nr", "-k" + field + "n", "-k" + field}, 0.8
	}
	switch {
	case strings.Trim(token, "#%") == "" && !open(before, "${", "}") && !open(before, "((", "))"),
		strings.Trim(token, "+-*/<>") == "" && !open(before, "((", "))"):
		return nil, 0
	}
	return swaps()[token], 1
}

// open reports whether a text is within a pair that has begun and not ended.
func open(before, begin, end string) bool {
	return strings.LastIndex(before, begin) > strings.LastIndex(before, end)
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }
