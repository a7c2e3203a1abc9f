package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords is how many words of a text count.
	maxWords = 2000
	// maxWord is the longest word, in bytes; more of it does not count.
	maxWord = 64
)

// Words takes a text apart: words in lower case by their stem, names also by their parts,
// and characters and pairs of scripts that are written without blanks. Words that are in
// every text are left out.
func Words(s string) []string {
	var out []string
	var run []rune // of one script
	cjk := false
	flush := func() {
		if len(run) > 0 && len(out) < maxWords {
			if cjk {
				out = appendPairs(out, run)
			} else {
				out = appendWord(out, string(run))
			}
		}
		run = run[:0]
	}
	before := rune(0)
	for i, r := range s {
		if len(out) >= maxWords {
			break
		}
		switch {
		case wide(r):
			if !cjk {
				flush()
			}
			cjk = true
			run = append(run, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if cjk || capital(before, r, s[i+utf8.RuneLen(max(r, 0)):]) {
				flush()
			}
			cjk = false
			run = append(run, unicode.ToLower(r))
		default:
			flush()
			cjk = false
		}
		before = r
	}
	flush()
	return out
}

// capital reports whether a word of a name written LikeThis or HTTPLike begins at r.
func capital(before, r rune, rest string) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) && unicode.IsLower(next)
}

// wide reports whether a character is of a script that is written without blanks.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func appendPairs(out []string, run []rune) []string {
	for i := range run {
		out = append(out, string(run[i]))
		if i > 0 {
			out = append(out, string(run[i-1:i+1]))
		}
	}
	return out[:min(len(out), maxWords)]
}

func appendWord(out []string, word string) []string {
	if len(word) > maxWord {
		word = strings.ToValidUTF8(word[:maxWord], "")
	}
	if common(word) {
		return out
	}
	return append(out, stem(word))
}

// common reports whether a word stands in every text.
func common(word string) bool {
	switch word {
	case "a", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "for", "from", "has", "have", "if", "in", "into", "is", "it", "its",
		"of", "on", "or", "so", "such", "than", "that", "the", "their", "then", "there", "these", "this", "to", "was", "when", "which", "will", "with", "you", "your", "mcp":
		return true
	}
	return false
}

// stem takes the common endings of English off a word: tools, tool; listing, list;
// created, creat; queries, query.
func stem(w string) string {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return w
		}
	}
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "xes")):
		w = w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	switch {
	case len(w) > 5 && strings.HasSuffix(w, "ing"):
		w = undouble(w[:len(w)-3])
	case len(w) > 4 && strings.HasSuffix(w, "ed"):
		w = undouble(w[:len(w)-2])
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	return w
}

// undouble takes back the letter that English doubles: running, runn, run.
func undouble(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}
