package failure

import (
	"errors"
	"io/fs"
	"strings"
)

// Plain returns the innermost part of a file error that a person needs: path and
// cause without the name of the system call.
func Plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Path + ": " + path.Err.Error()
	}
	return err.Error()
}

// Sentence returns an error's text with a capital letter in front.
func Sentence(err error) string {
	s := err.Error()
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		return string(c-'a'+'A') + s[1:]
	}
	return s
}

// wholeSentence is [sentence] with its end, for a text that may begin with a setting's name
// and may be a question.
func wholeSentence(s string) string {
	if word, _, _ := strings.Cut(s, " "); !strings.ContainsAny(word, ".:/_") {
		s = Sentence(errors.New(s))
	}
	if !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// Problem returns an error as a whole sentence.
func Problem(err error) string { return strings.TrimRight(Sentence(err), ".") + "." }
