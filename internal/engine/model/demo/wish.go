package demo

import (
	"slices"
	"strings"
)

// wish is what the newest prompt asks for, as far as a demo understands it.
type wish int

const (
	talk   wish = iota // a question or a greeting: needs no tools
	look               // something about the folder
	test               // to run the checks
	repair             // to make the checks pass
)

// then returns the wish after a further prompt. One that says only to go on
// repeats the wish before it.
func (w wish) then(prompt string) wish {
	words := wordsOf(prompt)
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	question := strings.HasSuffix(strings.TrimSpace(prompt), "?") && !has("can", "could", "would", "please") ||
		len(words) > 0 && slices.Contains([]string{"what", "who", "how", "which", "where", "when", "why"}, words[0])
	broken := has("test", "tests", "check", "checks", "bug", "bugs", "fault", "faults", "error", "errors", "fail", "fails", "failing", "failed", "broken", "red")
	switch {
	case !question && has("fix", "fixes", "repair", "repairs", "solve", "debug", "correct", "mend", "heal"),
		!question && broken && has("pass", "passes", "green", "make", "find", "remove"):
		return repair
	case broken:
		return test
	case has("go", "continue", "resume", "proceed") && len(words) <= 8 && !question:
		if w == talk {
			return repair // what it was about is not known any more
		}
		return w
	case has("folder", "directory", "project", "repo", "repository", "file", "files", "code", "codebase", "program", "script", "readme", "here", "this"):
		return look
	}
	return talk
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 128
	})
}
