package complete

import "strings"

// Input is what is typed.
type Input struct {
	Before string // of the line, before the cursor
	First  bool   // Before begins the whole text
	Shell  bool   // the line is for the shell: nothing is offered
	Words  bool   // extensions offer something for words that begin with a sign
}

// kind says what is being typed.
type kind int

const (
	nothing kind = iota
	file
	command
	argument
	word
)

// token is what is being completed: the end of what is before the cursor.
type token struct {
	place
	text  string // as it stands there
	query string // what is looked for
}

// place is where a token is.
type place struct {
	kind  kind
	start int    // where it begins
	name  string // of the command, for arguments
}

// read finds what is being typed.
func read(in Input) token {
	if in.Shell {
		return token{}
	}
	if name, ok := strings.CutPrefix(in.Before, "/"); ok && in.First && !strings.HasPrefix(name, "/") {
		name, args, more := strings.Cut(name, " ")
		switch {
		case strings.ContainsAny(name, "/\t"): // a path
		case !more:
			return token{place{kind: command}, in.Before, name}
		default:
			if t := mention(in.Before); t.kind == file {
				return t
			}
			return token{place{argument, len(in.Before) - len(args), name}, args, args}
		}
	}
	if t := mention(in.Before); t.kind != nothing || !in.Words {
		return t
	}
	return sign(in.Before)
}

// sign finds the word that is being typed, when it begins with a sign of ASCII.
func sign(before string) token {
	start := strings.LastIndexAny(before, " \t") + 1
	text := before[start:]
	if text == "" || !strings.ContainsRune("#$%&*+:;=?^~<>|!", rune(text[0])) {
		return token{}
	}
	return token{place{kind: word, start: start}, text, text}
}

// mention finds the @ that is being typed: one at the beginning of a word, without a
// blank after it unless a quotation mark is open.
func mention(before string) token {
	for end := len(before); ; {
		at := strings.LastIndexByte(before[:end], '@')
		if at < 0 {
			return token{}
		}
		if at > 0 && before[at-1] != ' ' && before[at-1] != '\t' {
			end = at
			continue
		}
		name := before[at+1:]
		quoted, open := strings.CutPrefix(name, `"`)
		switch {
		case open && strings.IndexByte(quoted, '"') < 0:
			return token{place{kind: file, start: at}, before[at:], quoted}
		case open || strings.ContainsAny(name, " \t"):
			end = at
			continue
		}
		return token{place{kind: file, start: at}, before[at:], name}
	}
}

// quote writes a path after an @, so that it is read as that path again (see package
// attachment).
func quote(path string) string {
	if strings.ContainsAny(path, " \t") || strings.TrimRight(path, trailing) != path {
		return `@"` + path + `"`
	}
	return "@" + path
}

// trailing is what ends a sentence and no path.
const trailing = ".,;:!?)"
