package command

import "strings"

// Bounds of the files that a template names.
const (
	maxMentions = 20
	maxMention  = 1000 // bytes of a name
)

// Mentions returns the files that a template names as @path, with its arguments in their
// places, each once. What shell lines print names none. Whether there are such files,
// and whether they may be read, is for the caller.
func (b Body) Mentions(a Args) ([]string, error) {
	var out []string
	have := map[string]bool{}
	for _, p := range b.parts {
		if p.shell {
			continue
		}
		text, _, err := a.expand(p.text, a.plain)
		if err != nil {
			return nil, err
		}
		for _, name := range mentions(text) {
			if !have[name] && len(out) < maxMentions {
				have[name] = true
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// mentions returns what is after each @ that begins a word.
func mentions(text string) (out []string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\r\n([{\"'`,;:", rune(text[i-1])) {
			continue
		}
		name := text[i+1:]
		if end := strings.IndexAny(name, " \t\r\n\"'`,;)]}<>"); end >= 0 {
			name = name[:end]
		}
		i += len(name)
		name = strings.TrimRight(name, ".:!?*")
		if name != "" && name[0] != '@' && len(name) <= maxMention {
			out = append(out, name)
		}
	}
	return out
}
