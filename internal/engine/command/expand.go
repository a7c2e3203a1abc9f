package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// MaxText is the longest text that a template becomes, in bytes.
const MaxText = 256 << 10

// errLong reports that a template became too long.
var errLong longError

type longError struct{}

func (longError) Error() string {
	return fmt.Sprintf("with these arguments the text has more than %d KiB; put what is long into a file and name it", MaxText>>10)
}

// Args are the arguments of a command: as typed, and word by word.
type Args struct {
	Raw   string
	Words []string
}

// ParseArgs reads what is after a command's name.
func ParseArgs(text string) (Args, error) {
	if len(text) > MaxArgs {
		return Args{}, fmt.Errorf("the arguments have %d bytes, at most %d are taken; put what is long into a file and name it", len(text), MaxArgs)
	}
	text = strings.TrimSpace(text)
	return Args{text, Words(text)}, nil
}

// Expand puts the arguments into the text of a skill: $ARGUMENTS stands for them as
// they were typed. Nothing else is replaced, because such texts are full of shell that
// people wrote for the model. A text without a place for arguments gets them after it,
// so that nothing that was typed is lost.
func Expand(text string, a Args) (string, error) {
	const all = "$ARGUMENTS"
	var b strings.Builder
	used := false
	for {
		before, rest, found := strings.Cut(text, all)
		b.WriteString(before)
		if !found {
			break
		}
		text = rest
		if rest != "" && wordy(rest[0]) { // another variable
			b.WriteString(all)
			continue
		}
		b.WriteString(a.Raw)
		if used = true; b.Len() > MaxText {
			return "", errLong
		}
	}
	out := b.String()
	if !used && a.Raw != "" {
		out = strings.TrimRight(out, "\n") + "\n\nARGUMENTS: " + a.Raw
	}
	if len(out) > MaxText {
		return "", errLong
	}
	return out, nil
}

// plain is what stands for words in a text.
func (a Args) plain(words []string, raw bool) (string, error) {
	if raw {
		return a.Raw, nil
	}
	return strings.Join(words, " "), nil
}

// expand replaces placeholders by what put makes of their words; raw says that it is
// $ARGUMENTS. $1 to $9 are words, $@ all of them, $ARGUMENTS the text as it was typed,
// ${@:N} the words from the Nth on and ${@:N:L} L of them. A word that is not there is
// nothing, and a backslash in front keeps all of these as they are. What is put in is
// not looked at again.
func (a Args) expand(text string, put func(words []string, raw bool) (string, error)) (out string, used bool, err error) {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 {
			b.WriteString(text)
			return b.String(), used, nil
		}
		words, raw, n := a.placeholder(text[at:])
		if n == 0 {
			b.WriteString(text[:at+1])
			text = text[at+1:]
			continue
		}
		if at > 0 && text[at-1] == '\\' {
			b.WriteString(text[:at-1] + text[at:at+n])
			text = text[at+n:]
			continue
		}
		value, err := put(words, raw)
		if err != nil {
			return "", used, err
		}
		b.WriteString(text[:at] + value)
		if b.Len() > MaxText {
			return "", true, errLong
		}
		text, used = text[at+n:], true
	}
}

// placeholder reads what a text begins with; n is its length, 0 when it is none.
func (a Args) placeholder(text string) (words []string, raw bool, n int) {
	const all, slice = "$ARGUMENTS", "${@:"
	switch {
	case len(text) < 2 || text[0] != '$':
	case text[1] >= '1' && text[1] <= '9':
		return a.from(int(text[1]-'0'), 1), false, 2
	case text[1] == '@':
		return a.Words, false, 2
	case strings.HasPrefix(text, all):
		if len(text) > len(all) && wordy(text[len(all)]) {
			break // another variable
		}
		return a.Words, true, len(all)
	case strings.HasPrefix(text, slice):
		inside, _, closed := strings.Cut(text[len(slice):], "}")
		first, length, limited := strings.Cut(inside, ":")
		from, err := strconv.Atoi(strings.TrimSpace(first))
		if !closed || err != nil || from < 0 {
			break
		}
		count := maxWords
		if limited {
			if count, err = strconv.Atoi(strings.TrimSpace(length)); err != nil || count < 0 {
				break
			}
		}
		return a.from(max(from, 1), count), false, len(slice) + len(inside) + 1
	}
	return nil, false, 0
}

func wordy(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// from returns count words from the nth on, counted from 1.
func (a Args) from(n, count int) []string {
	if n > len(a.Words) {
		return nil
	}
	return a.Words[n-1 : min(len(a.Words), n-1+min(count, maxWords))]
}

// shell puts the arguments into a shell command, each word quoted as the place
// needs it: what was typed is never read as shell. Where that is not certain (in a
// substitution, a comment, a here-document) the arguments have no place.
func (a Args) shell(command string) (string, error) {
	out, used, err := a.write(command, a.Words)
	if err != nil || !used {
		return out, err
	}
	// The command with harmless words in the places of the arguments must have the
	// same shape, and the arguments in just these places.
	plain := make([]string, len(a.Words))
	back := make([]string, 0, 2*len(a.Words))
	front := "a" + mark(command, a.Raw) + "x"
	for i, w := range a.Words {
		plain[i] = front + strconv.Itoa(i) + "z"
		back = append(back, plain[i], w)
	}
	model, _, err := a.write(command, plain)
	if err != nil {
		return "", err
	}
	want, err := shellparse.Parse(model)
	if err == nil {
		var got shellparse.Line
		if got, err = shellparse.Parse(out); err == nil && !sameShape(want, got, strings.NewReplacer(back...)) {
			err = errPlace
		} else if err == nil && inSource(want, front, maxShells) {
			err = errPlace
		}
	}
	if err != nil {
		return "", fmt.Errorf("the arguments cannot be put into the shell line %.80q: %w", command, err)
	}
	return out, nil
}

// maxShells bounds how many shells that start one another are looked into for arguments.
const maxShells = 8

// inSource reports whether a mark stands in what a command of the line gives to another shell
// as its source (sh -c, eval), or may: there the quotes of the line mean nothing. So it is where
// bash evaluates a word once more, and of a variable, whose use is not followed.
func inSource(line shellparse.Line, mark string, depth int) bool {
	holds := func(w shellparse.Word) bool { return strings.Contains(w.Text, mark) }
	for _, step := range line.Steps {
		if step.Assigns || step.Ask != "" && (step.Source == "" || strings.Contains(step.Source, mark)) || len(step.Words) > 0 && evaluates(step.Words) && slices.ContainsFunc(step.Words[1:], holds) {
			return true
		}
		for _, in := range shellparse.Started(step) {
			inner := shellparse.Line{Steps: []shellparse.Step{{Words: in.Words}}}
			if in.Source != "" {
				if strings.Contains(in.Source, mark) {
					return true
				}
				var err error
				if inner, err = shellparse.Parse(in.Source); err != nil {
					continue // the mark is not in it
				}
			} else if len(in.Words) == 0 {
				continue
			}
			if depth == 0 || inSource(inner, mark, depth-1) {
				return true
			}
		}
	}
	return false
}

// evaluates reports whether bash reads words of a command once more, as names of variables with
// their subscripts or as arithmetic, or whether nobody can tell which command it is.
func evaluates(words []shellparse.Word) bool {
	if !words[0].Literal || strings.ContainsAny(words[0].Text, "*?[") && words[0].Text != "[" && words[0].Text != "[[" {
		return true
	}
	switch words[0].Text {
	case "let", "read", "declare", "typeset", "local", "export", "readonly", "unset", "mapfile", "readarray", "getopts", "wait":
		return true
	case "test", "[", "printf":
		return slices.ContainsFunc(words[1:], func(w shellparse.Word) bool { return strings.HasPrefix(w.Text, "-v") })
	}
	return false
}

// errPlace reports that arguments stand where a shell would read more than words.
var errPlace placeError

type placeError struct{}

func (placeError) Error() string {
	return "they stand where a shell would read them as more than words"
}

// mark returns letters that are in none of the texts.
func mark(texts ...string) string {
	all := strings.Join(texts, " ")
	for m := "q"; ; m += "q" {
		if !strings.Contains(all, m) {
			return m
		}
	}
}

func sameShape(want, got shellparse.Line, back *strings.Replacer) bool {
	same := func(w, g shellparse.Word) bool {
		return back.Replace(w.Text) == g.Text && w.Literal == g.Literal && w.Tilde == g.Tilde
	}
	if len(want.Steps) != len(got.Steps) {
		return false
	}
	for i, w := range want.Steps {
		g := got.Steps[i]
		if len(w.Words) != len(g.Words) || len(w.Redirects) != len(g.Redirects) || w.Assigns != g.Assigns {
			return false
		}
		for k := range w.Words {
			if !same(w.Words[k], g.Words[k]) {
				return false
			}
		}
		for k := range w.Redirects {
			if w.Redirects[k].Effect != g.Redirects[k].Effect || !same(w.Redirects[k].Target, g.Redirects[k].Target) {
				return false
			}
		}
	}
	return true
}

// write is shell with the words that are given.
func (a Args) write(command string, given []string) (out string, used bool, err error) {
	a.Words = given
	var b strings.Builder
	in := byte(0) // the quote that is open
	for i := 0; i < len(command); {
		c := command[i]
		if c == '\\' && i+1 < len(command) {
			if _, _, n := a.placeholder(command[i+1:]); n > 0 {
				b.WriteString(command[i+1 : i+1+n]) // kept for the shell: $1 of awk, say
				i += 1 + n
				continue
			}
			if in != '\'' {
				b.WriteString(command[i : i+2])
				i += 2
				continue
			}
		}
		if c == '$' {
			if words, _, n := a.placeholder(command[i:]); n > 0 {
				if strings.Contains(command, "$(") || strings.Contains(command, "`") || strings.Contains(command, "<<") || strings.Contains(command, "$'") {
					return "", true, errPlace
				}
				b.WriteString(quoted(words, in))
				i, used = i+n, true
				continue
			}
		}
		switch {
		case in == 0 && (c == '\'' || c == '"'):
			in = c
		case in == c:
			in = 0
		}
		b.WriteByte(c)
		i++
	}
	if b.Len() > MaxText {
		return "", used, errLong
	}
	return b.String(), used, nil
}

// quoted writes words so that a shell reads exactly them inside of the quote in.
func quoted(words []string, in byte) string {
	switch in {
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(strings.Join(words, " "))
	case '\'':
		return strings.ReplaceAll(strings.Join(words, " "), `'`, `'\''`)
	}
	return shellparse.Quote(words)
}
