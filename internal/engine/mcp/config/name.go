package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxName is the longest name of a server in characters.
const maxName = 64

// extensionPrefix begins the names of servers of extensions.
const extensionPrefix = "plugin:"

// Reserved returns the names that no configuration may use: other programs have servers
// of their own by them, which people take for harmless.
func Reserved() []string {
	return []string{"claude-in-chrome", "claude-vscode", "computer-use", "scorel"}
}

// CheckName returns why a name cannot be that of a server, nil when it can. Tools are
// called mcp__server__tool, and rules name servers by the part before their tools: no
// name may make one server's tool look like another's.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name has %d characters; use at most %d", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }):
		return fmt.Errorf("the name %s has other characters than letters, digits, - and _", quote(name))
	case strings.Contains(name, "__"):
		return fmt.Errorf("the name %s contains __, which separates server and tool", quote(name))
	case name[0] == '_' || name[len(name)-1] == '_':
		return fmt.Errorf("the name %s begins or ends with _", quote(name))
	case slices.Contains(Reserved(), strings.ToLower(name)):
		return fmt.Errorf("the name %s is reserved", quote(name))
	case strings.HasPrefix(name, "plugin_"):
		return fmt.Errorf("the name %s begins with plugin_, as those of extensions do", quote(name))
	}
	return nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// cleanName returns the name of a server of a file as it is here: other programs' files
// have names with spaces, dots and slashes.
func cleanName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return '-'
	}, name)
	if clean != name {
		clean = strings.Trim(clean, "-")
	}
	return clean
}

// ToolPrefix returns the server's part of the names of its tools.
func (e Entry) ToolPrefix() string {
	return strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return '_'
	}, e.Name)
}
