package demo

import "strings"

// variable is a name that a file assigns to.
type variable struct {
	name  string
	array bool
}

// variables gives the names that the lines assign to, each once.
func variables(lines []string) []variable {
	var vars []variable
	seen := map[string]bool{}
	for _, line := range lines {
		if isComment(line) {
			continue
		}
		declares := false // the words that follow are names
		for _, t := range tokensOf(line) {
			name := line[t.at:t.end]
			switch {
			case t.kind == operator && (name == ";" || name == "|"):
				declares = false
			case t.kind != word || seen[name]:
			case name == "local" || name == "read" || name == "for" || name == "declare":
				declares = true
			case name == "in":
				declares = false
			case declares || assigns(line, t):
				seen[name] = true
				rest := line[t.end:]
				vars = append(vars, variable{name, strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "=(") || strings.HasPrefix(rest, "+=(")})
			}
		}
	}
	return vars
}

// assigns says whether a word is the target of an assignment.
func assigns(line string, t token) bool {
	rest := line[t.end:]
	return strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "+=") || strings.HasPrefix(rest, "[")
}
