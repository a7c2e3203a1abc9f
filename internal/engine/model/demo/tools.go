package demo

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"scorel/protocol"
)

// The inputs of the tools that the model calls.
type (
	globInput struct {
		Pattern string `json:"pattern"`
		Limit   int    `json:"limit,omitempty"`
	}
	grepInput struct {
		Pattern string `json:"pattern"`
		Mode    string `json:"mode"`
		Fold    bool   `json:"ignore_case,omitempty"`
		Limit   int    `json:"limit,omitempty"`
	}
	readInput struct {
		Path string `json:"path"`
	}
	bashInput struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout_seconds"`
	}
	editInput struct {
		Path  string        `json:"path"`
		Edits []replacement `json:"edits"`
	}
	replacement struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	}
	todoInput struct {
		Todos []todo `json:"todos"`
	}
	todo struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	}
)

// decode reads the input of an earlier call; what is no such input is the zero
// value.
func decode[T any](input json.RawMessage) T {
	var v T
	if json.Unmarshal(input, &v) != nil {
		var none T
		return none
	}
	return v
}

// plain returns the text of a message without the reminders in it, which are not
// the user's or the tool's words.
func plain(m protocol.Message) string {
	text := m.PlainText()
	for {
		before, rest, ok := strings.Cut(text, "<system-reminder>")
		if !ok {
			return text
		}
		_, after, _ := strings.Cut(rest, "</system-reminder>")
		text = before + after
	}
}

// listed returns the paths in an answer of Glob. Notes are in brackets.
func listed(text string) []string {
	var files []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[") {
			files = append(files, line)
		}
	}
	return files
}

// shown returns the lines in an answer of Read, if they are the whole file as it
// is.
func shown(text string) ([]string, bool) {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		number, content, ok := strings.Cut(line, "\t")
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if !ok || err != nil || n != len(lines)+1 {
			return nil, false // a note: the file is cut or could not be shown
		}
		lines = append(lines, content)
	}
	return lines, len(lines) > 0
}

var exitNote = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[[^\[\]\n]*exit code (\d+)\]\s*$`)
})

// ranWith returns the output and the exit code in an answer of Bash; false when
// the command did not run to its end.
func ranWith(text string) (output string, code int, ok bool) {
	m := exitNote().FindStringSubmatchIndex(text)
	if m == nil {
		return text, 0, false
	}
	code, err := strconv.Atoi(text[m[2]:m[3]])
	return text[:m[0]], code, err == nil
}
